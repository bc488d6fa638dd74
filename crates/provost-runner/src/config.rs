//! What a run is told: who it is, what to do, whom to report to, and how far it may go.
//!
//! The file is the one of the supervisor that came before, and more. Everything wrong with it is told at once.

mod fields;
mod read;
mod secret;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::value::RawValue;

pub use read::{Missing, Problems, anchored, anchored_line, read, split};
pub use secret::Secret;

use crate::{
    agents::{Offers, Profile},
    sandbox::{Toolchain, UnixSockets},
    web::Connector,
};

/// Started where nobody says what to start.
pub const DEFAULT_COMMAND: &str = "npx -y @agentclientprotocol/claude-agent-acp@0.99.1";

#[derive(Debug)]
pub struct Config {
    pub identity: Identity,
    /// Without one, the journal is all that is left of the run.
    pub callback: Option<Callback>,
    /// `None`: the session is opened, and waits for the first one.
    pub prompt: Option<Prompt>,
    /// The session stays after a prompt, and takes more.
    pub keep: Option<Keep>,
    /// The session to go on with.
    pub session: Option<String>,
    pub model: Option<String>,
    pub mode: Option<String>,
    /// The agent's own options, by their ids: set when the session is opened.
    pub options: BTreeMap<String, String>,
    /// As they are given to the agent.
    pub mcp_servers: Option<Box<RawValue>>,
    pub repo: PathBuf,
    /// Program and arguments.
    pub command: Option<Vec<String>>,
    /// What the agent's environment has besides ours.
    pub env: BTreeMap<String, String>,
    /// Which agent it is, where its command does not tell.
    pub agent: Option<&'static Profile>,
    /// What it may have us do for it, where that is not what its profile says.
    pub offers: Option<Offers>,
    pub permissions: Permissions,
    /// An agent that is not known may run although nothing makes it ask.
    pub unknown_agent: bool,
    pub unsupervised: Unsupervised,
    pub limits: Limits,
    /// What runners before this one spent of these.
    pub spent: SpentBefore,
    pub sandbox: Sandbox,
    pub gateway: Option<Gateway>,
    pub journal: Option<PathBuf>,
    pub spool: Option<PathBuf>,
    pub spool_bytes: u64,
}

/// Which run this is, in the words of whoever started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub run_id: String,
    pub task_id: String,
    pub sandbox_id: String,
    pub prompt_id: String,
}

#[derive(Clone, Debug)]
pub struct Callback {
    pub url: String,
    pub token: Secret,
    /// For the Standard Webhooks signature, where it is not the token.
    pub signing_secret: Option<Secret>,
}

/// How a session stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Where its prompts are; see [`Inbox`](crate::inbox::Inbox).
    pub prompts: PathBuf,
    /// The number of the last prompt that was taken, by this run's own prompt too: the next one is looked for.
    pub taken: u64,
    /// How long it waits for one.
    pub idle: Duration,
}

#[derive(Clone, Debug)]
pub enum Prompt {
    Text(String),
    /// Content blocks, as they are given to the agent.
    Blocks(Box<RawValue>),
}

/// Who answers when the agent asks whether it may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    pub by: By,
    /// After this, the answer is no.
    pub timeout: Duration,
    /// Where answers may be sent to, besides the answers to reports.
    pub listen: Option<std::net::SocketAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Yes to everything.
    Auto,
    /// No to everything.
    Deny,
    /// The gate: policy, supervisors, people.
    Gateway,
    /// Whoever receives the reports.
    Callback,
    /// The person at this terminal.
    Terminal,
}

/// What follows when the agent did something that nobody decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unsupervised {
    /// The run ends.
    #[default]
    End,
    /// It is recorded and told, and the run goes on.
    Flag,
}

/// What a run may spend. `None` is without limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    pub wall: Option<Duration>,
    pub idle: Option<Duration>,
    pub turns: Option<u64>,
    pub tool_calls: Option<u64>,
    pub tokens: Option<u64>,
    pub cost: Option<f64>,
    pub output_bytes: Option<u64>,
    pub files_changed: Option<u64>,
    /// How long the agent has for each step of ending.
    pub grace: Option<Duration>,
    /// A limit that cannot be enforced is an error, and not a warning.
    pub strict: bool,
}

/// What was spent before the runner of a run was lost; see [`Limits`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpentBefore {
    pub wall: Duration,
    pub turns: u64,
    pub tool_calls: u64,
    pub tokens: u64,
    pub cost: f64,
    pub output_bytes: u64,
    pub files_changed: u64,
}

/// What the kernel lets the agent do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    pub confine: Confine,
    /// Besides its repository, its home and its temporary files.
    pub read_write: Vec<PathBuf>,
    /// Besides the machine's programs.
    pub read_only: Vec<PathBuf>,
    /// The ports it may connect to. `None`: all.
    pub ports: Option<Vec<u16>>,
    pub home: Home,
    /// What of the user's home has compilers and interpreters. `None`: those that are on the `PATH`.
    pub toolchains: Option<Vec<&'static Toolchain>>,
    pub unix_sockets: UnixSockets,
}

/// The home of a confined agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// One of its own, with its login and its settings.
    #[default]
    Own,
    /// That of whoever starts the run.
    Operator,
    /// This folder, as it is.
    At(PathBuf),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confine {
    #[default]
    Off,
    /// Or not at all.
    Required,
    /// As far as the kernel can.
    BestEffort,
}

#[derive(Clone, Debug)]
pub struct Gateway {
    pub url: String,
    pub key: Option<Secret>,
    /// How it is connected to, where more than its address is known of it.
    pub connector: Option<Connector>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            by: By::Auto,
            timeout: Duration::from_hours(1),
            listen: None,
        }
    }
}

impl Unsupervised {
    pub const ALL: [Self; 2] = [Self::End, Self::Flag];

    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Flag => "flag",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl By {
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Deny,
        Self::Gateway,
        Self::Callback,
        Self::Terminal,
    ];

    /// Whether an act that nobody decided must not be: the agent has to be one that is made to ask.
    pub fn is_strict(self) -> bool {
        matches!(self, Self::Deny | Self::Gateway)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Deny => "deny",
            Self::Gateway => "gateway",
            Self::Callback => "callback",
            Self::Terminal => "terminal",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}
