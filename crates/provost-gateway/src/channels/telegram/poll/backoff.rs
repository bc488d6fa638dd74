//! Longer and longer pauses while something fails, and one line in the log for each trouble.

use std::time::Duration;

use provost_core::ports::StoreError;

use super::{Pace, Trouble};

pub(super) struct Backoff {
    pace: Pace,
    failures: u32,
    /// What was said last.
    told: Option<String>,
    /// Two readers take turns in disturbing each other: saying it once is enough.
    told_of_conflict: bool,
}

impl Backoff {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            failures: 0,
            told: None,
            told_of_conflict: false,
        }
    }

    pub(super) fn after(&mut self, trouble: &Trouble) -> Duration {
        let conflict = matches!(trouble, Trouble::Conflict(_));
        if !(conflict && self.told_of_conflict) {
            self.tell(trouble.to_string());
        }
        self.told_of_conflict |= conflict;
        let pause = self.next();
        match trouble {
            Trouble::Wait(time) => (*time).max(self.pace.pause),
            // Only a person can change that.
            Trouble::Token(_) => self.pace.longest_pause,
            _ => pause,
        }
    }

    pub(super) fn after_store(&mut self, error: &StoreError) -> Duration {
        self.tell(error.to_string());
        self.next()
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
        if self.told.take().is_some() {
            tracing::info!("reading the messages of the Telegram bot again");
        }
    }

    fn next(&mut self) -> Duration {
        let doubled = self.pace.pause.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        doubled.min(self.pace.longest_pause)
    }

    fn tell(&mut self, trouble: String) {
        if self.told.as_ref() != Some(&trouble) {
            tracing::warn!(%trouble, "the messages of the Telegram bot cannot be read: trying again");
            self.told = Some(trouble);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let mut backoff = Backoff::new(Pace {
            wait: Duration::ZERO,
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(5),
            look: Duration::ZERO,
        });
        let conflict = Trouble::Conflict("409".into());
        let pauses = [(); 5].map(|()| backoff.after(&conflict).as_secs());
        assert_eq!(pauses, [1, 2, 4, 5, 5]);
        let wait = Trouble::Wait(Duration::from_secs(42));
        assert_eq!(backoff.after(&wait).as_secs(), 42);
        backoff.reset();
        assert_eq!(backoff.after(&conflict).as_secs(), 1);
        assert_eq!(backoff.told, None, "a conflict is told once");
    }
}
