//! The protocol of 2026-07-28: no handshake, no session.

use http::StatusCode;
use serde_json::{Value, json};

use super::wire::{ACCEPT, Door, Reply, said};
use crate::app::Who;

const VERSION: &str = "2026-07-28";

fn with_meta(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = VERSION.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    params["_meta"]["provost/session"] = "run-1".into();
    params
}

async fn send(door: &Door, method: &str, params: Value) -> Reply {
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let request = door.request(method, &with_meta(params));
    let mut headers = vec![
        ACCEPT,
        ("mcp-protocol-version", VERSION),
        ("mcp-method", method),
    ];
    if !name.is_empty() {
        headers.push(("mcp-name", &name));
    }
    door.post(Who::Agent, &headers, &request).await
}

async fn ask(door: &Door, method: &str, params: Value) -> Value {
    let mut reply = send(door, method, params).await;
    assert_eq!(reply.status, StatusCode::OK);
    if reply.streams() {
        return reply.last().await;
    }
    reply.json().await
}

#[tokio::test]
async fn a_client_discovers_lists_and_calls_without_a_session() {
    let door = Door::open().await;
    let found = ask(&door, "server/discover", json!({})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(VERSION)), "{found}");
    assert_eq!(found["result"]["resultType"], "complete");
    let listed = ask(&door, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["cacheScope"], "private");
    assert_eq!(listed["result"]["ttlMs"], 0);
    let ran = ask(
        &door,
        "tools/call",
        json!({"name": "ok.run", "arguments": {"args": ["b"]}}),
    )
    .await;
    assert_eq!(ran["result"]["resultType"], "complete");
    assert!(!said(&ran).1);
    assert_eq!(door.traces().await[0]["session_id"], "run-1");
}

#[tokio::test]
async fn headers_and_body_must_say_the_same() {
    let door = Door::open().await;
    let call = json!({"name": "ok.run"});
    let request = door.request("tools/call", &with_meta(call.clone()));
    let all = [
        ("mcp-protocol-version", VERSION),
        ("mcp-method", "tools/call"),
        ("mcp-name", "ok.run"),
    ];
    for at in 0..all.len() {
        for wrong in [None, Some((all[at].0, "pay.run"))] {
            let mut headers = all.to_vec();
            headers.remove(at);
            headers.extend(wrong);
            let reply = door.post(Who::Agent, &headers, &request).await;
            assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{headers:?}");
            assert_eq!(reply.json().await["error"]["code"], -32020, "{headers:?}");
        }
    }
    let bare = door.request("tools/call", &call);
    let reply = door.post(Who::Agent, &all, &bare).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    assert_eq!(reply.json().await["error"]["code"], -32602);
    assert_eq!(door.traces().await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_belongs_to_sessions_is_unknown() {
    let door = Door::open().await;
    for method in ["ping", "logging/setLevel", "resources/subscribe", "no/such"] {
        let reply = send(&door, method, json!({})).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{method}");
        assert_eq!(reply.json().await["error"]["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_question_open_and_nothing_runs() {
    let door = Door::open().await;
    let call = json!({"name": "pay.run", "_meta": {"progressToken": 1}});
    let mut reply = send(&door, "tools/call", call.clone()).await;
    assert_eq!(reply.next().await.unwrap()["params"]["progressToken"], 1);
    let pending = door.pending().await;
    drop(reply);
    while door.inside.app.gate.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    door.decide(&pending, "approve", json!({})).await;
    assert!(!said(&ask(&door, "tools/call", call).await).1);
}

#[tokio::test]
async fn the_user_is_asked_by_the_answer_and_the_call_made_again_finds_its_decision() {
    let door = Door::that_asks().await;
    let call = json!({"name": "pay.run", "arguments": {"args": ["1"]}});
    let asked = ask(&door, "tools/call", call.clone()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let form = &asked["inputRequests"]["waiting"];
    assert_eq!(form["method"], "elicitation/create");
    let pending = door.pending().await;
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains(&pending), "{message}");

    let again = |choice: &str, arguments: Value| {
        json!({"name": "pay.run", "arguments": arguments, "requestState": asked["requestState"],
            "inputResponses": {"waiting": {"action": "accept", "content": {"choice": choice}}}})
    };
    let left = ask(&door, "tools/call", again("leave", json!({"args": ["1"]}))).await;
    let (text, failed) = said(&left);
    assert!(failed && text.contains(&pending), "{text}");
    for (state, arguments) in [
        (&asked["requestState"], json!({"args": ["2"]})),
        (&json!("Zm9yZ2Vk"), json!({"args": ["1"]})),
        (&json!(""), json!({"args": ["1"]})),
    ] {
        let mut forged = again("wait", arguments);
        forged["requestState"] = state.clone();
        let said = ask(&door, "tools/call", forged).await;
        assert_eq!(said["error"]["code"], -32602, "{state}");
    }
    door.decide(&pending, "approve", json!({})).await;
    let ran = ask(&door, "tools/call", again("wait", json!({"args": ["1"]}))).await;
    assert!(!said(&ran).1, "{ran}");
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for() {
    let door = Door::open().await;
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["note://nobody"]});
    let mut reply = send(
        &door,
        "subscriptions/listen",
        json!({"notifications": wanted}),
    )
    .await;
    let acknowledged = reply.next().await.unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let params = &acknowledged["params"];
    assert_eq!(params["notifications"], json!({"toolsListChanged": true}));
    door.inside.app.policies_changed();
    let changed = reply.next().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"], params["_meta"]);
    door.inside.app.stop();
    let last = reply.next().await.unwrap();
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(reply.next().await, None);
}
