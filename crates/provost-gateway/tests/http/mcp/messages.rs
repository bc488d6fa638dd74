//! What is no message, no method and no tool.

use http::StatusCode;
use serde_json::{Value, json};

use super::wire::{ACCEPT, Door};
use crate::app::Who;

#[tokio::test]
async fn what_is_no_message_is_refused_and_nothing_is_called() {
    let door = Door::open().await;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok.run"}}"#;
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("hello", -32700),
        ("[]", -32600),
        (&format!("[{call}]"), -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"ok.run"}}"#,
            -32600,
        ),
    ] {
        let reply = door
            .send(Who::Agent, "POST", &[ACCEPT], body.to_owned())
            .await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{body}");
        let said = reply.json().await;
        assert_eq!(said["error"]["code"], code, "{body}: {said}");
        assert_eq!(said["id"], Value::Null);
    }
    assert_eq!(door.traces().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_body_larger_than_the_limit_is_refused() {
    let door = Door::open().await;
    let huge = json!({"text": "x".repeat(2 << 20)}).to_string();
    let reply = door.send(Who::Agent, "POST", &[ACCEPT], huge).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn unknown_methods_tools_and_parameters_are_errors_of_the_protocol() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    for (method, params, code) in [
        ("tools/destroy", json!({}), -32601),
        ("server/discover", json!({}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": "no.such"}), -32602),
        (
            "tools/call",
            json!({"name": "ok.run", "arguments": []}),
            -32602,
        ),
        (
            "tools/call",
            json!({"name": "ok.run", "arguments": {"n": 1e300}}),
            -32602,
        ),
        ("tools/list", json!({"cursor": "??"}), -32602),
    ] {
        let request = door.request(method, &params);
        let said = client.post(&request).await.json().await;
        assert_eq!(said["error"]["code"], code, "{method} {params}: {said}");
    }
    // What wants no answer gets none, and does nothing.
    let told = json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "ok.run"}});
    assert_eq!(client.post(&told).await.status, StatusCode::ACCEPTED);
    // Arguments that fit no tool and tools that nobody has are recorded; nothing else was a call.
    let traces = door.traces().await;
    let verdicts: Vec<_> = traces.iter().map(|trace| &trace["verdict"]).collect();
    assert_eq!(verdicts, ["invalid", "invalid"], "{traces:?}");
}

#[tokio::test]
async fn p18_a_call_of_an_unknown_tool_is_recorded() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let params = json!({"name": "nope.x", "arguments": {"a": 1}});
    let request = door.request("tools/call", &params);
    let said = client.post(&request).await.json().await;
    assert_eq!(said["error"]["message"], "unknown tool `nope.x`");
    let traces = door.traces().await;
    let [trace] = &*traces else {
        panic!("{traces:?}")
    };
    assert_eq!(trace["tool"], "nope.x");
    assert_eq!(trace["verdict"], "invalid");
    assert_eq!(said["error"]["data"]["trace_id"], trace["trace_id"]);
}

#[tokio::test]
async fn foreign_pages_and_strangers_stay_outside() {
    let door = Door::open().await;
    let ping = door.request("ping", &json!({}));
    for (who, header, expected) in [
        (Who::Agent, ("origin", "http://evil.example"), 403),
        (Who::Declared, ("host", "evil.example"), 403),
        (Who::Declared, ("x-forwarded-for", "10.0.0.1"), 401),
        (Who::Stranger, ACCEPT, 401),
        (Who::Agent, ACCEPT, 200),
    ] {
        let reply = door.post(who, &[header], &ping).await;
        assert_eq!(reply.status, expected, "{who:?} {header:?}");
    }
}
