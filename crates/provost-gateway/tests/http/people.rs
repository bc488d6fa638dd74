//! People over HTTP: whose keys are whose, and what is remembered.

use provost_core::people::{Directory, Person, Route};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Who};

fn person(name: &str) -> Person {
    Person {
        name: name.into(),
        role: provost_core::key::Role::Human,
        addresses: Vec::new(),
        hours: None,
    }
}

/// Where two must agree about everything.
fn two_of(people: &[&str]) -> Directory {
    Directory {
        people: people.iter().map(|name| person(name)).collect(),
        routes: vec![Route {
            name: "dear".into(),
            tools: Vec::new(),
            risky: false,
            needed: 2,
            steps: Vec::new(),
            timeout: None,
            fallback: None,
        }],
        ..Directory::default()
    }
}

async fn approve(app: &TestApp, who: Who, id: &str, body: Value) -> Answer {
    let path = format!("/approvals/{id}/approve");
    app.ask(who, "POST", &path, body).await
}

async fn status(app: &TestApp, id: &str) -> Value {
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Admin, "GET", &path, Value::Null).await;
    shown.body["status"].clone()
}

/// Asks in a session, and waits for nothing.
async fn asked(app: &TestApp, tool: &str, session: Option<&str>, n: u8) -> String {
    let body = json!({"tool": tool, "arguments": {"n": n}, "session_id": session});
    let answer = app.ask(Who::Agent, "POST", "/decide?wait=0", body).await;
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.body["approval_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn two_keys_of_one_person_are_one() {
    let app = TestApp::new().await;
    app.app.gate.replace_people(two_of(&["alice", "bob"]));
    let mut secrets = Vec::new();
    for (name, person) in [("laptop", "alice"), ("phone", "alice"), ("desk", "bob")] {
        let body = json!({"name": name, "role": "human", "person": person});
        let made = app.ask(Who::Admin, "POST", "/keys", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(made.body["person"], person);
        secrets.push(format!("Bearer {}", made.body["key"].as_str().unwrap()));
    }
    let id = app.pending("pay.run", json!({})).await;
    let path = format!("/approvals/{id}/approve");
    let local = [127, 0, 0, 1];
    for (secret, expected) in secrets.iter().zip(["pending", "pending", "approved"]) {
        let headers = [("authorization", secret.as_str())];
        let answer = app
            .send(Who::Nobody, local, "POST", &path, &headers, json!({}))
            .await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.body["status"], expected);
        if expected == "pending" {
            assert_eq!(answer.body["approved_by"], json!(["human:laptop"]));
            // The key that is called as the person is: alice's, too.
            let own = approve(&app, Who::Human, &id, json!({})).await;
            assert_eq!(own.body["status"], "pending", "{}", own.body);
        }
    }
}

#[tokio::test]
async fn only_people_are_tied_to_keys() {
    let app = TestApp::new().await;
    app.app.gate.replace_people(two_of(&["alice"]));
    for (role, name) in [
        ("agent", "alice"),
        ("supervisor", "alice"),
        ("inbox", "alice"),
        ("human", "carol"),
    ] {
        let body = json!({"name": "x", "role": role, "person": name});
        let refused = app.ask(Who::Admin, "POST", "/keys", body).await;
        assert_eq!(refused.status, 400, "{role} {}", refused.body);
        assert!(
            refused.body["error"]["help"].is_string(),
            "{}",
            refused.body
        );
    }
}

#[tokio::test]
async fn an_approval_is_remembered_for_the_session_or_always() {
    for (remember, released) in [("session", "pending"), ("always", "approved")] {
        let app = TestApp::new().await;
        let first = asked(&app, "pay.run", Some("s1"), 1).await;
        let other_arguments = asked(&app, "pay.run", Some("s1"), 2).await;
        let other_session = asked(&app, "pay.run", Some("s2"), 1).await;
        let other_tool = asked(&app, "pay.more", Some("s1"), 1).await;
        let body = json!({"remember": remember, "reasoning": "fine"});
        let done = approve(&app, Who::Human, &first, body).await;
        assert_eq!(done.status, 200, "{}", done.body);
        assert_eq!(status(&app, &other_arguments).await, "pending");
        assert_eq!(status(&app, &other_session).await, released);
        assert_eq!(status(&app, &other_tool).await, "pending");
        let grants = app.ask(Who::Admin, "GET", "/grants", Value::Null).await;
        assert_eq!(grants.body[0]["id"], done.body["grant_id"]);
        assert_eq!(grants.body[0]["granted_by"], "human:alice");
    }
}

#[tokio::test]
async fn only_what_the_menu_offers_is_remembered() {
    let app = TestApp::new().await;
    let always = json!({"remember": "always"});
    let for_supervisors = asked(&app, "fs.run", Some("s1"), 1).await;
    let refused = approve(&app, Who::Supervisor, &for_supervisors, always.clone()).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let without_session = asked(&app, "pay.run", None, 2).await;
    let changed = json!({"remember": "always", "arguments": {"args": ["x"]}});
    for (body, expected) in [
        (json!({"remember": "session"}), 422),
        (json!({"remember": "for ever"}), 400),
        (changed, 400),
    ] {
        let refused = approve(&app, Who::Human, &without_session, body.clone()).await;
        assert_eq!(refused.status, expected, "{body} {}", refused.body);
    }
    for verb in ["deny", "escalate"] {
        let path = format!("/approvals/{without_session}/{verb}");
        let refused = app.ask(Who::Human, "POST", &path, always.clone()).await;
        assert_eq!(refused.status, 400, "{verb} {}", refused.body);
    }
    app.app.gate.replace_people(two_of(&["alice", "bob"]));
    let for_two = asked(&app, "pay.run", Some("s1"), 3).await;
    let refused = approve(&app, Who::Human, &for_two, always).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    for id in [for_supervisors, without_session, for_two] {
        assert_eq!(status(&app, &id).await, "pending");
    }
    let grants = app.ask(Who::Admin, "GET", "/grants", Value::Null).await;
    assert_eq!(grants.body, json!([]));
}
