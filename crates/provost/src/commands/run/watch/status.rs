//! The progress line: how long, doing what, and what it has cost.

use std::time::Duration;

use provost_runner::meter::Spent;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    #[default]
    Starting,
    Working,
    Waiting,
    Ending,
    Ended,
}

impl Doing {
    fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Working => "working",
            Self::Waiting => "waiting for permission",
            Self::Ending => "ending",
            Self::Ended => "ended",
        }
    }
}

pub(super) fn line(elapsed: Duration, doing: Doing, spent: Spent, currency: &str) -> String {
    let mut parts = vec![clock(elapsed), doing.name().to_owned()];
    let mut count = |count: u64, one: &str, many: &str| match count {
        0 => {}
        1 => parts.push(format!("1 {one}")),
        count => parts.push(format!("{} {many}", short(count))),
    };
    count(spent.turns, "turn", "turns");
    count(spent.tool_calls, "tool call", "tool calls");
    count(spent.tokens, "token", "tokens");
    count(spent.files_changed, "file", "files");
    if spent.cost > 0.0 {
        parts.push(cost(spent.cost, currency));
    }
    parts.join(" · ")
}

pub(super) fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

fn cost(amount: f64, currency: &str) -> String {
    // Cents are too coarse for a single prompt.
    let amount = format!("{amount:.4}");
    match currency {
        "" => amount,
        "USD" => format!("${amount}"),
        currency => format!("{amount} {currency}"),
    }
}

fn short(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_is_told() {
        let none = line(Duration::ZERO, Doing::Starting, Spent::default(), "");
        assert_eq!(none, "0:00 · starting");
        let spent = Spent {
            turns: 1,
            tool_calls: 12,
            tokens: 123_456,
            cost: 1.5,
            output_bytes: 9,
            files_changed: 2,
        };
        let long = line(Duration::from_secs(3_723), Doing::Waiting, spent, "USD");
        assert_eq!(
            long,
            "1:02:03 · waiting for permission · 1 turn · 12 tool calls · 123.5k tokens · 2 files · $1.5000"
        );
    }
}
