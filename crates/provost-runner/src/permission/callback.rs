//! Whoever receives the reports decides: in the answer to one of them, or at an address of ours.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Deserialize;
use tokio::sync::oneshot;

use super::Wish;

/// What somebody answered.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Given {
    pub permission_id: String,
    #[serde(default)]
    pub option_id: Option<String>,
    /// `allow_once`, `allow_always`, `reject_once` or `reject_always`.
    #[serde(default)]
    pub kind: Option<String>,
}

/// The questions that wait for an answer.
#[derive(Clone)]
pub struct Callbacks {
    waiting: Arc<Mutex<HashMap<String, oneshot::Sender<Wish>>>>,
    address: Arc<str>,
}

/// Whether an answer came to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// It was answered already, or never asked.
    NotWaiting,
    /// It says neither an option nor a kind.
    Empty,
}

impl Callbacks {
    /// `address`: where answers can be sent to; empty where they come with the answers to reports alone.
    pub fn new(address: &str) -> Self {
        Self {
            waiting: Arc::default(),
            address: address.into(),
        }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// The first answer counts.
    pub fn answer(&self, given: Given) -> Taken {
        let wish = match (given.option_id, given.kind) {
            (Some(option), _) => Wish::Option(option),
            (None, Some(kind)) => Wish::Kind(kind),
            (None, None) => return Taken::Empty,
        };
        let waiting = self.waiting().remove(&given.permission_id);
        match waiting.map(|answer| answer.send(wish)) {
            Some(Ok(())) => Taken::Yes,
            _ => Taken::NotWaiting,
        }
    }

    /// To be called before the question is announced: its answer may be quicker than we are.
    pub(super) fn wait_for(&self, id: &str) -> oneshot::Receiver<Wish> {
        let (answer, answered) = oneshot::channel();
        let mut waiting = self.waiting();
        waiting.retain(|_, answer| !answer.is_closed());
        waiting.insert(id.to_owned(), answer);
        answered
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Wish>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
