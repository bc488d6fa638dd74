//! Whoever decides, before it happens, whether an agent may do what it asks the client to do for it.

use std::path::PathBuf;

use async_trait::async_trait;

/// One thing that the client is about to do for the agent. Paths are real: links are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Read {
        path: PathBuf,
    },
    Write {
        path: PathBuf,
        old: Old,
        new: String,
    },
    /// With no `args`, `command` is a line for `sh -c`: that is what agents send.
    Run {
        command: String,
        args: Vec<String>,
        cwd: PathBuf,
        env: Vec<(String, String)>,
    },
}

/// What a write would replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Old {
    Missing,
    Text(String),
    /// Not UTF-8, or larger than what is read.
    Opaque {
        bytes: u64,
    },
}

/// Decides about an act; a refusal carries the reason that the agent is told.
#[async_trait]
pub trait Gate: Send + Sync {
    async fn may(&self, act: Act) -> Result<(), String>;
}

/// Reads are permitted, nothing else: the gate of a workspace that was given none.
pub struct ReadOnly;

#[async_trait]
impl Gate for ReadOnly {
    async fn may(&self, act: Act) -> Result<(), String> {
        match act {
            Act::Read { .. } => Ok(()),
            Act::Write { .. } | Act::Run { .. } => {
                Err("there is nobody to ask, so writes and commands are refused".to_owned())
            }
        }
    }
}

/// Everything is permitted: for runs whose limits are set elsewhere.
pub struct Open;

#[async_trait]
impl Gate for Open {
    async fn may(&self, _act: Act) -> Result<(), String> {
        Ok(())
    }
}
