//! Permissions the agent waits for, as reports and heartbeats name them, and what was decided lately.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize, Serializer, ser::SerializeSeq as _};
use serde_json::value::RawValue;

use super::{answers::Answer, fold::cut};
use crate::acp::raw::{fields, text};

/// How many of each a snapshot names.
const NAMED: usize = 16;
const TITLE: usize = 200;

/// One permission that is waited for: enough to show it, not what it asks in full.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waiting {
    permission_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip)]
    answered: Option<Answer>,
}

/// Those that wait, in the order in which they were asked.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
}

impl Pending {
    fn find(&self, id: &str) -> Option<u64> {
        let mut all = self.waiting.iter();
        all.find(|(_, one)| one.permission_id == id)
            .map(|(place, _)| *place)
    }
}

impl Serialize for Pending {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.waiting.values())
    }
}

/// The first of those that wait: a snapshot is bounded, a heartbeat names all.
pub(super) struct First<'a>(&'a Pending, usize);

impl Serialize for First<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(None)?;
        for one in self.0.waiting.values().take(self.1) {
            list.serialize_element(one)?;
        }
        list.end()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settled {
    permission_id: String,
    outcome: String,
}

#[derive(Debug, Default)]
pub(super) struct Permissions {
    pub(super) pending: Pending,
    settled: VecDeque<Settled>,
}

impl Permissions {
    pub(super) fn ask(&mut self, id: &str, params: &RawValue) {
        let call = fields(params).and_then(|params| fields(params.get("toolCall")?));
        let said = |name| call.as_ref().and_then(|call| text(call.get(name)?));
        let waiting = Waiting {
            permission_id: id.to_owned(),
            tool_call_id: said("toolCallId").map(|id| short(&id)),
            title: said("title").map(|title| short(&title)),
            answered: None,
        };
        let place = self.pending.find(id).unwrap_or(self.pending.next);
        self.pending.next = self.pending.next.max(place + 1);
        self.pending.waiting.insert(place, waiting);
    }

    pub(super) fn settle(&mut self, id: &str, outcome: &str) {
        if let Some(place) = self.pending.find(id) {
            self.pending.waiting.remove(&place);
        }
        if self.settled.len() >= NAMED {
            self.settled.pop_front();
        }
        self.settled.push_back(Settled {
            permission_id: short(id),
            outcome: short(outcome),
        });
    }

    /// Whether this answer is to one that waits, and says something that was not said before: a receiver may
    /// repeat it with every answer it gives.
    pub(super) fn is_news(&mut self, answer: &Answer) -> bool {
        let place = self.pending.find(&answer.permission_id);
        let Some(waiting) = place.and_then(|place| self.pending.waiting.get_mut(&place)) else {
            return false;
        };
        if waiting.answered.as_ref() == Some(answer) {
            return false;
        }
        waiting.answered = Some(answer.clone());
        true
    }

    pub(super) fn first(&self) -> First<'_> {
        First(&self.pending, NAMED)
    }

    /// One more than is named tells that there are more.
    pub(super) fn enough_to_restore(&self) -> First<'_> {
        First(&self.pending, NAMED + 1)
    }

    pub(super) fn restored(pending: Vec<Waiting>, settled: Vec<Settled>) -> Self {
        let next = pending.len() as u64;
        Self {
            pending: Pending {
                waiting: (0..next).zip(pending).collect(),
                next,
            },
            settled: settled.into(),
        }
    }

    pub(super) fn settled(&self) -> impl Serialize + '_ {
        &self.settled
    }

    pub(super) fn more_than_named(&self) -> bool {
        self.pending.waiting.len() > NAMED
    }
}

fn short(text: &str) -> String {
    cut(text, TITLE).to_owned()
}
