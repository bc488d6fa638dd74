//! A reporter as the tests start it: like in the product, in more of a hurry.

use std::time::Duration;

use provost_runner::{
    config::{Identity, Secret},
    report::{Backoff, Callback, End, Settings},
};
use serde_json::value::RawValue;

use crate::proof::Proof;

pub(crate) const TOKEN: &str = "tok_5d41402abc4b2a76";
pub(crate) const LONG: Duration = Duration::from_mins(2);

pub(crate) fn proof() -> Proof {
    Proof::new(TOKEN, TOKEN.as_bytes())
}

pub(crate) fn settings(url: String) -> Settings {
    let identity = Identity {
        run_id: "run".to_owned(),
        task_id: "task".to_owned(),
        sandbox_id: "sandbox".to_owned(),
        prompt_id: "prompt-1".to_owned(),
    };
    Settings {
        callback: Some(Callback {
            url,
            token: Secret::new(TOKEN),
            signing_secret: None,
        }),
        deadline: Duration::from_millis(400),
        heartbeat: Duration::from_millis(20),
        backoff: Backoff {
            first: Duration::from_millis(2),
            longest: Duration::from_millis(20),
        },
        ..Settings::new(identity)
    }
}

pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

pub(crate) fn chunk(number: usize) -> String {
    let content = format!(r#"{{"type":"text","text":"{number} "}}"#);
    format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{content}, "n":0.0024000000000000002}}}}"#
    )
}

pub(crate) fn complete() -> End {
    End::Complete {
        stop_reason: "end_turn".to_owned(),
        usage: Some(raw(r#"{"totalTokens":12}"#)),
    }
}
