//! The words of a script for the agent of `examples/scripted.rs`. They are texts, because what stands in an
//! update must reach the agent as it is written.

use std::path::Path;

use serde_json::{Value, json};

pub(crate) const END_TURN: &str = r#"{"stopReason":"end_turn"}"#;

/// What follows a request.
#[derive(Clone, Default)]
pub(crate) struct Reply(Vec<String>);

impl Reply {
    pub(crate) fn steps(self, steps: &[String]) -> Self {
        self.with("steps", &list(steps))
    }

    pub(crate) fn result(self, result: &str) -> Self {
        self.with("result", result)
    }

    pub(crate) fn error(self, message: &str) -> Self {
        let error = json!({"code": -32000, "message": message});
        self.with("error", &error.to_string())
    }

    /// After the answer.
    pub(crate) fn after(self, steps: &[String]) -> Self {
        self.with("after", &list(steps))
    }

    fn with(mut self, name: &str, text: &str) -> Self {
        self.0.push(format!("\"{name}\":{text}"));
        self
    }

    pub(crate) fn text(&self) -> String {
        format!("{{{}}}", self.0.join(","))
    }
}

/// Steps, and the end of the turn.
pub(crate) fn turn(steps: &[String]) -> Reply {
    Reply::default().steps(steps).result(END_TURN)
}

/// Steps, and no answer.
pub(crate) fn unanswered(steps: &[String]) -> Reply {
    Reply::default().steps(steps)
}

fn list(steps: &[String]) -> String {
    format!("[{}]", steps.join(","))
}

pub(crate) fn step(name: &str, what: impl Into<Value>) -> String {
    json!({ name: what.into() }).to_string()
}

pub(crate) fn update(params: &str) -> String {
    format!("{{\"update\":{params}}}")
}

pub(crate) fn says(text: &str) -> String {
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    update_of(&update)
}

pub(crate) fn update_of(update: &Value) -> String {
    self::update(&json!({"sessionId": "s", "update": update}).to_string())
}

pub(crate) fn bytes(name: &str, bytes: &[u8]) -> String {
    step(name, bytes.to_vec())
}

pub(crate) fn flood(count: usize, size: usize) -> String {
    step("flood", json!({"count": count, "size": size}))
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    let id = id.into();
    step(
        "request",
        json!({"id": id, "method": method, "params": params}),
    )
}

pub(crate) fn asks(id: impl Into<Value>) -> String {
    request(id, "session/request_permission", &question())
}

/// A permission, with its options in no helpful order.
pub(crate) fn question() -> Value {
    json!({
        "sessionId": "s",
        "toolCall": {"toolCallId": "call", "title": "rm -rf build", "kind": "execute",
            "rawInput": {"command": "rm -rf build"}},
        "options": [
            {"optionId": "no", "name": "No", "kind": "reject_once"},
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        ],
    })
}

pub(crate) fn file(path: &Path) -> String {
    step("file", path.to_str().unwrap())
}

pub(crate) fn child(line: &str, pid: &Path) -> String {
    step("child", json!({"line": line, "pid": pid}))
}
