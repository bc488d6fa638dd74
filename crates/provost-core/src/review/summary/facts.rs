//! What a call would do, for rules: the same reading as the summary's, but of the call alone, without bounds
//! for the eye, and with what is not certain marked as such. The folder that an agent says it works in is no
//! part of this: a rule must come out the same whatever the agent claims.

mod command;
pub(super) mod hosts;
mod url;

use serde_json::{Map, Value};

use super::{Risk, Risks, change, place::Place};
use crate::review::{arguments_not_told, hides_secret, summary::judge::Ledger};

pub use super::judge::Program;
pub use url::Url;

/// Tools whose arguments are a command for a shell, by the last part of their name.
const SHELLS: [&str; 27] = [
    "bash",
    "sh",
    "zsh",
    "shell",
    "terminal",
    "console",
    "exec",
    "execute",
    "command",
    "cmd",
    "powershell",
    "pwsh",
    "run_command",
    "run_shell",
    "run_bash",
    "run_shell_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "run_in_terminal",
    "execute_command",
    "execute_bash",
    "exec_command",
    "shell_command",
    "shell_exec",
    "local_shell",
    "bash_command",
    "write_stdin",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub command: Option<CommandFacts>,
    pub change: Option<ChangeFacts>,
    /// What could not be taken apart is an error.
    pub url: Option<Result<Url, url::Unreadable>>,
    /// Of command and change, and of any call that it hides a secret. Others may be there if these are not
    /// [sure](Self::is_sure).
    pub risks: Risks,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFacts {
    /// Every program that would be started, by whatever starts it, and what the shell itself would change.
    pub parts: Vec<Program>,
    /// There are no others, and each is certain.
    pub sure: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeFacts {
    /// The files that are written, as the arguments name them.
    pub paths: Vec<String>,
    pub sure: bool,
}

impl Facts {
    /// Everything that the call would do, as far as its arguments say it.
    pub fn of(tool: &str, params: &Map<String, Value>) -> Self {
        let mut facts = Self {
            url: url::find(params),
            ..Self::default()
        };
        let change = change::facts(tool, params, &Place::untrusted());
        let command = command::read(tool, params, change.is_some());
        // A command that brings the arguments of a change along: which of them the tool obeys is not known.
        let both = command.is_some() && change.is_some();
        if let Some((ledger, risks)) = command {
            facts.risks.extend(risks);
            let sure = ledger.is_sure() && !facts.risks.contains(&Risk::Unreadable) && !both;
            let parts = ledger.into_programs();
            facts.command = Some(CommandFacts { parts, sure });
        }
        if let Some((paths, risks)) = change {
            let sure = !risks.contains(&Risk::Unreadable) && !both;
            facts.risks.extend(risks);
            facts.change = Some(ChangeFacts { paths, sure });
        }
        if !facts.is_sure() {
            facts.risks.insert(Risk::Unreadable);
        }
        if arguments_not_told(params) {
            facts.risks.insert(Risk::ArgumentsNotTold);
            facts.risks.insert(Risk::Unreadable);
        }
        if hides_secret(params) {
            facts.risks.insert(Risk::HidesSecret);
        }
        facts
    }

    /// Command and change were read in full.
    pub fn is_sure(&self) -> bool {
        self.command.as_ref().is_none_or(|command| command.sure)
            && self.change.as_ref().is_none_or(|change| change.sure)
    }

    /// Anything of it was not.
    pub fn is_unreadable(&self) -> bool {
        !self.is_sure() || matches!(self.url, Some(Err(_)))
    }

    /// There is nothing that the gate computes of such a call.
    pub fn is_empty(&self) -> bool {
        self.command.is_none() && self.change.is_none() && self.url.is_none()
    }
}

/// Whether a tool of this name hands its arguments to a shell.
pub fn is_shell_tool(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or_default();
    let last = last.rsplit("__").next().unwrap_or_default();
    SHELLS.contains(&last.replace('-', "_").as_str())
}

/// A reading of which nothing is certain.
fn unsure() -> (Ledger, Risks) {
    (Ledger::unsure(), Risks::from([Risk::Unreadable]))
}

#[cfg(test)]
mod tests;
