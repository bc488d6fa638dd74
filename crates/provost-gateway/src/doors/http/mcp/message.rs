//! JSON-RPC 2.0 as MCP speaks it: one message at a time, read into what is acted on. Members that are
//! written twice are refused, so that no message can say one thing to us and another to somebody else.

use provost_core::call::exact_numbers;
use provost_runner::json_error;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// The id of a request: text or a whole number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

#[derive(Debug)]
pub(super) enum Message {
    Request(Request),
    Notification(Notification),
    /// The answer to a request of ours.
    Answer(Answer),
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct Notification {
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: Id,
    /// `None` where it is an error.
    pub(super) result: Option<Value>,
}

/// A JSON-RPC error: the request was wrong, or cannot be served.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) code: i32,
    message: String,
    data: Option<Value>,
}

pub(super) const PARSE: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const METHOD_NOT_FOUND: i32 = -32601;
pub(super) const INVALID_PARAMS: i32 = -32602;
pub(super) const INTERNAL: i32 = -32603;
/// The act is not permitted, where a result has no place to say so.
pub(super) const REFUSED: i32 = -32000;
pub(super) const NO_RESOURCE: i32 = -32002;
pub(super) const HEADER_MISMATCH: i32 = -32020;
pub(super) const UNSUPPORTED_VERSION: i32 = -32022;

#[derive(Deserialize)]
struct Raw {
    jsonrpc: Option<Value>,
    id: Option<Value>,
    method: Option<Value>,
    params: Option<Value>,
    result: Option<Value>,
    error: Option<Value>,
}

impl Fault {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn with(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Where the id could not be read, it is null.
    pub(super) fn answer(&self, id: Option<&Id>) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(data), Some(error)) = (&self.data, error.as_object_mut()) {
            error.insert("data".into(), data.clone());
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

impl Message {
    pub(super) fn read(text: &[u8]) -> Result<Self, Fault> {
        let start = text.trim_ascii_start().first();
        if start == Some(&b'[') {
            let message = "batches are not taken: send one message per request";
            return Err(Fault::new(INVALID_REQUEST, message));
        }
        let broken = |error: serde_json::Error| {
            let code = if error.is_data() {
                INVALID_REQUEST
            } else {
                PARSE
            };
            Fault::new(
                code,
                format!("not a JSON-RPC message: {}", json_error::told(&error)),
            )
        };
        if start != Some(&b'{') {
            // What is no object at all, such as a number, is JSON all the same.
            serde_json::from_slice::<Value>(text).map_err(broken)?;
            return Err(Fault::new(INVALID_REQUEST, "not a JSON-RPC message"));
        }
        let raw: Raw = serde_json::from_slice(&exact_numbers(text)).map_err(broken)?;
        raw.read()
    }
}

impl Raw {
    fn read(self) -> Result<Message, Fault> {
        let invalid = |message: &str| Err(Fault::new(INVALID_REQUEST, message));
        if self.jsonrpc.as_ref().and_then(Value::as_str) != Some("2.0") {
            return invalid("`jsonrpc` is \"2.0\"");
        }
        let id = match self.id {
            None => None,
            Some(id) => match serde_json::from_value(id) {
                Ok(id) => Some(id),
                Err(_) => return invalid("`id` is text or a whole number"),
            },
        };
        match (self.method, id) {
            (Some(Value::String(method)), id) => {
                let params = match self.params {
                    None => Map::new(),
                    Some(Value::Object(params)) => params,
                    Some(_) => return invalid("`params` is an object"),
                };
                Ok(match id {
                    Some(id) => Message::Request(Request { id, method, params }),
                    None => Message::Notification(Notification { method, params }),
                })
            }
            (Some(_), _) => invalid("`method` is text"),
            (None, Some(id)) if self.result.is_some() || self.error.is_some() => {
                let result = self.result;
                Ok(Message::Answer(Answer { id, result }))
            }
            (None, _) => {
                invalid("a message has a `method`, or a `result` or `error` with its `id`")
            }
        }
    }
}

impl Request {
    /// What the client sends along beside the parameters.
    pub(super) fn meta(&self) -> Option<&Map<String, Value>> {
        self.params.get("_meta").and_then(Value::as_object)
    }
}

pub(super) fn read_params<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T, Fault> {
    serde_json::from_value(Value::Object(params)).map_err(|error| {
        let why = json_error::told(&error);
        Fault::params(format!("the parameters do not fit: {why}"))
    })
}

pub(super) fn result(id: &Id, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(super) fn notification(method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let (Some(message), false) = (message.as_object_mut(), params.is_null()) {
        message.insert("params".into(), params);
    }
    message
}

pub(super) fn request(id: &str, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_apart() {
        for (text, code) in [
            ("", PARSE),
            ("{", PARSE),
            ("nonsense", PARSE),
            ("7", INVALID_REQUEST),
            ("[]", INVALID_REQUEST),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                INVALID_REQUEST,
            ),
            ("{}", INVALID_REQUEST),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
                INVALID_REQUEST,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
                INVALID_REQUEST,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
                INVALID_REQUEST,
            ),
        ] {
            let read = Message::read(text.as_bytes());
            assert_eq!(read.map_err(|fault| fault.code).err(), Some(code), "{text}");
        }
    }

    #[test]
    fn messages_are_read() {
        let read = |text: &str| Message::read(text.as_bytes()).unwrap();
        let Message::Request(request) =
            read(r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{"_meta":{"x":1}}}"#)
        else {
            panic!("no request")
        };
        assert_eq!(request.id, Id::Text("a".into()));
        assert_eq!(request.meta().unwrap().get("x"), Some(&json!(1)));
        let notification = read(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(matches!(notification, Message::Notification(_)));
        let Message::Answer(answer) = read(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#) else {
            panic!("no answer")
        };
        assert_eq!((answer.id, answer.result), (Id::Number(7), Some(json!({}))));
        let Message::Answer(answer) = read(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#) else {
            panic!("no answer")
        };
        assert_eq!(answer.result, None);
    }
}
