//! Why the agent is not driven any further, and what that is called where it is told.

use serde_json::{Value, json, value::RawValue};

use super::ending::{MODE_CHANGED, Outcome, SERVER_ERROR, UNSUPERVISED};
use crate::{acp::RpcError, meter::Breach};

/// Why the agent is not driven any further.
#[derive(Debug)]
pub enum Stop {
    /// It answered the prompt.
    Complete {
        reason: String,
        /// As the agent wrote it.
        usage: Option<Box<RawValue>>,
    },
    Breach(Breach),
    /// Somebody said so: who and why.
    Told(String),
    /// Whoever receives the reports does not know us.
    Unauthorized,
    /// It closed its output.
    Exited,
    Refused {
        method: &'static str,
        error: RpcError,
    },
    Failed {
        code: &'static str,
        message: String,
        data: Value,
    },
    /// The prompt was not sent, because something that it wants could not be set. The session stays.
    NotSent {
        code: &'static str,
        message: String,
        data: Value,
    },
}

/// What a failure is called, and told as.
pub(super) struct Why {
    pub(super) name: &'static str,
    /// The agent's own, where it gave one.
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Value,
}

impl Stop {
    pub(super) fn protocol(what: &str, problem: impl Into<String>) -> Self {
        Self::Failed {
            code: "protocol_error",
            message: format!("{what}: {}", problem.into()),
            data: Value::Null,
        }
    }

    /// Of something that the agent refused to set before a prompt.
    pub(super) fn not_sent(self) -> Self {
        match self {
            Self::Failed {
                code,
                message,
                data,
            } => Self::NotSent {
                code,
                message,
                data,
            },
            Self::Refused { method, error } => Self::NotSent {
                code: "agent_error",
                message: format!("the agent refused `{method}`: {error}"),
                data: json!(error),
            },
            stop => stop,
        }
    }

    /// Whether the agent can be given another prompt.
    pub(super) fn leaves_session(&self) -> bool {
        match self {
            Self::Complete { .. } | Self::NotSent { .. } => true,
            Self::Refused { method, .. } => *method == "session/prompt",
            _ => false,
        }
    }

    /// Whether the agent's answer to the prompt does not count, because of what is found afterwards. That it ended,
    /// was stopped or spent too much by then does not matter any more.
    pub(super) fn outweighs_answer(&self) -> bool {
        match self {
            Self::Unauthorized => true,
            Self::Failed { code, .. } => [UNSUPERVISED, MODE_CHANGED].contains(code),
            _ => false,
        }
    }

    pub(super) fn why(&self) -> Option<Why> {
        let why = |name, message: String, data| Why {
            name,
            code: match self {
                Self::Refused { error, .. } => error.code,
                _ => SERVER_ERROR,
            },
            message,
            data,
        };
        Some(match self {
            Self::Complete { .. } | Self::Unauthorized => return None,
            Self::Breach(breach) => why(
                "limit_exceeded",
                breach.to_string(),
                json!({"limit": breach.limit, "allowed": breach.allowed, "used": breach.used}),
            ),
            Self::Told(by) => why("stopped", by.clone(), Value::Null),
            Self::Exited => why(
                "agent_exited",
                "the agent ended before it answered".to_owned(),
                Value::Null,
            ),
            Self::Refused { method, error } => why(
                "agent_error",
                format!("the agent refused `{method}`: {error}"),
                json!(error),
            ),
            Self::Failed {
                code,
                message,
                data,
            }
            | Self::NotSent {
                code,
                message,
                data,
            } => why(code, message.clone(), data.clone()),
        })
    }
}

impl Why {
    pub(super) fn outcome(self) -> Outcome {
        Outcome::Failed {
            reason: self.name.to_owned(),
            message: self.message,
        }
    }
}
