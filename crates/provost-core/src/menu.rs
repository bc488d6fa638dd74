//! The menu: six codes, and one reply that decides. Every channel reads replies by [`parse`], so that the
//! same words mean the same everywhere.

use serde::{Deserialize, Serialize};

/// Longer texts than that are no notes.
pub const LONGEST_TEXT: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Code {
    #[serde(rename = "1")]
    Once,
    #[serde(rename = "2")]
    Session,
    #[serde(rename = "3")]
    Deny,
    #[serde(rename = "4")]
    Note,
    #[serde(rename = "5")]
    Change,
    #[serde(rename = "6")]
    Always,
}

impl Code {
    pub const ALL: [Self; 6] = [
        Self::Once,
        Self::Session,
        Self::Deny,
        Self::Note,
        Self::Change,
        Self::Always,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "1",
            Self::Session => "2",
            Self::Deny => "3",
            Self::Note => "4",
            Self::Change => "5",
            Self::Always => "6",
        }
    }

    /// What a plain yes or no, said elsewhere than from the menu, means there.
    pub fn plain(is_yes: bool) -> Self {
        if is_yes { Self::Once } else { Self::Deny }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// As it stands in the menu that people read.
    pub fn label(self) -> &'static str {
        match self {
            Self::Once => "Allow once",
            Self::Session => "Allow for this session",
            Self::Deny => "Deny",
            Self::Note => "Allow once, with a note",
            Self::Change => "Change it, then allow",
            Self::Always => "Always allow this",
        }
    }

    pub fn allows(self) -> bool {
        self != Self::Deny
    }

    pub fn needs_text(self) -> bool {
        matches!(self, Self::Note | Self::Change)
    }
}

/// What a person replied. Text after a code that needs none is kept: a condition that somebody wrote behind
/// a yes reaches the agent as a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: Code,
    pub text: Option<String>,
}

impl Reply {
    pub fn bare(code: Code) -> Self {
        Self { code, text: None }
    }
}

/// Why a reply decides nothing: the person is asked again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    #[error("invalid code: reply with 1, 2, 3, 4, 5 or 6")]
    NoCode,
    #[error("payload required: {} is followed by the {}", .0.as_str(), if *.0 == Code::Note { "note" } else { "replacement" })]
    TextNeeded(Code),
    #[error("payload too long: at most {LONGEST_TEXT} bytes")]
    TooLong,
}

/// Reads a reply: the first word is the code, the rest is its text.
pub fn parse(reply: &str) -> Result<Reply, Unclear> {
    let reply = reply.trim();
    let (code, text) = reply.split_once(char::is_whitespace).unwrap_or((reply, ""));
    let code = Code::parse(code).ok_or(Unclear::NoCode)?;
    let text = text.trim();
    if text.len() > LONGEST_TEXT {
        return Err(Unclear::TooLong);
    }
    if text.is_empty() && code.needs_text() {
        return Err(Unclear::TextNeeded(code));
    }
    let text = (!text.is_empty()).then(|| text.to_owned());
    Ok(Reply { code, text })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replies_are_read_as_the_menu_says() {
        let reply = |code, text: Option<&str>| {
            Ok(Reply {
                code,
                text: text.map(str::to_owned),
            })
        };
        for (text, expected) in [
            ("1", reply(Code::Once, None)),
            ("  2\n", reply(Code::Session, None)),
            ("3", reply(Code::Deny, None)),
            ("3 too risky", reply(Code::Deny, Some("too risky"))),
            ("4 add logs", reply(Code::Note, Some("add logs"))),
            ("4\tadd\n logs ", reply(Code::Note, Some("add\n logs"))),
            ("5 npm test", reply(Code::Change, Some("npm test"))),
            ("6", reply(Code::Always, None)),
            (
                "1 but not on prod",
                reply(Code::Once, Some("but not on prod")),
            ),
            ("4", Err(Unclear::TextNeeded(Code::Note))),
            ("5  ", Err(Unclear::TextNeeded(Code::Change))),
            ("", Err(Unclear::NoCode)),
            ("9", Err(Unclear::NoCode)),
            ("0", Err(Unclear::NoCode)),
            ("12", Err(Unclear::NoCode)),
            ("1.", Err(Unclear::NoCode)),
            ("1️⃣", Err(Unclear::NoCode)),
            ("١", Err(Unclear::NoCode)),
            ("yes", Err(Unclear::NoCode)),
            ("-1", Err(Unclear::NoCode)),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
        let long = format!("4 {}", "x".repeat(LONGEST_TEXT + 1));
        assert_eq!(parse(&long), Err(Unclear::TooLong));
    }

    #[test]
    fn the_reasons_are_those_of_the_contract() {
        assert!(Unclear::NoCode.to_string().starts_with("invalid code"));
        let needed = Unclear::TextNeeded(Code::Change).to_string();
        assert!(needed.starts_with("payload required"), "{needed}");
    }

    proptest! {
        #[test]
        fn only_a_leading_code_decides(text in ".{0,40}") {
            if let Ok(reply) = parse(&text) {
                let first = text.split_whitespace().next();
                prop_assert_eq!(first, Some(reply.code.as_str()));
                prop_assert!(reply.text.is_some() || !reply.code.needs_text());
            }
        }
    }
}
