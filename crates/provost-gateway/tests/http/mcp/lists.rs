//! What an agent is shown, and what it is told when it calls what it may not.

use serde_json::{Value, json};

use super::wire::{Door, names};
use crate::app::Who;

#[tokio::test]
async fn an_agent_sees_what_policy_could_permit_and_what_is_denied_is_told_in_words() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let expected = ["fs.run", "grant.list", "mesh.catalog", "ok.run", "pay.run"];
    assert_eq!(client.tools().await, expected);
    let listed = client.ask("tools/list", json!({})).await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let (text, failed) = client.call("hidden.run", json!({})).await;
    assert!(failed);
    for part in ["Not permitted", "hidden.run", "default", "not run", "trace"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(door.traces().await[0]["verdict"], "deny");
}

#[tokio::test]
async fn what_is_stopped_is_told_so() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let stop = json!({"agent": "claude", "reasoning": "enough"});
    door.inside.ask(Who::Admin, "POST", "/stop", stop).await;
    let (text, failed) = client.call("ok.run", json!({})).await;
    assert!(
        failed && text.contains("enough") && text.contains("admin"),
        "{text}"
    );
}

#[tokio::test]
async fn a_rate_limit_says_how_long_to_wait() {
    let door = Door::open().await;
    let policy = json!({"name": "slow", "agent": "claude", "rate_limit": {"max_per_minute": 1},
        "rules": [{"tools": ["*"], "action": "allow"}]});
    let policy = serde_json::from_value(policy).unwrap();
    let set = provost_core::policy::PolicySet::compile(vec![policy]).unwrap();
    door.inside.app.gate.replace_policy(set);
    let client = door.client(Who::Agent, "2025-06-18").await;
    assert!(!client.call("ok.run", json!({"args": ["1"]})).await.1);
    let (text, failed) = client.call("ok.run", json!({"args": ["2"]})).await;
    assert!(failed && text.contains("Wait "), "{text}");
}

#[tokio::test]
async fn the_catalog_says_what_policy_says() {
    let door = Door::open().await;
    let client = door.client(Who::Agent, "2025-06-18").await;
    let (text, failed) = client.call("mesh.catalog", json!({})).await;
    assert!(!failed, "{text}");
    let catalog: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        catalog["groups"]["pay"]["tools"][0]["action"],
        "human_approval"
    );
    assert_eq!(catalog["groups"]["hidden"], Value::Null);
    assert_eq!(
        names(&catalog["groups"]["mesh"]["tools"]),
        ["mesh.catalog", "grant.list"]
    );
    let (text, _) = client.call("mesh.catalog", json!({"source": "FS"})).await;
    let catalog: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(catalog["summary"], "1 tools across 1 sources");
    assert!(client.call("mesh.catalog", json!({"sauce": "x"})).await.1);
}
