//! What a remembered approval opens. Remembering a call is narrow: the same arguments, or, for an edit of one
//! file, other files of the same folder. A wider scope is a choice of its own, and never there for the asking
//! where the call showed a risk.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folder;
use crate::{
    approval::{Kind, Question},
    call::{Call, Digest},
    door::Door,
    ids::ApprovalId,
    review::{self, Act, Summary},
};

/// What is longer is no scope that somebody would read.
const LONGEST_SHOWN: usize = 200;

/// What a person allowed when answering a question about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The question that was answered.
    pub approval_id: ApprovalId,
    /// Whether the gateway executes the call. What the agent may do itself, it may not have done here.
    pub forwarded: bool,
    #[serde(flatten)]
    pub scope: GrantScope,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "only", rename_all = "snake_case")]
pub enum GrantScope {
    /// The same arguments, from the same folder where the agent named one.
    Arguments {
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        works_in: Option<Box<str>>,
    },
    /// Edits of files that lie directly in `folder`. The arguments that are neither path nor text are those
    /// of the approved call.
    Folder { folder: Box<str>, rest: Digest },
    /// One plain command that begins with these words. All other arguments are those of the approved call.
    Words {
        words: Vec<String>,
        rest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        works_in: Option<Box<str>>,
    },
    /// Any arguments.
    Any,
}

/// Which scope somebody chose. Channels offer the first alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breadth {
    /// The one that is computed.
    #[default]
    Narrow,
    Words,
    Any,
}

/// What is asked, as far as grants look at it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub kind: Kind,
    pub call: &'a Call,
    pub door: Door,
    /// Where the agent says that it works. A claim: it may narrow what a grant permits, and never widens it.
    pub works_in: Option<&'a str>,
}

impl Remembered {
    /// What remembering an approval of this question would open. `None` where that breadth is not to be had.
    pub fn of(question: &Question, breadth: Breadth) -> Option<Self> {
        let scope = match breadth {
            Breadth::Narrow => GrantScope::narrow(question),
            Breadth::Words => GrantScope::beginning(question)?,
            Breadth::Any if is_clear(question) => GrantScope::Any,
            Breadth::Any => return None,
        };
        Some(Self {
            approval_id: question.id.clone(),
            forwarded: question.door.forwards(),
            scope,
        })
    }

    pub(super) fn permits(&self, asked: &Asked<'_>) -> bool {
        self.forwarded == asked.door.forwards() && self.scope.permits(asked)
    }
}

impl GrantScope {
    fn narrow(question: &Question) -> Self {
        Self::folder(question).unwrap_or_else(|| Self::Arguments {
            digest: Digest::of_written(&question.params),
            works_in: question.works_in.clone(),
        })
    }

    fn folder(question: &Question) -> Option<Self> {
        let is_change = matches!(
            question.summary.as_ref()?.act,
            Act::Change {
                path: Some(_),
                files: 1,
                ..
            }
        );
        if !is_change || !is_clear(question) {
            return None;
        }
        let edit = review::one_file(&question.params)?;
        let folder = folder::of_file(edit.path, question.works_in.as_deref()?)?;
        Some(Self::Folder {
            folder: folder.into(),
            rest: Digest::of_written(&edit.rest),
        })
    }

    fn beginning(question: &Question) -> Option<Self> {
        if !is_clear(question) {
            return None;
        }
        let command = review::plain_command(&question.tool, &question.params)?;
        // One word would be a program with whatever arguments, and a long command would not be read.
        let length: usize = command.words.iter().map(String::len).sum();
        if command.words.len() < 2 || length > LONGEST_SHOWN {
            return None;
        }
        Some(Self::Words {
            words: command.words,
            rest: Digest::of_written(&command.rest),
            works_in: question.works_in.clone(),
        })
    }

    fn permits(&self, asked: &Asked<'_>) -> bool {
        let Call { tool, params, .. } = asked.call;
        match self {
            Self::Arguments { digest, works_in } => {
                works_in.as_deref() == asked.works_in && Digest::of_written(params) == *digest
            }
            Self::Folder { folder, rest } => {
                let edit = review::one_file(params);
                edit.is_some_and(|edit| {
                    folder::holds(folder, edit.path) && Digest::of_written(&edit.rest) == *rest
                }) && shows_no_risk(tool, params, Some(folder))
            }
            Self::Words {
                words,
                rest,
                works_in,
            } => {
                let command = review::plain_command(tool, params);
                works_in.as_deref() == asked.works_in
                    && command.is_some_and(|command| {
                        command.words.starts_with(words)
                            && Digest::of_written(&command.rest) == *rest
                    })
                    && shows_no_risk(tool, params, asked.works_in)
            }
            Self::Any => shows_no_risk(tool, params, asked.works_in),
        }
    }

    /// As people read it, before they choose and afterwards.
    pub fn words(&self) -> String {
        match self {
            Self::Arguments { works_in, .. } => {
                format!("exactly these arguments{}", in_folder(works_in.as_deref()))
            }
            Self::Folder { folder, .. } => {
                format!("edits of files directly in {folder}, except settings, build and CI files")
            }
            Self::Words {
                words, works_in, ..
            } => {
                let words: Vec<String> = words.iter().map(|word| review::quoted(word)).collect();
                let folder = in_folder(works_in.as_deref());
                let words = words.join(" ");
                format!("commands that begin with {words} and show no risk{folder}")
            }
            Self::Any => "any arguments that show no risk".to_owned(),
        }
    }

    /// One word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Arguments { .. } => "arguments",
            Self::Folder { .. } => "folder",
            Self::Words { .. } => "words",
            Self::Any => "any",
        }
    }
}

fn in_folder(folder: Option<&str>) -> String {
    let Some(folder) = folder else {
        return String::new();
    };
    let shown: String = folder.chars().take(LONGEST_SHOWN).collect();
    let cut = if shown.len() < folder.len() {
        "…"
    } else {
        ""
    };
    format!(", in {}{cut}", shown.escape_debug())
}

/// Nothing was found in the call that a person should have looked at more closely.
fn is_clear(question: &Question) -> bool {
    let risky = |summary: &Summary| summary.cut || !summary.risks.is_empty();
    question.kind == Kind::Call
        && !question.injection_risk
        && !question.hides_secret
        && !question.summary.as_ref().is_some_and(risky)
}

/// The same of a call that nobody looked at.
fn shows_no_risk(tool: &str, params: &Map<String, Value>, project: Option<&str>) -> bool {
    let summary = review::summarize(tool, params, project);
    summary.is_none_or(|summary| summary.risks.is_empty())
        && !review::assess(params).risky()
        && !review::hides_secret(params)
}

#[cfg(test)]
mod tests;
