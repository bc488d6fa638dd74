//! How a run ended, as far as its journal knows.

use provost_runner::report::{End, Failure};
use serde::Deserialize;
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

/// JSON-RPC's, for whatever has no other.
const SERVER_ERROR: i64 = -32000;

/// From the agent's answer to the prompt.
pub(super) fn answered(result: &RawValue) -> Option<End> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Answer {
        stop_reason: String,
        usage: Option<Box<RawValue>>,
    }
    let answer: Answer = serde_json::from_str(result.get()).ok()?;
    Some(End::Complete {
        stop_reason: answer.stop_reason,
        usage: answer.usage,
    })
}

/// From the run's last line, where it says that it failed.
pub(super) fn failed(ended: &RawValue) -> Option<End> {
    #[derive(Deserialize)]
    struct Ended {
        state: String,
        #[serde(default)]
        reason: String,
        #[serde(default)]
        message: String,
    }
    let ended: Ended = serde_json::from_str(ended.get()).ok()?;
    if ended.state != "failed" {
        return None;
    }
    let message = if ended.message.is_empty() {
        ended.reason.clone()
    } else {
        ended.message
    };
    Some(End::Failed(Failure {
        code: SERVER_ERROR,
        message,
        data: to_raw_value(&json!({"reason": ended.reason})).ok(),
        ..Failure::default()
    }))
}
