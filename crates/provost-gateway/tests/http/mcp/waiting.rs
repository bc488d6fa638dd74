//! Calls that wait for somebody.

use http::StatusCode;
use serde_json::{Value, json};

use super::wire::{Client, Door, Reply, said};
use crate::app::Who;

fn forms() -> Value {
    json!({"elicitation": {}})
}

#[tokio::test]
async fn a_waiting_call_sends_signs_of_life_and_runs_when_it_is_approved() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (id, mut reply) = client.begin("pay.run", json!({"args": ["seven"]})).await;
    let sign = reply.next().await.unwrap();
    assert_eq!(sign["method"], "notifications/progress");
    assert_eq!(sign["params"]["progressToken"], "p");
    assert_eq!(sign["params"]["progress"], 1.0);
    let pending = door.pending().await;
    let message = sign["params"]["message"].as_str().unwrap();
    assert!(message.contains(&pending), "{message}");
    door.decide(&pending, "approve", json!({})).await;
    let last = reply.last().await;
    assert_eq!(last["id"], id);
    let (text, failed) = said(&last);
    assert!(text.contains("seven") && !failed, "{text}");
    assert_eq!(reply.next().await, None, "nothing follows the answer");
}

#[tokio::test]
async fn a_denial_and_a_change_are_told_in_words() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (_, mut reply) = client.begin("pay.run", json!({"args": ["1"]})).await;
    let no = json!({"reasoning": "too dear"});
    door.decide(&door.pending().await, "deny", no).await;
    let (text, failed) = said(&reply.last().await);
    assert!(
        failed && text.contains("too dear") && text.contains("alice"),
        "{text}"
    );

    let (_, mut reply) = client.begin("pay.run", json!({"args": ["1000"]})).await;
    let changed = json!({"arguments": {"args": ["10"]}});
    door.decide(&door.pending().await, "approve", changed).await;
    let (text, failed) = said(&reply.last().await);
    assert!(!failed && text.contains("changed its arguments"), "{text}");
    assert!(text.contains(r#"{"args":["10"]}"#), "{text}");
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_never_runs() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (id, mut reply) = client.begin("pay.run", json!({})).await;
    let pending = door.pending().await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    assert_eq!(client.post(&cancel).await.status, StatusCode::ACCEPTED);
    while let Some(message) = reply.next().await {
        assert_eq!(message["method"], "notifications/progress", "{message}");
    }
    door.decide(&pending, "approve", json!({})).await;
    let path = format!("/approvals/{pending}");
    let approval = door.inside.ask(Who::Human, "GET", &path, Value::Null).await;
    assert_eq!(approval.body["answered_at"], Value::Null, "nobody took it");
    // The same call, made again, takes the decision.
    assert!(!client.call("pay.run", json!({})).await.1);
}

#[tokio::test]
async fn one_id_is_one_request() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (id, _reply) = client.begin("pay.run", json!({})).await;
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let said = client.post(&again).await.json().await;
    assert_eq!(said["error"]["code"], -32600);
}

/// A call that waits, and the form that offers not to.
async fn offered(client: &Client<'_>, arguments: Value) -> (Reply, Value) {
    let (_, mut reply) = client.begin("pay.run", arguments).await;
    let form = reply.last().await;
    assert_eq!(form["method"], "elicitation/create", "{form}");
    (reply, form)
}

async fn choose(client: &Client<'_>, form: &Value, result: Value) {
    let answer = json!({"jsonrpc": "2.0", "id": form["id"], "result": result});
    assert_eq!(client.post(&answer).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn the_user_may_leave_a_call_pending_and_never_approves_it() {
    let door = Door::that_asks().await;
    let client = door.client_with(Who::Agent, "2025-06-18", forms()).await;
    let (mut reply, form) = offered(&client, json!({"args": ["1"]})).await;
    let pending = door.pending().await;
    let message = form["params"]["message"].as_str().unwrap();
    assert!(message.contains(&pending), "{message}");
    let choice = json!({"action": "accept", "content": {"choice": "approve"}});
    choose(&client, &form, choice).await;
    let (text, failed) = said(&reply.last().await);
    assert!(failed && text.contains(&pending), "{text}");
    assert_eq!(door.pending().await, pending, "it still waits");
    door.decide(&pending, "approve", json!({})).await;
    assert!(!client.call("pay.run", json!({"args": ["1"]})).await.1);
}

#[tokio::test]
async fn the_user_may_keep_waiting_and_a_decision_withdraws_the_form() {
    let door = Door::that_asks().await;
    let client = door.client_with(Who::Agent, "2025-11-25", forms()).await;
    let (mut reply, form) = offered(&client, json!({"args": ["1"]})).await;
    let wait = json!({"action": "accept", "content": {"choice": "wait"}});
    choose(&client, &form, wait).await;
    door.decide(&door.pending().await, "approve", json!({}))
        .await;
    assert!(!said(&reply.last().await).1);

    let (mut reply, form) = offered(&client, json!({"args": ["2"]})).await;
    door.decide(&door.pending().await, "approve", json!({}))
        .await;
    let withdrawn = reply.last().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], form["id"]);
    assert!(!said(&reply.last().await).1);
}

#[tokio::test]
async fn who_cannot_show_a_form_is_not_asked() {
    let door = Door::that_asks().await;
    for (version, can) in [("2025-06-18", json!({})), ("2024-11-05", forms())] {
        let client = door.client_with(Who::Agent, version, can).await;
        let (_, mut reply) = client.begin("pay.run", json!({"args": [version]})).await;
        door.decide(&door.pending().await, "approve", json!({}))
            .await;
        assert!(!said(&reply.last().await).1, "{version}");
    }
}
