//! How long is waited before a server is tried again, and how its troubles are told.

use std::time::Duration;

use crate::secret::Secret;

const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(30);
/// After so long a health, what went wrong before is forgotten.
const HEALTHY: Duration = Duration::from_mins(1);
/// What is told of a trouble.
const MAX_TEXT: usize = 400;

/// A value shorter than this hides nothing, and leaving it out would spoil every text.
const SHORTEST_SECRET: usize = 4;

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

/// A text as one line for people: short, printable, and without anything that must not be told.
pub(super) fn one_line(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if secret.expose().len() >= SHORTEST_SECRET {
            text = text.replace(secret.expose(), "[secret]");
        }
    }
    let mut line = String::with_capacity(text.len().min(MAX_TEXT));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if line.len() + word.len() > MAX_TEXT {
            let room = MAX_TEXT.saturating_sub(line.len());
            line.extend(word.chars().take(room / 4));
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
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

    #[test]
    fn troubles_are_told_in_one_line_without_secrets() {
        let secrets = [Secret::from("hunter2"), Secret::from("y")];
        let told = one_line("bad\n\tkey hunter2\u{7} at x?k=hunter2", &secrets);
        assert_eq!(told, "bad key [secret] at x?k=[secret]");
        assert!(one_line(&"é".repeat(5000), &[]).len() <= MAX_TEXT);
        assert!(one_line(&"word ".repeat(5000), &[]).len() <= MAX_TEXT + 8);
    }
}
