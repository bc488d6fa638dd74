//! What must be known of a line to send it on: nothing more is read in it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::HeaderValue;
use serde_json::{Value, json};

const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

pub(super) struct Line {
    pub(super) text: String,
    /// Of a request: it is answered.
    pub(super) id: Option<Value>,
    pub(super) method: String,
    /// What is not wanted any more.
    pub(super) cancels: Option<Value>,
    /// In the stateless protocol, whose requests say the same in their headers.
    headers: Vec<(&'static str, HeaderValue)>,
}

impl Line {
    /// `Err`: the answer to what is no message.
    pub(super) fn read(text: &str) -> Result<Self, Value> {
        let message: Value = serde_json::from_str(text).map_err(|error| {
            let message = format!("not a JSON-RPC message: {error}");
            failure(&Value::Null, -32700, &message)
        })?;
        let member = |name: &str| message.get(name).cloned().unwrap_or_default();
        let method = member("method").as_str().unwrap_or_default().to_owned();
        let params = member("params");
        let cancels = (method == "notifications/cancelled")
            .then(|| params.get("requestId").cloned())
            .flatten();
        Ok(Self {
            text: text.to_owned(),
            id: Some(member("id")).filter(|id| !id.is_null() && !method.is_empty()),
            headers: headers(&method, &params),
            method,
            cancels,
        })
    }

    pub(super) fn is_stateless(&self) -> bool {
        !self.headers.is_empty()
    }

    pub(super) fn headers(&self) -> &[(&'static str, HeaderValue)] {
        &self.headers
    }

    /// The error that tells the client why there is no answer.
    pub(super) fn failed(&self, why: &str) -> Option<Value> {
        let id = self.id.as_ref()?;
        Some(failure(id, -32000, why))
    }
}

fn headers(method: &str, params: &Value) -> Vec<(&'static str, HeaderValue)> {
    let version = params.pointer(&format!("/_meta/{}", VERSION_META.replace('/', "~1")));
    let Some(version) = version.and_then(Value::as_str) else {
        return Vec::new();
    };
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    let name = name.and_then(Value::as_str).map(wrapped);
    let given = [
        ("mcp-protocol-version", Some(version.to_owned())),
        ("mcp-method", Some(method.to_owned())),
        ("mcp-name", name),
    ];
    given
        .into_iter()
        .filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value?).ok()?)))
        .collect()
}

/// Text that is no header's is sent as `=?base64?…?=`.
fn wrapped(text: &str) -> String {
    let plain = text.trim() == text
        && text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && !text.starts_with("=?base64?");
    if plain {
        return text.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(text))
}

fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_for_what_is_needed() {
        let line = Line::read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
        assert_eq!((line.id, &*line.method), (Some(json!(1)), "ping"));
        let told =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
        let line = Line::read(told).unwrap();
        assert_eq!(
            (line.id.clone(), line.cancels.clone()),
            (None, Some(json!("a")))
        );
        assert!(!line.is_stateless());
        let answer = Line::read(r#"{"jsonrpc":"2.0","id":"provost-1","result":{}}"#).unwrap();
        assert_eq!(answer.id, None, "an answer is not answered");
        assert_eq!(Line::read("{").err().unwrap()["error"]["code"], -32700);
    }

    #[test]
    fn stateless_lines_get_their_headers() {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "fs.läs", "_meta": {VERSION_META: "2026-07-28"}}});
        let line = Line::read(&line.to_string()).unwrap();
        let headers: Vec<_> = line
            .headers()
            .iter()
            .map(|(name, value)| (*name, value.to_str().unwrap()))
            .collect();
        let expected = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?ZnMubMOkcw==?="),
        ];
        assert_eq!(headers, expected);
    }
}
