//! JSON-RPC, taken apart no further than needed: parameters and results stay the text they were.

use std::fmt;

use serde::{
    Deserialize, Serialize,
    de::{Deserializer, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

const LONGEST_DETAILS: usize = 500;

#[derive(Debug)]
pub enum Message {
    Request {
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    Response {
        id: u64,
        result: Result<Option<Box<RawValue>>, RpcError>,
    },
    /// Something that is no message: a warning of a runtime, half a line, an answer to nothing of ours.
    Noise,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}{} ({code})", self.details())]
pub struct RpcError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// What many agents mean stands here: their message is "Internal error".
    fn details(&self) -> String {
        let details = self.data.as_ref().and_then(|data| data.get("details"));
        let details = details.and_then(Value::as_str).unwrap_or_default();
        let details: String = details.chars().take(LONGEST_DETAILS).collect();
        if details.is_empty() {
            return details;
        }
        format!(": {details}")
    }
}

impl Message {
    pub fn parse(line: &str) -> Self {
        match serde_json::from_str::<Parts>(line) {
            Ok(parts) => parts.message(),
            Err(_) => Self::Noise,
        }
    }
}

/// The members of a message. Of one that stands there twice the last counts, as in the languages that agents
/// and editors are written in.
#[derive(Default)]
struct Parts {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

impl Parts {
    fn message(self) -> Message {
        let id = self.id.filter(|id| id.get() != "null");
        match (self.method, id) {
            (Some(method), Some(id)) => Message::Request {
                id,
                method,
                params: self.params,
            },
            (Some(method), None) => Message::Notification {
                method,
                params: self.params,
            },
            (None, Some(id)) => match id.get().parse() {
                Ok(id) => Message::Response {
                    id,
                    result: outcome(self.result, self.error),
                },
                Err(_) => Message::Noise,
            },
            (None, None) => Message::Noise,
        }
    }
}

fn outcome(
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
) -> Result<Option<Box<RawValue>>, RpcError> {
    match error.filter(|error| error.get() != "null") {
        None => Ok(result),
        Some(error) => Err(serde_json::from_str(error.get())
            .unwrap_or_else(|_| RpcError::new(-32603, error.get().to_owned()))),
    }
}

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts, A::Error> {
        let mut parts = Parts::default();
        while let Some(name) = map.next_key::<std::borrow::Cow<'_, str>>()? {
            match &*name {
                "id" => parts.id = Some(map.next_value()?),
                "method" => parts.method = Some(map.next_value()?),
                "params" => parts.params = Some(map.next_value()?),
                "result" => parts.result = Some(map.next_value()?),
                "error" => parts.error = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(parts)
    }
}

#[derive(Serialize)]
struct Out<'a, P: Serialize> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

pub(crate) fn request(id: u64, method: &str, params: impl Serialize) -> String {
    line(&Out {
        jsonrpc: "2.0",
        id: Some(id),
        method,
        params,
    })
}

pub(crate) fn notification(method: &str, params: impl Serialize) -> String {
    line(&Out {
        jsonrpc: "2.0",
        id: None,
        method,
        params,
    })
}

pub(crate) fn response(id: &RawValue, result: &Result<Value, RpcError>) -> String {
    #[derive(Serialize)]
    struct Answer<'a> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    line(&Answer {
        jsonrpc: "2.0",
        id,
        result: result.as_ref().ok(),
        error: result.as_ref().err(),
    })
}

/// What we say has no keys but texts, and so can always be written.
fn line(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stay_as_they_were() {
        let raw = r#"{ "n": 12345678901234567890123, "f":0.0024000000000000002, "a":1, "a":2, "u":"\u00e9" }"#;
        let line = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params": {raw} }}"#);
        let Message::Notification { method, params } = Message::parse(&line) else {
            panic!()
        };
        assert_eq!((&*method, params.unwrap().get()), ("session/update", raw));
    }

    #[test]
    fn an_error_says_what_is_meant() {
        let mut error = RpcError::new(-32603, "Internal error");
        assert_eq!(error.to_string(), "Internal error (-32603)");
        error.data = Some(serde_json::json!({"details": "no such session"}));
        assert_eq!(
            error.to_string(),
            "Internal error: no such session (-32603)"
        );
    }

    #[test]
    fn messages_and_noise() {
        let kind = |line: &str| match Message::parse(line) {
            Message::Request { id, .. } => format!("request {id}"),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, result } => match result {
                Ok(result) => format!(
                    "{id}: {}",
                    result.map_or("nothing".into(), |r| r.to_string())
                ),
                Err(error) => format!("{id}: {} {}", error.code, error.message),
            },
            Message::Noise => "noise".to_owned(),
        };
        for (line, expected) in [
            (r#"{"id":"x","method":"m"}"#, "request \"x\""),
            (r#"{"id":0,"method":"m","extra":[1]}"#, "request 0"),
            (r#"{"id":null,"method":"m"}"#, "notification m"),
            (r#"{"id":3,"result":{"a": 1}}"#, r#"3: {"a": 1}"#),
            (r#"{"id":3,"result":null}"#, "3: null"),
            (r#"{"id":3}"#, "3: nothing"),
            (
                r#"{"id":3,"error":{"code":-32000,"message":"no"}}"#,
                "3: -32000 no",
            ),
            (r#"{"id":3,"error":"odd"}"#, r#"3: -32603 "odd""#),
            (r#"{"id":"3","result":1}"#, "noise"),
            (r#"{"method":"a","method":"b"}"#, "notification b"),
            (r#"{"method":7}"#, "noise"),
            ("npm warn deprecated", "noise"),
            ("[1,2]", "noise"),
            ("", "noise"),
            (r#"{"method":"m","params":{"half"#, "noise"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }
}
