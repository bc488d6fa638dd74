//! Times as people read them, and as the script does.

use std::time::Duration;

use provost_core::time::Time;

/// A time, for people and for the script.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub(super) iso: String,
    pub(super) millis: i64,
    pub(super) ago: String,
}

impl Moment {
    pub(super) fn new(at: Time, now: Time) -> Self {
        Self {
            iso: at.to_string(),
            millis: at.millis(),
            ago: format!("{} ago", roughly(now.since(at))),
        }
    }

    /// To the second. The script writes it in the reader's zone.
    pub(super) fn clock(&self) -> String {
        let text = self.iso.get(..19).unwrap_or(&self.iso);
        format!("{} UTC", text.replace('T', " "))
    }
}

/// With as much precision as anybody wants to read.
pub(super) fn roughly(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_roughly() {
        for (seconds, text) in [
            (5, "5 s"),
            (119, "119 s"),
            (300, "5 min"),
            (7200, "2 h"),
            (200_000, "2 d"),
        ] {
            assert_eq!(roughly(Duration::from_secs(seconds)), text);
        }
    }
}
