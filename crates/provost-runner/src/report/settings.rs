//! What a reporter is told before it starts.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{Backoff, Clock, Event};
use crate::config::{Callback, Identity};

/// Told of each report, see [`Event`].
pub type Observe = Arc<dyn Fn(&Event<'_>) + Send + Sync>;

#[derive(Clone)]
pub struct Settings {
    pub identity: Identity,
    /// `None`: only the snapshot is kept.
    pub callback: Option<Callback>,
    /// The folder where reports wait that are too much for memory, and stay if they were not delivered.
    pub spool: Option<PathBuf>,
    pub spool_bytes: u64,
    /// The last number that an earlier process used for the same prompt, 0 for a new one. What it left in the
    /// spool folder is looked at besides.
    pub last_sequence: u64,
    /// Bodies that wait in memory.
    pub memory_bytes: usize,
    pub heartbeat: Duration,
    /// Of one attempt, from connecting to the end of the answer.
    pub deadline: Duration,
    pub backoff: Backoff,
    pub clock: Clock,
    pub observe: Option<Observe>,
    /// Cancelled when the receiver answers 401. Whoever shares it posts nothing from then on.
    pub unauthorized: CancellationToken,
    /// What is queued waits until this is cancelled, where there is one: others go first.
    pub turn: Option<CancellationToken>,
}

impl Settings {
    /// The usual ones, with nobody to report to.
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            callback: None,
            spool: None,
            spool_bytes: 256 * 1024 * 1024,
            last_sequence: 0,
            memory_bytes: 8 * 1024 * 1024,
            heartbeat: Duration::from_secs(15),
            deadline: Duration::from_secs(30),
            backoff: Backoff::default(),
            clock: Clock::system(),
            observe: None,
            unauthorized: CancellationToken::new(),
            turn: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("identity", &self.identity)
            .field("callback", &self.callback)
            .field("spool", &self.spool)
            .finish_non_exhaustive()
    }
}
