//! The menu: six codes, and one reply that decides. Every channel reads replies here, so that the same words
//! mean the same everywhere.
//!
//! The grammar is narrow on purpose. 1, 2 and 6 stand alone on the first line, 3 takes any text. A note (4) is taken if
//! every clause of it begins with a known instruction, and the desk looks at what is to be done instead (5). Everything
//! else may be a time, a refusal or a remark, in any language: it decides nothing, and is asked again. A yes before the
//! text (`4 yes: …`) says that it is none, and so do fences.

mod codes;
mod corrections;
mod digits;
mod lines;
mod notes;
mod prose;
mod signature;
mod words;

use serde::{Deserialize, Serialize};

pub use self::{
    digits::plain_digit,
    lines::{
        LineBreaks, UNREADABLE, contradiction, corrects, has_code, is_line_break, lines,
        mentions_code, parse_lines,
    },
    notes::is_instruction,
    prose::{is_date, is_everyday_word, is_month},
};

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

/// What a person replied: a code, and the text of 3, 4 or 5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: Code,
    pub text: Option<String>,
    pub marked: Marked,
}

/// How far a reply says that its text is meant as the text of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    /// Nothing stands between them but a blank.
    No,
    /// A colon, a dash or a bracket. People write so before times and refusals as well.
    Apart,
    /// It stands behind `yes:`, or between two lines of ```.
    Surely,
}

impl Reply {
    pub fn bare(code: Code) -> Self {
        Self {
            code,
            text: None,
            marked: Marked::No,
        }
    }

    pub fn with_text(code: Code, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::bare(code)
        }
    }
}

/// Why a reply decides nothing: the person is asked again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    #[error("invalid code: reply with 1, 2, 3, 4, 5 or 6")]
    NoCode,
    #[error(
        "invalid code: {} stands alone on its line; to allow once with a note, write `4: ` and the note", .0.as_str()
    )]
    NotAlone(Code),
    #[error(
        "invalid code: what follows {} may be a time, an amount, a date, a question or a remark; if it is the text you mean, put it between two lines of ```", .0.as_str()
    )]
    Prose(Code),
    #[error(
        "invalid code: it is not clear that you allow it with what follows {} as its {}; if you do, send `{} yes: {}`", .0.as_str(), what(*.0), .0.as_str(), .1
    )]
    Unmarked(Code, String),
    #[error(
        "invalid code: your reply has a second line with a code (`{0}`); send one code, and put a signature below a line of `--`"
    )]
    Several(String),
    #[error(
        "invalid code: some of your reply is crossed out, hidden or in an unknown encoding; send it as plain text"
    )]
    Unreadable,
    #[error("payload required: {} is followed by the {}", .0.as_str(), what(*.0))]
    TextNeeded(Code),
    #[error(
        "payload required: the text of {} seems to go on in the next line; write all of it in one line, or between two lines of ```", .0.as_str()
    )]
    GoesOn(Code),
    #[error("payload required: the text of {} begins with ``` and has no such line at its end", .0.as_str())]
    OpenFence(Code),
    #[error("payload too long: at most {LONGEST_TEXT} bytes")]
    TooLong,
}

impl Unclear {
    /// For a line with a second code.
    pub fn several(line: &str) -> Self {
        /// So much of it is shown to the person who wrote it.
        const SHOWN: usize = 40;
        Self::Several(line.trim().chars().take(SHOWN).collect())
    }

    /// For a text that may be something else. It is shown ready to be sent again, with a yes before it.
    pub fn unmarked(code: Code, text: &str) -> Self {
        /// What is longer is not shown whole: it would be sent back cut.
        const SHOWN: usize = 300;
        let text = text.trim();
        let whole = text.chars().count() <= SHOWN && !text.contains('\n');
        Self::Unmarked(code, if whole { text } else { "…" }.to_owned())
    }

    /// As errors of the HTTP door name it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoCode
            | Self::NotAlone(_)
            | Self::Prose(_)
            | Self::Unmarked(..)
            | Self::Several(_)
            | Self::Unreadable => "invalid_code",
            Self::TextNeeded(_) | Self::GoesOn(_) | Self::OpenFence(_) => "payload_required",
            Self::TooLong => "payload_too_long",
        }
    }
}

fn what(code: Code) -> &'static str {
    if code == Code::Note {
        "note"
    } else {
        "replacement"
    }
}

/// Reads a message that holds nothing but what the person typed.
pub fn parse(reply: &str) -> Result<Reply, Unclear> {
    parse_lines(&lines(reply), LineBreaks::Typed)
}

#[cfg(test)]
mod tests;
