//! How a run ended, as far as its journal knows.

use provost_runner::report::{End, Failure};
use serde::Deserialize;
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

/// JSON-RPC's, for whatever has no other.
const SERVER_ERROR: i64 = -32000;

/// From the terminal report itself. Its parts stay the text they were.
pub(super) fn reported(body: &RawValue) -> Option<End> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Body {
        stop_reason: Option<String>,
        usage: Option<Box<RawValue>>,
        error: Option<Fault>,
        exit_code: Option<i32>,
        signal: Option<i32>,
        stderr_tail: Option<String>,
    }
    #[derive(Deserialize)]
    struct Fault {
        code: i64,
        message: String,
        data: Option<Box<RawValue>>,
    }
    let body: Body = serde_json::from_str(body.get()).ok()?;
    if let Some(fault) = body.error {
        return Some(End::Failed(Failure {
            code: fault.code,
            message: fault.message,
            data: fault.data,
            exit_code: body.exit_code,
            signal: body.signal,
            stderr_tail: body.stderr_tail,
        }));
    }
    Some(End::Complete {
        stop_reason: body.stop_reason?,
        usage: body.usage,
    })
}

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
