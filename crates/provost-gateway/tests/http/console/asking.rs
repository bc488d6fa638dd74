//! Questions that are more than one call and one person: agents' own words, and several who must agree.

use std::time::Duration;

use provost_core::{
    approval::Request,
    gate::{NewRequest, Requested},
    people::{Directory, Fallback, Route},
};
use serde_json::{Value, json};

use super::{Tab, asked};
use crate::app::{TestApp, Who};

async fn request(app: &TestApp, preview: &str) -> String {
    let new = NewRequest {
        agent: "claude".into(),
        session: None,
        action_type: "pay.invoice".into(),
        request: Request {
            client_id: "0123456789abcdef".into(),
            title: "Pay the invoice <b>now</b>".into(),
            preview: preview.into(),
            channel: "email".into(),
            target: json!({"email_to": "alice@example.com"}),
        },
        callback_url: None,
        person: None,
        expires_in: Duration::from_mins(5),
        idempotency_key: None,
    };
    match app.app.gate.request(new).await.unwrap() {
        Requested::Made(approval) => approval.question.id.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn approval(app: &TestApp, id: &str) -> Value {
    let path = format!("/approvals/{id}");
    app.ask(Who::Admin, "GET", &path, Value::Null).await.body
}

#[tokio::test]
async fn what_an_agent_asks_in_its_own_words_is_a_claim_and_may_be_replaced() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = request(&app, "transfer 120 to ACME").await;
    let path = format!("/console/approval/{id}");
    for page in [tab.get("/").await, tab.get(&path).await] {
        page.says("The agent claims, and nobody has checked");
        page.says("Pay the invoice &#60;b&#62;now");
        page.says("transfer 120 to ACME");
        page.says_not("Edit the arguments");
    }
    let decide = format!("/console/decide/{id}");
    tab.post(&decide, &[("do", "replace")]).await.is(400);
    assert_eq!(approval(&app, &id).await["status"], "pending");
    let form = [
        ("do", "replace"),
        ("replacement", "transfer 100"),
        ("back", "approval"),
    ];
    let page = tab.post(&decide, &form).await.is(303);
    let page = tab.get(page.goes_to()).await.is(200);
    page.says("Instead of what was asked:");
    page.says("transfer 100");
    page.says("on console");
    assert_eq!(approval(&app, &id).await["resolved_by"], "human:alice");
}

/// Everything goes by one route.
fn routed(needed: u8, fallback: Option<Fallback>) -> Directory {
    Directory {
        routes: vec![Route {
            name: "dear".into(),
            tools: Vec::new(),
            risky: false,
            needed,
            steps: Vec::new(),
            timeout: None,
            fallback,
        }],
        ..Directory::default()
    }
}

#[tokio::test]
async fn what_silence_means_is_said() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    for (fallback, words) in [
        (Some(Fallback::Approve), "it is approved by itself"),
        (Some(Fallback::Deny), "it is denied by itself"),
        (None, ""),
    ] {
        app.app.gate.replace_people(routed(1, fallback));
        let id = asked(&app, "pay.run", json!({"fallback": words})).await;
        let path = format!("/console/approval/{id}");
        if words.is_empty() {
            tab.get(&path).await.says_not("If nobody decides in time");
        } else {
            tab.get(&path).await.says(words);
        }
        let decide = format!("/console/decide/{id}");
        tab.post(&decide, &[("do", "approve")]).await.is(303);
        tab.get(&path).await.says_not("If nobody decides in time");
    }
}

#[tokio::test]
async fn where_two_must_agree_one_is_counted() {
    let app = TestApp::new().await;
    app.app.gate.replace_people(routed(2, None));
    let id = asked(&app, "pay.run", json!({})).await;
    let (alice, root) = (
        Tab::signed_in(&app, "human-key").await,
        Tab::signed_in(&app, "admin-key").await,
    );
    let path = format!("/console/decide/{id}");
    let page = alice.get("/").await;
    page.says("0 of 2 approvals");
    for choice in ["always", "session"] {
        page.says_not(&format!("value=\"{choice}\""));
    }
    alice.post(&path, &[("do", "always")]).await.is(422);
    let page = alice.post(&path, &[("do", "approve")]).await.is(303);
    alice
        .get(page.goes_to())
        .await
        .says("more people are needed");
    alice
        .get("/")
        .await
        .says("Approved by <strong>human:alice</strong>");
    assert_eq!(approval(&app, &id).await["status"], "pending");
    let page = root.post(&path, &[("do", "approve")]).await.is(303);
    root.get(page.goes_to()).await.says("Approved.");
    assert_eq!(approval(&app, &id).await["status"], "approved");
}
