//! How long is waited before a server is tried again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);
/// After so long a health, what went wrong before is forgotten.
const HEALTHY: Duration = Duration::from_mins(1);

/// Waiting that doubles, with a quarter of chance in it, so that many do not come back at once.
#[derive(Debug)]
pub(super) struct Patience {
    next: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Patience {
    /// `chance` is between 0 and 1.
    pub(super) fn wait(&mut self, was_up: Duration, chance: f64) -> Duration {
        if was_up >= HEALTHY {
            self.next = FIRST;
        }
        let wait = self.next.mul_f64(0.75 + 0.5 * chance.clamp(0.0, 1.0));
        self.next = (self.next * 2).min(LONGEST);
        wait.min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_doubles_to_its_limit_and_begins_anew_after_health() {
        let mut patience = Patience::default();
        let millis = |wait: Duration| wait.as_millis();
        let waits: Vec<_> = (0..8)
            .map(|_| millis(patience.wait(Duration::ZERO, 0.5)))
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
        assert_eq!(millis(patience.wait(Duration::from_secs(59), 1.0)), 30000);
        assert_eq!(millis(patience.wait(Duration::from_mins(1), 0.0)), 375);
        assert_eq!(millis(patience.wait(Duration::ZERO, 1.0)), 1250);
    }
}
