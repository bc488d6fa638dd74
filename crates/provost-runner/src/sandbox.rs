//! Confinement of an agent by the kernel (Landlock): whatever it runs reaches the paths of a [`Spec`] and
//! no others, and cannot undo that. A process confines itself, so the runner starts a launcher that does so
//! and then becomes the agent.

mod agent;
mod calls;
mod kernel;
mod launch;
mod privileges;
mod probe;
mod terminals;
mod toolchains;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use agent::{Needs, find_program};
pub use kernel::{Support, confine, confine_on, support};
pub use launch::{SUBCOMMAND, command, launch};
pub use probe::{Possible, probe};
pub(crate) use toolchains::find as find_toolchains;
pub use toolchains::{TOOLCHAINS, Toolchain, toolchain};

/// What a confined process may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Spec {
    /// Files and folders to read, run, write, make and remove.
    pub read_write: Vec<PathBuf>,
    /// Files and folders to read and run.
    pub read_only: Vec<PathBuf>,
    /// Whether a kernel that cannot keep what is asked here is an error.
    pub strict: bool,
    /// Ports that may be connected to over TCP; None leaves the network alone.
    pub network: Option<Vec<u16>>,
    pub unix_sockets: UnixSockets,
    pub terminals: Terminals,
    /// Where one line of JSON tells what is enforced. Keep it out of `read_write`, or the confined process
    /// could rewrite it.
    pub report: Option<PathBuf>,
}

/// Whether the sockets of others on this machine can be connected to: the SSH agent's, docker's, D-Bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnixSockets {
    #[default]
    Deny,
    Allow,
}

/// Which terminals can be opened (pseudo-terminals, PTYs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminals {
    #[default]
    None,
    /// New ones, which nobody outside has.
    Own,
}

/// How the sockets of others are kept out of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// By their path: sockets in folders that may be written work.
    Landlock,
    /// No Unix socket can be made at all, except pairs.
    Seccomp,
    /// They are not.
    Nothing,
}

/// How much of what was asked is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The process is not confined.
    None,
    /// The kernel is older than something that was asked; see `lacking`.
    Part,
    Full,
}

/// What holds from now on, for this thread and all that it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Enforced {
    pub enforced: Level,
    /// The version of the kernel's Landlock; 0 for none.
    pub abi: u32,
    /// Kinds of access that are denied where no path or port allows them.
    pub what: Vec<String>,
    /// Kinds that were asked for and that this kernel cannot deny.
    pub lacking: Vec<String>,
    pub read_write: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
    /// Paths that do not exist or cannot be opened, hence are not reachable.
    pub missing: Vec<PathBuf>,
    /// What keeps it from the Unix sockets of others.
    pub unix_sockets: ClosedBy,
    pub terminals: Terminals,
    /// Nothing that is started from now on can gain privileges.
    pub no_new_privs: bool,
    /// Privileges of root that are left.
    pub capabilities: Vec<String>,
}

impl Enforced {
    pub fn full(&self) -> bool {
        self.enforced == Level::Full
    }
}

/// Why a process was not confined, or the confined command not started.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error(
        "the kernel cannot confine this process (Landlock version {abi}, {lacking} lacking); \
         use a newer kernel, or confine it as far as possible by not being strict"
    )]
    Unsupported { abi: u32, lacking: String },
    #[error("the kernel did not confine this process: {0}")]
    Ruleset(#[from] landlock::RulesetError),
    #[error("the kernel did not take the filter of system calls: {0}")]
    Calls(#[from] seccompiler::Error),
    #[error("terminals of its own cannot be made: {0}")]
    Terminals(std::io::Error),
    #[error("privileges cannot be given up: {0}")]
    Privileges(std::io::Error),
    #[error("the report `{path}` cannot be written: {source}")]
    Report {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the sandbox cannot be told as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("there is no command to run")]
    Nothing,
    #[error("the sandbox cannot be tried out with `{launcher}`: {problem}")]
    Probe { launcher: PathBuf, problem: String },
    #[error("`{command}` cannot be run: {source}")]
    Exec {
        command: String,
        source: std::io::Error,
    },
}
