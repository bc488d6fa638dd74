//! What a remembered approval opens. Remembering a call is narrow: the same arguments, or, for an edit of a source
//! file, files of the same kind in the same folder. A wider scope is a choice of its own, and never there for the
//! asking where the call showed a risk. Whatever a scope does not speak of must be equal.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{folder, known, outside, words};
use crate::{
    approval::{Kind, Question},
    call::{Call, Digest, Executor},
    ids::ApprovalId,
    key::Role,
    review::{self, Act, Facts, Program, Summary, arguments_not_told},
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
        /// A call of a known shell, whose `description` is what the agent says of it. It takes no effect, and
        /// agents word it anew each time: the digest is of the arguments without it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        any_description: bool,
    },
    /// Edits of files with this ending that lie directly in `folder`. The arguments that are neither path nor
    /// text are those of the approved call. Without an ending, as an earlier version kept it, it opens nothing.
    Folder {
        folder: Box<str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ending: Option<Box<str>>,
        rest: Digest,
    },
    /// One plain command that was read in full and begins with these words, and goes on with no assignment, no other
    /// subcommand and nothing outside the project. All other arguments are those of the approved call.
    Words {
        words: Vec<String>,
        rest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        works_in: Option<Box<str>>,
    },
    /// Any command of a shell that was read in full, shows no risk and names nothing outside the project. All
    /// other arguments are those of the approved call. Without them, as an earlier version kept it, it opens
    /// nothing.
    Any {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rest: Option<Digest>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        works_in: Option<Box<str>>,
    },
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

impl Breadth {
    /// Whether somebody of this role may have so much remembered. The widest is for those who may also make such
    /// a grant by hand.
    pub fn is_for(self, role: Role) -> bool {
        match self {
            Self::Narrow | Self::Words => role.is_person(),
            Self::Any => role == Role::Admin,
        }
    }
}

/// What is asked, as far as grants look at it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub kind: Kind,
    pub call: &'a Call,
    pub executor: Executor,
    /// Where the agent says that it works. A claim: it may narrow what a grant permits, and never widens it.
    pub works_in: Option<&'a str>,
}

impl Asked<'_> {
    fn only_describes(&self) -> bool {
        known::only_describes(&self.call.tool, self.executor == Executor::Gateway)
    }
}

impl Remembered {
    /// What remembering an approval of this question would open. `None` where that breadth is not to be had.
    pub fn of(question: &Question, breadth: Breadth) -> Option<Self> {
        // Nobody knows what another call without its arguments would do.
        if arguments_not_told(&question.params) {
            return None;
        }
        let scope = match breadth {
            Breadth::Narrow => GrantScope::narrow(question),
            Breadth::Words => GrantScope::beginning(question)?,
            Breadth::Any => GrantScope::any(question)?,
        };
        Some(Self {
            approval_id: question.id.clone(),
            forwarded: question.executor == Executor::Gateway,
            scope,
        })
    }

    pub(super) fn permits(&self, asked: &Asked<'_>) -> bool {
        self.forwarded == (asked.executor == Executor::Gateway) && self.scope.permits(asked)
    }
}

impl GrantScope {
    fn narrow(question: &Question) -> Self {
        Self::folder(question).unwrap_or_else(|| Self::arguments(question))
    }

    fn arguments(question: &Question) -> Self {
        let described = question.params.get("description");
        let any_description = only_describes(question) && described.is_some_and(Value::is_string);
        Self::Arguments {
            digest: if any_description {
                Digest::of_written(&undescribed(&question.params))
            } else {
                Digest::of_written(&question.params)
            },
            works_in: question.works_in.clone(),
            any_description,
        }
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
        if !is_change || !is_clear(question) || !known::edits_files(&question.tool) {
            return None;
        }
        let edit = review::one_file(&question.tool, &question.params)?;
        let opened = folder::of_file(edit.path, question.works_in.as_deref()?)?;
        Some(Self::Folder {
            folder: opened.folder.into(),
            ending: Some(opened.ending.into()),
            rest: Digest::of_written(&edit.rest),
        })
    }

    fn any(question: &Question) -> Option<Self> {
        let (tool, params) = (&*question.tool, &question.params);
        let project = question.works_in.as_deref();
        if !is_clear(question) || !is_command_read_in_full(tool, params, project) {
            return None;
        }
        let beside = beside_command(params, only_describes(question))?;
        Some(Self::Any {
            rest: Some(Digest::of_written(&beside)),
            works_in: question.works_in.clone(),
        })
    }

    fn beginning(question: &Question) -> Option<Self> {
        if !is_clear(question) || words::parts(&question.tool, &question.params).is_none() {
            return None;
        }
        let command = review::plain_command(&question.tool, &question.params)?;
        // One word would be a program with whatever arguments, and a long command would not be read.
        let length: usize = command.words.iter().map(String::len).sum();
        if command.words.len() < 2 || length > LONGEST_SHOWN {
            return None;
        }
        let rest = if only_describes(question) {
            undescribed(&command.rest)
        } else {
            command.rest
        };
        Some(Self::Words {
            words: command.words,
            rest: Digest::of_written(&rest),
            works_in: question.works_in.clone(),
        })
    }

