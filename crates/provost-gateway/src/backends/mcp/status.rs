//! A server and its tools as people see them.

use provost_core::{call::Digest, ports::ToolPin, time::Time};
use serde::Serialize;
use serde_json::Value;

use super::Definition;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    Up,
    #[default]
    Starting,
    Down,
}

/// How it is, for people.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub name: String,
    pub transport: &'static str,
    pub status: Phase,
    pub since: Time,
    pub restarts: u64,
    /// How many may be called.
    pub tools: usize,
    /// Those that changed and wait for a person.
    pub held: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// What went wrong last, in one line; it may be over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What of its list of tools is not served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Status {
    /// Without what servers themselves said.
    #[must_use]
    pub fn for_agents(self) -> Self {
        Self {
            last_error: None,
            warnings: Vec::new(),
            ..self
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    Trusted,
    Held,
}

/// A tool with what it says of itself, and said when it was trusted.
#[derive(Clone, Debug, Serialize)]
pub struct ToolView {
    pub name: String,
    pub tool: String,
    pub state: ToolState,
    pub digest: Digest,
    pub definition: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_digest: Option<Digest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_definition: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_at: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted_by: Option<String>,
}

impl ToolView {
    pub(super) fn of(tool: &Definition, pin: Option<&ToolPin>) -> Self {
        Self {
            name: tool.name.clone(),
            tool: tool.tool.clone(),
            state: if pin.is_some() {
                ToolState::Held
            } else {
                ToolState::Trusted
            },
            digest: tool.digest,
            definition: tool.pinned(),
            trusted_digest: pin.map(|pin| pin.digest),
            trusted_definition: pin.and_then(|pin| serde_json::from_str(&pin.definition).ok()),
            trusted_at: pin.map(|pin| pin.at),
            trusted_by: pin.and_then(|pin| pin.by.clone()),
        }
    }
}
