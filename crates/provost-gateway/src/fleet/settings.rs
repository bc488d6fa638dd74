//! What may be run here: which agents, in which folders, how many at once and how far.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use provost_runner::{
    agents::Profile,
    config::{Limits, Unsupervised},
};

use crate::secret::Secret;

/// Where nobody says, a run ends after a day: nobody is there to end one that was forgotten.
pub const USUAL_WALL: Duration = Duration::from_hours(24);
/// Where nobody says, an agent writes no more than this: its journal is kept.
pub const USUAL_OUTPUT: u64 = 1024 * 1024 * 1024;

/// The section `runs` of the configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many run at once.
    pub concurrency: usize,
    /// How many may wait for their turn.
    pub queue: usize,
    /// How many that have ended are kept.
    pub keep: usize,
    pub agents: BTreeMap<String, Agent>,
    /// Where they may work: in these folders and below.
    pub roots: Vec<PathBuf>,
    /// No run goes further.
    pub limits: Limits,
}

/// An agent that may be run.
#[derive(Clone, Debug)]
pub struct Agent {
    pub command: String,
    /// What its environment has besides the usual.
    pub env: Vec<(String, Secret)>,
    pub mode: Option<String>,
    pub sandbox: Sandbox,
    /// Which agent it is, where the command does not tell.
    pub profile: Option<&'static Profile>,
    /// It may run although nothing is known that makes it ask.
    pub unknown: bool,
    pub unsupervised: Unsupervised,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    #[default]
    Off,
    Required,
    BestEffort,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 2,
            queue: 100,
            keep: 1000,
            agents: BTreeMap::new(),
            roots: Vec::new(),
            limits: usual_limits(),
        }
    }
}

pub fn usual_limits() -> Limits {
    Limits {
        wall: Some(USUAL_WALL),
        output_bytes: Some(USUAL_OUTPUT),
        ..Limits::default()
    }
}
