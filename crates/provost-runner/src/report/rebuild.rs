//! Reports as they were first sent, from a journal. What came from the agent stands there once, in its own lines;
//! of an update, the journal notes what else its report was made of, and the hash of the whole.

use std::collections::VecDeque;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};

use super::{
    Kind, Phase, State,
    body::{Content, Whose},
    fold::Fold,
    permissions::{Permissions, Settled, Waiting},
};
use crate::config::Identity;

/// What an update's report was made of, besides notifications and state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Marks<'a, P: Serialize, S: Serialize> {
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replay: bool,
    dropped_reports: u64,
    pending_permissions: P,
    settled_permissions: S,
    sha256: String,
}

pub(super) fn marks(
    session: Option<&str>,
    phase: Phase,
    dropped: u64,
    permissions: &Permissions,
    body: &[u8],
) -> Option<Box<RawValue>> {
    let marks = Marks {
        session_id: session,
        replay: phase == Phase::Replay,
        dropped_reports: dropped,
        pending_permissions: permissions.enough_to_restore(),
        settled_permissions: permissions.settled(),
        sha256: hash(body),
    };
    to_raw_value(&marks).ok()
}

/// A report as the journal has it.
#[derive(Deserialize)]
struct Noted {
    sequence: u64,
    kind: String,
    notifications: usize,
    state: State,
    body: Option<Box<RawValue>>,
    rebuild: Option<Marked>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Marked {
    session_id: Option<String>,
    replay: bool,
    dropped_reports: u64,
    pending_permissions: Vec<Waiting>,
    settled_permissions: Vec<Settled>,
    sha256: String,
}

/// A report that can be sent again.
#[derive(Debug)]
pub struct Rebuilt {
    pub sequence: u64,
    pub kind: Kind,
    pub notifications: usize,
    pub body: Bytes,
    /// These are the bytes that were first sent.
    pub exact: bool,
}

/// The reports of one process of a run, line by line of its journal.
pub struct Rebuilder {
    identity: Identity,
    fold: Fold,
    /// Notifications that no report had yet.
    waiting: VecDeque<Box<RawValue>>,
}

impl Rebuilder {
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            fold: Fold::default(),
            waiting: VecDeque::new(),
        }
    }

    /// The parameters of a `session/update`.
    pub fn notification(&mut self, params: Box<RawValue>) {
        self.waiting.push_back(params);
    }

    /// `None`: the line cannot be read.
    pub fn report(&mut self, report: &RawValue) -> Option<Rebuilt> {
        let noted: Noted = serde_json::from_str(report.get()).ok()?;
        let kind = Kind::read(&noted.kind)?;
        if let Some(body) = noted.body {
            return Some(Rebuilt {
                sequence: noted.sequence,
                kind,
                notifications: 0,
                body: Bytes::from(Box::<str>::from(body).into_string()),
                exact: true,
            });
        }
        let marked = noted.rebuild.unwrap_or_default();
        let count = noted.notifications.min(self.waiting.len());
        let items: Vec<_> = self.waiting.drain(..count).collect();
        for item in &items {
            self.fold.take(item);
        }
        let permissions =
            Permissions::restored(marked.pending_permissions, marked.settled_permissions);
        let snapshot = self.fold.snapshot(
            noted.state,
            noted.sequence,
            marked.dropped_reports,
            &permissions,
            None,
        );
        let whose = Whose {
            identity: &self.identity,
            session: marked.session_id.as_deref(),
        };
        let content = Content::Update {
            notifications: &items,
            phase: if marked.replay {
                Phase::Replay
            } else {
                Phase::Live
            },
        };
        let body = whose.report(noted.sequence, content, &snapshot).ok()?;
        Some(Rebuilt {
            sequence: noted.sequence,
            kind,
            notifications: items.len(),
            exact: marked.sha256 == hash(&body),
            body,
        })
    }
}

fn hash(body: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(body) {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
