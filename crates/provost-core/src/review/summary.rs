//! What a call would do, in short: computed from its arguments alone, so that a person need not read
//! a long command or a whole file. What the agent says about its call stands apart, as its claim.

mod bounds;
mod change;
mod command;
mod facts;
mod given;
mod judge;
mod outline;
mod place;
mod rest;
mod risk;
mod shell;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use facts::{ChangeFacts, CommandFacts, Facts, Program, Url, is_shell_tool};
pub use rest::not_shown;
pub use risk::Risk;

pub(crate) use change::one_file;
pub(crate) use command::{plain_command, quoted};
pub(crate) use judge::reads_files;
pub(super) use judge::started;
pub(super) use outline::{Outline, Role, Spot, assigned_name};

use super::{
    mask::{Literals, mask_steps},
    mask_text,
    secret::mask_place,
};
use bounds::{Bounds, shorten};

pub type Risks = BTreeSet<Risk>;

const LONGEST_CLAIM: usize = 500;
/// Half a secret at the end of a text that was cut is no longer than this.
const LONGEST_HALF: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    #[serde(flatten)]
    pub act: Act,
    #[serde(default, skip_serializing_if = "Risks::is_empty")]
    pub risks: Risks,
    /// More was there than is shown.
    #[serde(default)]
    pub cut: bool,
    /// How many lines more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
    /// How the agent itself describes the call. Free text, never trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Act {
    Command {
        parts: Vec<Part>,
    },
    Change {
        /// The file, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        files: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
        added: usize,
        removed: usize,
    },
}

/// One step of a command: what stands between `;`, `&&`, `||`, `&` and the ends of lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Risks::is_empty")]
    pub risks: Risks,
    /// How many steps before this one are left out. Those with risks never are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: usize,
}

impl Summary {
    /// As it may be shown beside these arguments, which it was computed from: secrets are masked.
    #[must_use]
    pub fn masked(self, params: &Map<String, Value>) -> Self {
        let literals = Literals::of(params);
        let masked = |text: &str| {
            let (text, mark) = without_half(text, &literals);
            literals.masked(&mask_text(text)) + mark
        };
        let act = match self.act {
            Act::Command { parts } => Act::Command {
                parts: masked_parts(parts, &self.risks, &literals),
            },
            Act::Change {
                path,
                files,
                diff,
                added,
                removed,
            } => Act::Change {
                path: path.map(|path| literals.masked(&mask_place(&path))),
                files,
                diff: diff.map(|diff| masked(&diff)),
                added,
                removed,
            },
        };
        Self {
            act,
            claim: self.claim.map(|claim| masked(&claim)),
            ..self
        }
    }

    /// What may be shown where content may not: kind, risks and counts.
    #[must_use]
    pub fn structure(self) -> Self {
        let act = match self.act {
            Act::Command { parts } => Act::Command {
                parts: parts.into_iter().map(Part::structure).collect(),
            },
            Act::Change {
                files,
                added,
                removed,
                ..
            } => Act::Change {
                path: None,
                files,
                diff: None,
                added,
                removed,
            },
        };
        Self {
            act,
            risks: self.risks,
            cut: self.cut,
            more: self.more,
            claim: None,
        }
    }
}

/// A text that was cut may end in half a secret, which nothing recognises: the end of its last word goes.
fn without_half<'t>(text: &'t str, literals: &Literals) -> (&'t str, &'static str) {
    let Some(head) = text.strip_suffix('…').filter(|_| literals.any()) else {
        return (text, "");
    };
    let word = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let end = head.ceil_char_boundary(word.max(head.len().saturating_sub(LONGEST_HALF)));
    (head.get(..end).unwrap_or_default(), "…")
}

/// The parts are one script: what one of them runs may stand in another.
fn masked_parts(parts: Vec<Part>, risks: &Risks, literals: &Literals) -> Vec<Part> {
    let unsure = [Risk::RunsText, Risk::PipesToShell, Risk::Unreadable];
    let runs_text = unsure.iter().any(|risk| risks.contains(risk));
    let texts: Vec<_> = parts
        .iter()
        .map(|part| without_half(part.text.as_deref().unwrap_or_default(), literals))
        .collect();
    let steps: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
    let shown = mask_steps(&steps, runs_text);
    let shown = shown.into_iter().zip(texts.iter().map(|(_, mark)| *mark));
    let shown: Vec<String> = shown
        .map(|(text, mark)| literals.masked(&text) + mark)
        .collect();
    let parts = parts.into_iter().zip(shown);
    parts
        .map(|(part, shown)| Part {
            text: part.text.is_some().then_some(shown),
            ..part
        })
        .collect()
}

impl Part {
    fn structure(self) -> Self {
        Self { text: None, ..self }
    }
}

/// The summary of a shell command or of a change to files; `None` for any other call. `project` is the
/// folder that the agent works in, where the door knows it.
pub fn summarize(
    tool: &str,
    params: &Map<String, Value>,
    project: Option<&str>,
) -> Option<Summary> {
    within(tool, params, project, Bounds::CARD)
}

/// The same with every step and every line. The project is not stored with a question, so the risks that depend
/// on it are those of the stored summary.
pub fn summarize_whole(tool: &str, params: &Map<String, Value>) -> Option<Summary> {
    within(tool, params, None, Bounds::NONE)
}

fn within(
    tool: &str,
    params: &Map<String, Value>,
    project: Option<&str>,
    bounds: Bounds,
) -> Option<Summary> {
    let change = change::summarize(tool, params, project, bounds);
    let mut summary = match command::summarize(tool, params, project, change.is_some(), bounds) {
        Some(command) => unsure(command, change),
        None => change?,
    };
    summary.claim = params
        .get("description")
        .and_then(Value::as_str)
        .map(|claim| shorten(claim, LONGEST_CLAIM));
    Some(summary)
}

/// A command that brings the arguments of a change along: which of them the tool obeys is not known.
fn unsure(mut command: Summary, change: Option<Summary>) -> Summary {
    if let Some(change) = change {
        command.risks.extend(change.risks);
        command.risks.insert(Risk::Unreadable);
    }
    command
}

/// The argument that is a text, under the first of these names that has one.
fn text<'a>(params: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| params.get(*name)?.as_str())
}

#[cfg(test)]
mod tests;
