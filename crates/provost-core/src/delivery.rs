//! A delivery: one copy of an approval on one channel, and what is still to be done with it. It is written in
//! the transaction that makes the approval, so none is lost; what a restart interrupts is done again.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ApprovalId, DeliveryId};

#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Random, and known to nobody but those it was sent to: buttons and links carry it.
    pub id: DeliveryId,
    pub approval_id: ApprovalId,
    pub plan: Plan,
    /// Where it is, once it was shown.
    pub shown: Option<Shown>,
    /// How often it was tried in vain since it last succeeded.
    pub attempts: u32,
}

/// What is to be delivered, where and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The channel's name, such as `telegram`.
    pub channel: Arc<str>,
    /// As that channel addresses people.
    pub address: Value,
    /// Whom of `people` it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Arc<str>>,
    pub purpose: Purpose,
    /// How long after the question became a person's.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub after: Duration,
}

impl Plan {
    /// A part of the address that is text, or nothing.
    pub fn text(&self, name: &str) -> &str {
        let part = self.address.get(name);
        part.and_then(Value::as_str).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Shows the question, and later its end.
    Ask,
    /// Asks somebody again who was asked before.
    Remind,
    /// Tells only the end.
    Callback,
}

/// What a channel needs to find its message again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// By this a reply finds its delivery: unique within the channel.
    pub key: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
}
