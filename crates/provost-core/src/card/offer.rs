//! What can be remembered of an approval, in words that are shown before anybody chooses.

use std::time::Duration;

use serde::Serialize;

use crate::{
    approval::{Kind, Question},
    grant::{Breadth, Remembered},
    key::Role,
    menu::Code,
    time::format_duration,
    trace::view::Exposure,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// `2` for the session, `6` beyond it.
    pub code: Code,
    /// Channels offer what is narrow. The rest is confirmed by whoever chooses it.
    pub breadth: Breadth,
    /// `arguments`, `folder`, `words` or `any`.
    pub scope: &'static str,
    /// What is allowed, of this tool and to this agent.
    pub words: String,
    /// For how long at most.
    pub lasts: String,
}

impl Offer {
    /// As it stands in a menu.
    pub fn label(&self) -> String {
        match self.code {
            Code::Session => format!("Allow for this session: {}", self.words),
            _ => format!("Allow for {}: {}", self.lasts, self.words),
        }
    }

    /// For a button, where the menu beside it says the rest.
    pub fn short_label(&self) -> String {
        let what = match self.scope {
            "folder" => "edits in this folder",
            "words" => "these command words",
            "any" => "any command without a risk",
            _ => "these exact arguments",
        };
        match self.code {
            Code::Session => format!("Allow for this session: {what}"),
            _ => format!("Allow for {}: {what}", self.lasts),
        }
    }
}

/// What can be remembered of this question, the narrow scope first. Where several people must agree, and for
/// what is no call, there is nothing to choose; and no more than somebody of this role may have remembered.
///
/// Words of a command may be its content: where that is withheld, nobody could read what they would allow.
pub fn offers(
    question: &Question,
    exposure: Exposure,
    longest: Duration,
    role: Role,
) -> Vec<Offer> {
    if question.kind != Kind::Call || question.needed > 1 {
        return Vec::new();
    }
    let codes = [
        question.session_id.as_ref().map(|_| Code::Session),
        Some(Code::Always),
    ];
    let breadths = [Breadth::Narrow, Breadth::Words, Breadth::Any];
    let scopes = breadths
        .into_iter()
        .filter(|breadth| *breadth == Breadth::Narrow || breadth.is_for(role))
        .filter(|breadth| exposure == Exposure::Everything || *breadth != Breadth::Words)
        .filter_map(|breadth| Some((breadth, Remembered::of(question, breadth)?.scope)));
    scopes
        .flat_map(|(breadth, scope)| {
            codes.into_iter().flatten().map(move |code| Offer {
                code,
                breadth,
                scope: scope.name(),
                words: scope.words(),
                lasts: roundly(longest),
            })
        })
        .collect()
}

/// `30 days`, `8 hours`, or as exact as it is.
fn roundly(time: Duration) -> String {
    let seconds = time.as_secs();
    let counted = |count: u64, unit: &str| match count {
        1 => format!("1 {unit}"),
        count => format!("{count} {unit}s"),
    };
    match seconds {
        0 => format_duration(time),
        _ if seconds.is_multiple_of(86_400) => counted(seconds / 86_400, "day"),
        _ if seconds.is_multiple_of(3600) => counted(seconds / 3600, "hour"),
        _ if seconds.is_multiple_of(60) => counted(seconds / 60, "minute"),
        _ => format_duration(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_people_say_them() {
        for (seconds, expected) in [
            (30 * 86_400, "30 days"),
            (86_400, "1 day"),
            (8 * 3600, "8 hours"),
            (90 * 60, "90 minutes"),
            (61, "1m1s"),
        ] {
            assert_eq!(roundly(Duration::from_secs(seconds)), expected);
        }
    }
}
