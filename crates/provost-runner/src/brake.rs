//! What stops a run from outside: a signal, a person, the gateway's stop switch.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::permission::{Gateway, Standing};

/// How late a stop of the gateway may be noticed.
const LOOK: Duration = Duration::from_secs(2);

/// Pulled once; who pulled it first, and why, is told.
#[derive(Clone, Default)]
pub struct Brake {
    pulled: CancellationToken,
    by: Arc<OnceLock<String>>,
}

impl Brake {
    pub fn pull(&self, by: impl Into<String>) {
        // Whoever comes second stops what is stopped.
        let _ = self.by.set(by.into());
        self.pulled.cancel();
    }

    pub(crate) async fn pulled(&self) -> String {
        self.pulled.cancelled().await;
        self.by.get().cloned().unwrap_or_default()
    }
}

/// Asks the gateway whether the agent, or this session of it, may go on. A gateway that does not answer stops nobody: what the
/// agent asks meanwhile is not permitted either.
pub(crate) async fn watch(gateway: Arc<Gateway>, session: Option<String>, brake: Brake) {
    loop {
        match gateway.standing(session.as_deref()).await {
            Ok(Standing::Stopped(reason)) => return brake.pull(format!("stopped: {reason}")),
            Ok(Standing::Good) => {}
            Err(error) => tracing::debug!(%error, "the gateway does not say whether to go on"),
        }
        sleep(LOOK).await;
    }
}
