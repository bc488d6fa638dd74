//! One line of MCP over stdio: a JSON-RPC message, read as little as can be. What is not read keeps
//! its meaning and its digits; all is written anew, so that no line can say one thing to us and another to
//! the server.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};

use super::line::Line;

/// What a client sends.
#[derive(Debug)]
pub(super) enum Said {
    /// A tool is to be called.
    Call(Box<Call>),
    /// A request is not wanted any more.
    Cancel { id: Value, line: Line },
    /// Anything else.
    Other(Line),
    /// Nothing that can be passed on; the answer, where one is due.
    Bad(Value),
}

/// `tools/call`.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// With which the client wants to hear of progress.
    pub(super) progress: Option<Value>,
    message: Message,
    params: Params,
}

/// The members of a message, in the order they are written.
#[derive(Debug, Deserialize, Serialize)]
struct Message {
    jsonrpc: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
    /// Whatever newer versions add.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Said {
    pub(super) fn read(line: &str) -> Self {
        let message: Message = match object(line) {
            Ok(message) => message,
            Err(why) => return Self::Bad(failure(&Value::Null, -32700, &why)),
        };
        match (message.method.as_deref(), &message.id) {
            (Some("tools/call"), Some(id)) => {
                let id = id.clone();
                Call::read(id.clone(), message).map_or_else(
                    |why| Self::Bad(failure(&id, -32602, &why)),
                    |call| Self::Call(Box::new(call)),
                )
            }
            // A call that wants no answer could not be told no.
            (Some("tools/call"), None) => {
                Self::Bad(failure(&Value::Null, -32600, "a call needs an id"))
            }
            (Some("notifications/cancelled"), _) => Self::Cancel {
                id: cancelled(&message),
                line: message.line(),
            },
            _ => Self::Other(message.line()),
        }
    }
}

/// A list of the right length would pass for an object.
fn object<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if !text.trim_start().starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn cancelled(message: &Message) -> Value {
    let params = message.params.as_ref();
    let params = params.and_then(|params| serde_json::from_str::<Value>(params.get()).ok());
    params
        .and_then(|params| params.get("requestId").cloned())
        .unwrap_or_default()
}

impl Message {
    fn line(&self) -> Line {
        Line::new(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl Call {
    fn read(id: Value, message: Message) -> Result<Self, String> {
        let params = message.params.as_ref().ok_or("a call needs params")?;
        let mut params: Params = object(params.get())?;
        let progress = params.meta.as_ref();
        let progress = progress.and_then(|meta| meta.get("progressToken").cloned());
        Ok(Self {
            id,
            tool: params.name.clone(),
            arguments: params.arguments.take().unwrap_or_default(),
            progress,
            message,
            params,
        })
    }

    /// The line for the server, with these arguments.
    pub(super) fn line(mut self, arguments: Map<String, Value>) -> Line {
        self.params.arguments = Some(arguments);
        self.message.params = serde_json::value::to_raw_value(&self.params).ok();
        self.message.line()
    }
}

/// A no, in words that a model can act on.
pub(super) fn refusal(id: &Value, reason: &str) -> Value {
    let content = json!([{ "type": "text", "text": reason }]);
    json!({ "jsonrpc": "2.0", "id": id, "result": { "content": content, "isError": true } })
}

pub(super) fn progress(token: &Value, count: u64) -> Value {
    let params = json!({
        "progressToken": token,
        "progress": count,
        "message": "waiting for a decision",
    });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_and_written_anew() {
        let line = r#"{"id":7,"method":"tools/call","jsonrpc":"2.0","params":{"name":"read",
            "_meta":{"progressToken":"p"},"arguments":{"a":1},"new":true}}"#;
        let Said::Call(call) = Said::read(line) else {
            panic!("{:?}", Said::read(line))
        };
        assert_eq!((&*call.tool, &call.id), ("read", &json!(7)));
        assert_eq!(call.progress, Some(json!("p")));
        assert_eq!(Value::Object(call.arguments.clone()), json!({"a": 1}));
        let other = Map::from_iter([("a".to_owned(), json!(2))]);
        let written: Value = serde_json::from_str(call.line(other).as_str()).unwrap();
        assert_eq!(
            written["params"],
            json!({"name": "read", "arguments": {"a": 2}, "_meta": {"progressToken": "p"}, "new": true})
        );
    }

    #[test]
    fn the_rest_is_passed_on_and_nothing_hides_in_it() {
        let line = r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"n":1e400,"m":12345678901234567890123}}"#;
        let Said::Other(passed) = Said::read(line) else {
            panic!()
        };
        assert!(
            passed
                .as_str()
                .contains(r#""params":{"n":1e400,"m":12345678901234567890123}"#)
        );
        let line =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let Said::Cancel { id, .. } = Said::read(line) else {
            panic!()
        };
        assert_eq!(id, json!(7));
        for bad in [
            "",
            "{",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
        ] {
            let said = Said::read(bad);
            assert!(matches!(said, Said::Bad(_)), "{bad}: {said:?}");
        }
    }
}
