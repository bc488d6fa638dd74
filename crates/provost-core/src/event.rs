//! What happened, in order: the feed behind `GET /events` and the wake-up of waiting callers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    approval::{Level, Status},
    ids::{ApprovalId, GrantId},
    time::Time,
};

/// An event never carries arguments, so nothing in it needs redaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Event {
    #[serde(rename = "approval.created")]
    ApprovalCreated(About),
    #[serde(rename = "approval.claimed")]
    ApprovalClaimed(About),
    #[serde(rename = "approval.escalated")]
    ApprovalEscalated(About),
    /// One of several people approved.
    #[serde(rename = "approval.counted")]
    ApprovalCounted(About),
    #[serde(rename = "approval.resolved")]
    ApprovalResolved(About),
    #[serde(rename = "grant.created")]
    GrantCreated { grant_id: GrantId, by: String },
    #[serde(rename = "grant.revoked")]
    GrantRevoked { grant_id: GrantId, by: String },
    #[serde(rename = "stop")]
    Stopped { scope: String, by: String },
    #[serde(rename = "resume")]
    Resumed { scope: String, by: String },
    #[serde(rename = "keys.changed")]
    KeysChanged { name: String },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub approval_id: ApprovalId,
    pub agent_id: Arc<str>,
    pub tool: Arc<str>,
    pub level: Level,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Event {
    /// The `event:` line of the feed.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ApprovalCreated(_) => "approval.created",
            Self::ApprovalClaimed(_) => "approval.claimed",
            Self::ApprovalEscalated(_) => "approval.escalated",
            Self::ApprovalCounted(_) => "approval.counted",
            Self::ApprovalResolved(_) => "approval.resolved",
            Self::GrantCreated { .. } => "grant.created",
            Self::GrantRevoked { .. } => "grant.revoked",
            Self::Stopped { .. } => "stop",
            Self::Resumed { .. } => "resume",
            Self::KeysChanged { .. } => "keys.changed",
        }
    }

    pub fn about(&self) -> Option<&About> {
        match self {
            Self::ApprovalCreated(about)
            | Self::ApprovalClaimed(about)
            | Self::ApprovalEscalated(about)
            | Self::ApprovalCounted(about)
            | Self::ApprovalResolved(about) => Some(about),
            _ => None,
        }
    }

    /// Whether grants, stops or keys changed, so that a cached copy of them is old.
    pub fn changes_control(&self) -> bool {
        self.about().is_none()
    }
}

/// An event with its place in the feed. Places are gapless and ascend in the order of commits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbered {
    pub id: u64,
    pub at: Time,
    #[serde(flatten)]
    pub event: Event,
}