    fn permits(&self, asked: &Asked<'_>) -> bool {
        let Call { tool, params, .. } = asked.call;
        match self {
            Self::Arguments {
                digest,
                works_in,
                any_description,
            } => {
                let same = |params| Digest::of_written(params) == *digest;
                works_in.as_deref() == asked.works_in
                    && if *any_description {
                        asked.only_describes() && same(&undescribed(params))
                    } else {
                        same(params)
                    }
            }
            Self::Folder {
                folder,
                ending,
                rest,
            } => {
                let (edit, ending) = (review::one_file(tool, params), ending.as_deref());
                known::edits_files(tool)
                    && edit.zip(ending).is_some_and(|(edit, ending)| {
                        folder::holds(folder, ending, edit.path)
                            && Digest::of_written(&edit.rest) == *rest
                    })
                    && shows_no_risk(tool, params, Some(folder))
            }
            Self::Words {
                words,
                rest,
                works_in,
            } => {
                works_in.as_deref() == asked.works_in
                    && begins_with(words, rest, asked)
                    && shows_no_risk(tool, params, asked.works_in)
            }
            Self::Any { rest, works_in } => {
                let beside = beside_command(params, asked.only_describes());
                works_in.as_deref() == asked.works_in
                    && rest.is_some()
                    && beside.map(|beside| Digest::of_written(&beside)) == *rest
                    && is_command_read_in_full(tool, params, asked.works_in)
                    && shows_no_risk(tool, params, asked.works_in)
            }
        }
    }

    /// As people read it, before they choose and afterwards.
    pub fn words(&self) -> String {
        match self {
            Self::Arguments {
                works_in,
                any_description,
                ..
            } => {
                let folder = in_folder(works_in.as_deref());
                let except = if *any_description {
                    ", whatever the description"
                } else {
                    ""
                };
                format!("exactly these arguments{except}{folder}")
            }
            Self::Folder { folder, ending, .. } => {
                let ending = ending.as_deref().unwrap_or_default();
                format!(
                    "edits of .{ending} files directly in {folder}; files whose names look like those of build and test tools are asked about"
                )
            }
            Self::Words {
                words, works_in, ..
            } => {
                let words: Vec<String> = words.iter().map(|word| review::quoted(word)).collect();
                let folder = in_folder(works_in.as_deref());
                let words = words.join(" ");
                format!("commands that begin with {words} and show no known risk{folder}")
            }
            Self::Any { works_in, .. } => {
                let folder = in_folder(works_in.as_deref());
                format!(
                    "any command that shows no known risk, with the same other arguments{folder}"
                )
            }
        }
    }

    /// One word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Arguments { .. } => "arguments",
            Self::Folder { .. } => "folder",
            Self::Words { .. } => "words",
            Self::Any { .. } => "any",
        }
    }
}

fn in_folder(folder: Option<&str>) -> String {
    let Some(folder) = folder else {
        return String::new();
    };
    let folder = review::mask_place(folder);
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

/// The arguments of a call that take effect: without what the agent says of it, where the tool is known to do nothing
/// with that.
pub(crate) fn effective<'a>(
    tool: &str,
    executor: Executor,
    params: &'a Map<String, Value>,
) -> Cow<'a, Map<String, Value>> {
    let is_described = params.get("description").is_some_and(Value::is_string);
    if is_described && known::only_describes(tool, executor == Executor::Gateway) {
        Cow::Owned(undescribed(params))
    } else {
        Cow::Borrowed(params)
    }
}

/// The arguments without what the agent says of its call.
fn undescribed(params: &Map<String, Value>) -> Map<String, Value> {
    let mut params = params.clone();
    if params.get("description").is_some_and(Value::is_string) {
        params.remove("description");
    }
    params
}

fn only_describes(question: &Question) -> bool {
    known::only_describes(&question.tool, question.executor == Executor::Gateway)
}

/// Whether the call is one plain command of these words, and of more that names nothing outside the project.
fn begins_with(words: &[String], rest: &Digest, asked: &Asked<'_>) -> bool {
    let Some(command) = review::plain_command(&asked.call.tool, &asked.call.params) else {
        return false;
    };
    let its_rest = if asked.only_describes() {
        undescribed(&command.rest)
    } else {
        command.rest
    };
    let Some(more) = command.words.strip_prefix(words) else {
        return false;
    };
    !outside::names_any(more, asked.works_in)
        && Digest::of_written(&its_rest) == *rest
        && words::may_follow(&asked.call.tool, &asked.call.params, words, more)
}

/// The arguments with nothing in the place of the one command, and without what only describes it.
fn beside_command(params: &Map<String, Value>, described: bool) -> Option<Map<String, Value>> {
    let names = ["command", "cmd"];
    let mut named = names.iter().filter(|name| params.contains_key(**name));
    let (Some(name), None) = (named.next(), named.next()) else {
        return None;
    };
    params.get(*name)?.as_str()?;
    let mut rest = if described {
        undescribed(params)
    } else {
        params.clone()
    };
    rest.insert((*name).to_owned(), Value::Null);
    Some(rest)
}

/// A shell's command, of which every program is known, and which names nothing outside the project.
fn is_command_read_in_full(tool: &str, params: &Map<String, Value>, project: Option<&str>) -> bool {
    let facts = Facts::of(tool, params);
    let is_inside = |part: &Program| {
        let named = [&part.words, &part.reads, &part.writes];
        part.risks_sure && !named.iter().any(|words| outside::names_any(words, project))
    };
    review::is_shell_tool(tool)
        && facts.change.is_none()
        && facts
            .command
            .is_some_and(|command| command.sure && command.parts.iter().all(is_inside))
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
