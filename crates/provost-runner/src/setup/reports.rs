//! How a run tells of its prompts: to its receiver, each prompt by a reporter of its own, and in its journal.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{json, value::RawValue};
use tokio_util::sync::CancellationToken;

use crate::{
    config::Config,
    journal::{Entry, Journal},
    report::{Event, Kind, Reporter, Settings, State, left_prompts},
};

/// What may wait for the receiver where no folder is named for it: some of the longest lines of an agent.
const MEMORY: usize = 64 * 1024 * 1024;

/// A prompt whose end is queued, and sent when its turn comes.
#[derive(Clone)]
pub(crate) struct Untold {
    pub(crate) reporter: Reporter,
    pub(crate) turn: CancellationToken,
}

impl From<Reporter> for Untold {
    fn from(reporter: Reporter) -> Self {
        Self {
            reporter,
            turn: CancellationToken::new(),
        }
    }
}

/// How the prompts of a run are told of, each by a reporter of its own.
#[derive(Clone)]
pub struct Reports(Settings);

impl From<Settings> for Reports {
    fn from(settings: Settings) -> Self {
        Self(settings)
    }
}

impl Reports {
    pub(crate) fn new(
        config: &Config,
        journal: &Arc<Journal>,
        heartbeat: Option<Duration>,
    ) -> Self {
        let mut settings = Settings::new(config.identity.clone());
        settings.callback.clone_from(&config.callback);
        settings.spool.clone_from(&config.spool);
        settings.spool_bytes = config.spool_bytes;
        if config.spool.is_none() {
            settings.memory_bytes = MEMORY;
        }
        settings.heartbeat = heartbeat.unwrap_or(settings.heartbeat);
        let journal = Arc::clone(journal);
        settings.observe = Some(Arc::new(move |event| note(&journal, event)));
        Self(settings)
    }

    /// `last`: the last number that an earlier process used for this prompt.
    pub(crate) fn of(&self, prompt: &str, last: u64) -> Result<Reporter, crate::report::Error> {
        let settings = self.settings(prompt);
        Reporter::start(Settings {
            last_sequence: last,
            ..settings
        })
    }

    /// Of a prompt that is told when it is its turn.
    pub(crate) fn queued(&self, prompt: &str) -> Result<Untold, crate::report::Error> {
        let turn = CancellationToken::new();
        let reporter = Reporter::start(Settings {
            turn: Some(turn.clone()),
            ..self.settings(prompt)
        })?;
        Ok(Untold { reporter, turn })
    }

    /// While a session waits for its first prompt, nobody is told anything.
    pub(super) fn silent(&self, prompt: &str) -> Result<Reporter, crate::report::Error> {
        Reporter::start(Settings {
            callback: None,
            ..self.settings(prompt)
        })
    }

    /// What runners before this one left of the prompts of this run, without the one that it goes on with.
    pub(crate) fn leftovers(&self, goes_on: Option<&str>) -> Vec<Untold> {
        let found = self.0.spool.as_deref().map(|spool| {
            let prompts = left_prompts(spool, &self.0.identity.run_id)?;
            let prompts = prompts.iter().filter(|id| Some(id.as_str()) != goes_on);
            prompts.map(|id| self.left(id)).collect()
        });
        let found = found.filter(|_| self.has_receiver());
        found.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
            tracing::error!(%error, "reports that were left cannot be sent");
            Vec::new()
        })
    }

    fn left(&self, prompt: &str) -> Result<Untold, crate::report::Error> {
        let untold = self.queued(prompt)?;
        untold.reporter.has_ended();
        Ok(untold)
    }

    /// Whether somebody gets them.
    pub(crate) fn has_receiver(&self) -> bool {
        self.0.callback.is_some()
    }

    fn settings(&self, prompt: &str) -> Settings {
        let mut settings = self.0.clone();
        prompt.clone_into(&mut settings.identity.prompt_id);
        // Each prompt has numbers of its own.
        settings.last_sequence = 0;
        settings
    }
}

/// A report as the journal has it: what is in it stays the text it was.
#[derive(Serialize)]
struct Named<'a> {
    sequence: u64,
    kind: Kind,
    notifications: usize,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rebuild: Option<&'a RawValue>,
}

/// Reports are named in the journal. What was in an update is there already, as the agent wrote it.
pub(crate) fn note(journal: &Journal, event: &Event<'_>) {
    match event {
        Event::Queued {
            sequence,
            kind,
            notifications,
            state,
            body,
            rebuild,
        } => journal.write(Entry::Report(&Named {
            sequence: *sequence,
            kind: *kind,
            notifications: *notifications,
            state: *state,
            body: body.and_then(|body| {
                let text = std::str::from_utf8(body).ok()?;
                serde_json::from_str(text).ok()
            }),
            rebuild: *rebuild,
        })),
        Event::Delivered { sequence, .. } => sent(journal, *sequence, "delivered"),
        Event::Again { sequence, .. } => sent(journal, *sequence, "again"),
        Event::Dropped { sequence, .. } => sent(journal, *sequence, "dropped"),
        Event::Unauthorized { sequence, .. } => sent(journal, *sequence, "unauthorized"),
        Event::Refused {
            sequence, status, ..
        } => sent(journal, *sequence, &format!("refused with {status}")),
    }
}

fn sent(journal: &Journal, sequence: u64, how: &str) {
    journal.write(Entry::Sent(&json!({"sequence": sequence, "how": how})));
}
