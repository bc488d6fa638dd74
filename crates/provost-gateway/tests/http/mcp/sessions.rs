//! Versions with `initialize`, and whose a session is.

use http::StatusCode;
use serde_json::{Value, json};

use super::wire::{ACCEPT, Door, said};
use crate::app::Who;

#[tokio::test]
async fn every_version_with_a_session_is_spoken() {
    let door = Door::open().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = door.client(Who::Agent, version).await;
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
        let listed = client.ask("tools/list", json!({})).await;
        assert_eq!(listed["result"]["resultType"], Value::Null, "{version}");
        let ran = client.call("ok.run", json!({"args": ["hi"]})).await;
        assert!(ran.0.contains("hi") && !ran.1, "{version}: {ran:?}");
    }
    let hello = json!({"protocolVersion": "1999-01-01", "capabilities": {}});
    let hello = door.request("initialize", &hello);
    let said = door.post(Who::Agent, &[ACCEPT], &hello).await.json().await;
    assert_eq!(said["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(said["result"]["serverInfo"]["name"], "provost");
}

#[tokio::test]
async fn a_session_belongs_to_the_key_that_opened_it_and_can_be_ended() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let list = door.request("tools/list", &json!({}));
    let headers = client.headers();
    for who in [Who::Declared, Who::Human, Who::Admin, Who::Nobody] {
        for method in ["POST", "GET", "DELETE"] {
            let reply = door.send(who, method, &headers, list.to_string()).await;
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{who:?} {method}");
        }
    }
    let unknown = [ACCEPT, ("mcp-session-id", "mcp-0")];
    let reply = door.post(Who::Agent, &unknown, &list).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
    let reply = door.send(Who::Agent, "GET", &[ACCEPT], "").await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);

    let mut stream = door.send(Who::Agent, "GET", &headers, "").await;
    assert!(stream.streams());
    let ended = door.send(Who::Agent, "DELETE", &headers, "").await;
    assert_eq!(ended.status, StatusCode::NO_CONTENT);
    assert_eq!(stream.next().await, None, "its stream ends with it");
    let reply = client.post(&list).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_version_nobody_knows_is_refused() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let headers = [
        ACCEPT,
        ("mcp-session-id", &*client.session),
        ("mcp-protocol-version", "1999-01-01"),
    ];
    let list = door.request("tools/list", &json!({}));
    let reply = door.post(Who::Agent, &headers, &list).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert_eq!(reply.json().await["error"]["code"], -32022);
}

#[tokio::test]
async fn a_call_is_traced_as_this_doors_and_a_grant_for_the_session_holds_in_it_alone() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-11-25").await;
    client.call("ok.run", json!({})).await;
    let trace = &door.traces().await[0];
    assert_eq!(trace["door"], "mcp");
    assert_eq!(trace["session_id"], client.session.as_str());
    assert_eq!(trace["agent_id"], "claude");

    let grant = json!({"agent": "claude", "tools": "pay.*", "duration": "1m",
        "session_id": client.session});
    let made = door.inside.ask(Who::Admin, "POST", "/grants", grant).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let (text, failed) = client.call("pay.run", json!({"args": ["granted"]})).await;
    assert!(text.contains("granted") && !failed, "{text}");
    let other = door.client(Who::Agent, "2025-11-25").await;
    let (_, mut waiting) = other.begin("pay.run", json!({"args": ["asked"]})).await;
    door.decide(&door.pending().await, "deny", json!({})).await;
    assert!(said(&waiting.last().await).1);
}

#[tokio::test]
async fn clients_that_know_no_sessions_are_answered_one_request_at_a_time() {
    let door = Door::open().await;
    let call = door.request(
        "tools/call",
        &json!({"name": "ok.run", "arguments": {"args": ["b"]}}),
    );
    let headers = [("x-session-id", "run-7")];
    let reply = door.post(Who::Declared, &headers, &call).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert!(said(&reply.json().await).0.contains('b'));
    assert_eq!(door.traces().await[0]["session_id"], "run-7");
}
