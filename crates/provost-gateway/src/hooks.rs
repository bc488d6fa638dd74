//! The hooks of coding agents: what each of them says before and after it acts, and an answer in its own
//! words. Nothing here decides.

mod claude;
mod cursor;
mod field;
#[cfg(test)]
mod tests;
mod tools;

use serde_json::{Map, Value};

pub use tools::AgentTool;

/// Whose hooks they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    ClaudeCode,
    Codex,
    Cursor,
}

/// What an agent's hook says.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The event, as the agent calls it.
    pub event: String,
    /// The agent's own session id, which is also ours.
    pub session: Option<String>,
    /// Where the agent works.
    pub folder: Option<String>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// May this be done?
    Ask(Act),
    /// It was done.
    Done {
        act: Act,
        error: Option<String>,
        size: usize,
    },
    /// Something to note: a session's beginning and end, a prompt.
    Note(Value),
    /// An event that this version does not know.
    Unknown,
    /// A question that cannot be read, so the answer is no.
    Unreadable(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// Our name of the agent's tool: `claude.Bash`.
    pub tool: String,
    pub params: Map<String, Value>,
    /// The agent's id of this use of the tool.
    pub id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reply<'a> {
    Allow(&'a str),
    /// A person changed it: it may be done with these arguments, and with no others.
    AllowInstead(&'a str, &'a Map<String, Value>),
    Deny(&'a str),
    /// Let the person at the agent say.
    Ask(&'a str),
    /// Neither yes nor no: the agent goes on as if it had not asked.
    Neutral,
}

impl Dialect {
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Cursor];

    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// An error where the agent cannot be understood at all.
    pub fn hear(self, said: &Map<String, Value>) -> Result<Heard, String> {
        match self {
            Self::ClaudeCode => claude::hear("claude", said),
            Self::Codex => claude::hear("codex", said),
            Self::Cursor => cursor::hear(said),
        }
    }

    /// Whether an answer to a question is a yes or a no, in this agent's words.
    pub fn decides(self, event: &str, answer: &Value) -> bool {
        match self {
            Self::ClaudeCode | Self::Codex => claude::decides(event, answer),
            Self::Cursor => cursor::decides(answer),
        }
    }

    /// The answer to an event of that name. To one that asks nothing, a yes or no is neutral.
    pub fn reply(self, event: &str, reply: Reply<'_>) -> Value {
        match self {
            Self::ClaudeCode => claude::reply(event, reply),
            Self::Codex => codex_reply(event, reply),
            Self::Cursor => cursor::reply(event, reply),
        }
    }
}

/// What an agent is told that can only be answered yes or no. A yes would be taken for what it asked.
fn instead(reason: &str, arguments: &Map<String, Value>) -> String {
    let arguments = Value::Object(arguments.clone());
    format!("{reason}; not as asked, but with these arguments instead: {arguments}")
}

/// Codex takes no other arguments than its own: it is told what it may do instead. Before it uses a tool, it
/// cannot ask, and goes on where it is told to: it is told no.
fn codex_reply(event: &str, reply: Reply<'_>) -> Value {
    match reply {
        Reply::AllowInstead(reason, arguments) => {
            claude::reply(event, Reply::Deny(&instead(reason, arguments)))
        }
        Reply::Ask(reason) if event == claude::PRE => claude::reply(event, Reply::Deny(reason)),
        _ => claude::reply(event, reply),
    }
}
