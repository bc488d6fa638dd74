//! The tools of those who decide.

use serde_json::{Value, json};

use super::wire::{Client, Door, said};
use crate::app::Who;

const READING: [&str; 2] = ["grant.list", "mesh.catalog"];
const DECIDING: [&str; 2] = ["approval.pending", "approval.resolve"];
const REVOKING: [&str; 1] = ["grant.revoke"];
const STEERING: [&str; 2] = ["grant.create", "grant.revoke"];

#[tokio::test]
async fn each_role_sees_and_calls_its_own_tools_and_no_others() {
    let door = Door::open().await;
    for (who, more) in [
        (Who::Supervisor, [&DECIDING[..], &[]]),
        (Who::Human, [&DECIDING[..], &REVOKING]),
        (Who::Admin, [&DECIDING[..], &STEERING]),
    ] {
        let client = door.client(who, "2025-06-18").await;
        let mut expected: Vec<_> = more.concat().into_iter().chain(READING).collect();
        expected.sort_unstable();
        assert_eq!(client.tools().await, expected, "{who:?}");
        let said = client.ask("tools/call", json!({"name": "ok.run"})).await;
        assert_eq!(said["error"]["code"], -32602, "who decides calls nothing");
    }
    for who in [Who::Agent, Who::Declared, Who::Nobody] {
        let client = door.client(who, "2025-06-18").await;
        for tool in DECIDING.into_iter().chain(STEERING) {
            let (text, failed) = client.call(tool, json!({})).await;
            assert!(failed && text.contains("is for keys of"), "{who:?} {text}");
        }
    }
    let records = door.records().await;
    let noted = |record: &&String| record.contains(r#""note":"grant.create""#);
    assert_eq!(records.iter().filter(noted).count(), 3, "each attempt");
}

#[tokio::test]
async fn p09_secrets_are_masked_in_what_is_pending_over_mcp() {
    let door = Door::open().await;
    let agent = door.client(Who::Agent, "2025-06-18").await;
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let arguments = json!({"args": ["--token", secret], "password": "hunter2"});
    let (_, _fs) = agent.begin("fs.run", arguments).await;
    for who in [Who::Supervisor, Who::Human] {
        let client = door.client(who, "2025-06-18").await;
        let (text, failed) = client
            .call("approval.pending", json!({"content": "full"}))
            .await;
        assert!(
            !failed && text.contains("[secret: github token, 40 characters]"),
            "{text}"
        );
        assert!(
            !text.contains(&secret) && !text.contains("hunter2"),
            "{text}"
        );
    }
}

/// The first approval that `approval.pending` shows.
async fn first(client: &Client<'_>, arguments: Value) -> Value {
    let (text, failed) = client.call("approval.pending", arguments).await;
    assert!(!failed, "{text}");
    let pending: Value = serde_json::from_str(&text).unwrap();
    pending["approvals"][0].clone()
}

#[tokio::test]
async fn p10_a_long_question_is_read_whole_over_mcp_by_its_id() {
    let door = Door::open().await;
    let agent = door.client(Who::Agent, "2025-06-18").await;
    let long = "x".repeat(100_000);
    let (_, _fs) = agent.begin("fs.run", json!({"args": [long]})).await;
    let (_, _pay) = agent.begin("pay.run", json!({"args": [long]})).await;
    let supervisor = door.client(Who::Supervisor, "2025-06-18").await;
    let human = door.client(Who::Human, "2025-06-18").await;
    let listed = first(&supervisor, json!({})).await;
    assert!(listed["cut"].is_object(), "{listed}");
    let whole = first(&supervisor, json!({"id": listed["id"]})).await;
    assert_eq!(whole["params"]["args"][0], long);
    assert_eq!(whole.get("cut"), None);
    let pay = first(&human, json!({"tool": "pay.*"})).await;
    let id = json!({"id": pay["id"]});
    let (text, failed) = supervisor.call("approval.pending", id).await;
    assert!(failed && text.contains("tools"), "{text}");
}

#[tokio::test]
async fn a_supervisor_decides_over_mcp_within_its_tools() {
    let door = Door::open().await;
    let agent = door.client(Who::Agent, "2025-06-18").await;
    let (_, mut fs) = agent.begin("fs.run", json!({"args": ["1"]})).await;
    let (_, pay) = agent.begin("pay.run", json!({"args": ["1"]})).await;
    let supervisor = door.client(Who::Supervisor, "2025-06-18").await;
    let (text, failed) = supervisor.call("approval.pending", json!({})).await;
    assert!(!failed, "{text}");
    let pending: Value = serde_json::from_str(&text).unwrap();
    let pending = pending["approvals"].as_array().unwrap();
    assert_eq!(pending.len(), 1, "{text}");
    assert_eq!(pending[0]["tool"], "fs.run");

    let id = &pending[0]["id"];
    let resolve = json!({"id": id, "decision": "approve", "reasoning": "fine", "confidence": 0.9});
    let (text, failed) = supervisor.call("approval.resolve", resolve.clone()).await;
    assert!(!failed && text.contains("supervisor:fs-bot"), "{text}");
    assert!(!said(&fs.last().await).1);
    let (text, failed) = supervisor.call("approval.resolve", resolve).await;
    assert!(failed && text.contains("already"), "{text}");

    let human = door.client(Who::Human, "2025-06-18").await;
    let (text, _) = human
        .call("approval.pending", json!({"tool": "pay.*"}))
        .await;
    let pending: Value = serde_json::from_str(&text).unwrap();
    let id = &pending["approvals"][0]["id"];
    let resolve = json!({"id": id, "decision": "deny"});
    let (text, failed) = supervisor.call("approval.resolve", resolve.clone()).await;
    assert!(failed && text.contains("tools"), "{text}");
    assert!(!human.call("approval.resolve", resolve).await.1);
    for wrong in [
        json!({"id": id}),
        json!({"id": id, "decision": "perhaps"}),
        json!({"id": id, "decision": "approve", "force": true}),
    ] {
        assert!(
            human.call("approval.resolve", wrong.clone()).await.1,
            "{wrong}"
        );
    }
    drop(pay);
    let records = door.records().await;
    for (note, by) in [
        ("approval.pending", "supervisor:fs-bot"),
        ("approval.resolve", "human:alice"),
    ] {
        let (note, by) = (format!(r#""note":"{note}""#), format!(r#""by":"{by}""#));
        let noted = |record: &String| record.contains(&note) && record.contains(&by);
        assert!(records.iter().any(noted), "{note} {by}");
    }
}

#[tokio::test]
async fn an_admin_grants_and_takes_back() {
    let door = Door::open().await;
    let admin = door.client(Who::Admin, "2025-06-18").await;
    let grant = json!({"agent": "claude", "tools": "pay.*", "duration": "10m"});
    let (text, failed) = admin.call("grant.create", grant).await;
    assert!(!failed, "{text}");
    let made: Value = serde_json::from_str(&text).unwrap();
    let agent = door.client(Who::Agent, "2025-06-18").await;
    assert!(
        agent
            .call("grant.list", json!({}))
            .await
            .0
            .contains("pay.*")
    );
    let other = door.client(Who::Declared, "2025-06-18").await;
    let listed = other.call("grant.list", json!({})).await;
    assert_eq!(listed, ("[]".to_owned(), false), "what is not its own");
    assert!(!agent.call("pay.run", json!({})).await.1);
    let (text, failed) = admin.call("grant.revoke", json!({"id": made["id"]})).await;
    assert!(!failed, "{text}");
    assert_eq!(agent.call("grant.list", json!({})).await.0, "[]");
    let again = admin.call("grant.revoke", json!({"id": made["id"]})).await;
    assert!(again.1, "{}", again.0);
}

#[tokio::test]
async fn p04_a_person_takes_back_over_mcp_what_they_allowed() {
    let door = Door::open().await;
    let admin = door.client(Who::Admin, "2025-06-18").await;
    let grant = json!({"agent": "claude", "tools": "x.*", "duration": "10m"});
    let (text, _) = admin.call("grant.create", grant).await;
    let made: Value = serde_json::from_str(&text).unwrap();
    let human = door.client(Who::Human, "2025-06-18").await;
    let (text, failed) = human.call("grant.revoke", json!({"id": made["id"]})).await;
    assert!(failed && text.contains("somebody else"), "{text}");

    let agent = door.client(Who::Agent, "2025-06-18").await;
    let (_, mut pay) = agent.begin("pay.run", json!({"args": ["1"]})).await;
    let (text, _) = human.call("approval.pending", json!({})).await;
    let pending: Value = serde_json::from_str(&text).unwrap();
    let id = &pending["approvals"][0]["id"];
    // What it opens is told before it is chosen, and to people alone.
    let offered = &pending["approvals"][0]["remember"];
    let is_told = |offer: &Value| {
        offer["remember"] == "always" && offer["words"] == "exactly these arguments"
    };
    assert!(offered.as_array().unwrap().iter().any(is_told), "{offered}");
    let supervisor = door.client(Who::Supervisor, "2025-06-18").await;
    let (text, _) = supervisor.call("approval.pending", json!({})).await;
    assert!(!text.contains("\"remember\""), "{text}");
    let resolve = json!({"id": id, "decision": "approve", "remember": "always"});
    let (text, failed) = human.call("approval.resolve", resolve).await;
    assert!(!failed, "{text}");
    assert!(!said(&pay.last().await).1);
    let resolved: Value = serde_json::from_str(&text).unwrap();
    let id = json!({"id": resolved["grant_id"]});
    let (text, failed) = human.call("grant.revoke", id).await;
    assert!(!failed, "{text}");
}
