//! A run that cannot begin is told as one that failed: whoever waits for its reports would wait for ever.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::{json, value::to_raw_value};

use crate::{
    config::{Config, Identity, Keep},
    journal::{Journal, last_sequence},
    report::{Clock, Drained, End, Failure, Reporter, Settings, State},
    run::{CANCELLED, Delivery, Outcome, refuse_waiting},
    setup::{Reports, note},
};

/// How long delivery is tried. What is left then stays on disk, and goes first in the next run of the prompt.
const PATIENCE: Duration = Duration::from_secs(30);
/// JSON-RPC's, for whatever has no other.
const SERVER_ERROR: i64 = -32000;

/// What is needed to tell of it, once its configuration is used up.
pub struct Unbegun {
    settings: Settings,
    journal: Option<PathBuf>,
    keep: Option<Keep>,
    /// A session that only waits for prompts has none that could fail.
    prompted: bool,
}

impl Unbegun {
    pub fn of(config: &Config) -> Self {
        let mut settings = Settings::new(config.identity.clone());
        settings.callback.clone_from(&config.callback);
        settings.spool.clone_from(&config.spool);
        settings.spool_bytes = config.spool_bytes;
        Self {
            settings,
            journal: config.journal.clone(),
            keep: config.keep.clone(),
            prompted: config.prompt.is_some(),
        }
    }

    /// In the journal, and to the callback where there is one.
    pub async fn tell(self, reason: &str, message: &str) {
        let Self {
            mut settings,
            journal,
            keep,
            prompted,
        } = self;
        let prompt = settings.identity.prompt_id.clone();
        let path = journal.as_deref();
        settings.last_sequence = path.map_or(0, |path| last_sequence(path, &prompt));
        let journal = path.and_then(|path| Journal::open(path, Clock::system()).ok());
        let journal = Arc::new(journal.unwrap_or_default());
        journal.event(&started(&settings.identity, prompted));
        let noting = Arc::clone(&journal);
        settings.observe = Some(Arc::new(move |event| note(&noting, event)));
        match prompted.then(|| Reporter::start(settings.clone())) {
            Some(Ok(reporter)) => report(&reporter, reason, message).await,
            Some(Err(error)) => {
                tracing::warn!(%error, "nobody is told that the run did not begin");
            }
            None => {}
        }
        if let Some(keep) = keep {
            let outcome = Outcome::Failed {
                reason: reason.to_owned(),
                message: message.to_owned(),
            };
            let reports = Reports::from(settings.clone());
            for untold in refuse_waiting(&keep, &reports, &journal, keep.taken, &outcome) {
                untold.turn.cancel();
                untold.reporter.drained(PATIENCE).await;
            }
        }
        // Whoever looks after what is left must not post it.
        if settings.unauthorized.is_cancelled() {
            let drained = Drained {
                unauthorized: true,
                ..Drained::default()
            };
            let delivery = Delivery {
                drained,
                ..Delivery::default()
            };
            journal.event(&delivery.event(true));
        }
        let state = if reason == CANCELLED {
            CANCELLED
        } else {
            "failed"
        };
        journal.event(&json!({"ended": {"state": state, "reason": reason, "message": message}}));
    }
}

fn started(identity: &Identity, prompted: bool) -> serde_json::Value {
    json!({"started": {"runId": identity.run_id, "taskId": identity.task_id, "sandboxId": identity.sandbox_id,
        "promptId": prompted.then_some(&identity.prompt_id), "pid": std::process::id()}})
}

async fn report(reporter: &Reporter, reason: &str, message: &str) {
    reporter.state(State::Failed);
    reporter.end(End::Failed(Failure {
        code: SERVER_ERROR,
        message: message.to_owned(),
        data: to_raw_value(&json!({ "reason": reason })).ok(),
        ..Failure::default()
    }));
    reporter.drained(PATIENCE).await;
}
