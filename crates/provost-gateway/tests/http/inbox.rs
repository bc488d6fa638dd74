//! Replies that a forwarding service brings: whose they are.

use std::{sync::Arc, time::Duration};

use provost_core::{
    key::Role,
    people::{Address, Directory, Person, Route, Step},
};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Who};

fn person(name: &str, mailbox: &str) -> Person {
    Person {
        name: name.into(),
        role: Role::Human,
        addresses: vec![Address {
            channel: "email".into(),
            address: json!({"email_to": mailbox}),
        }],
        hours: None,
    }
}

/// Everybody is asked, and so many must agree.
fn asking(people: Vec<Person>, needed: u8) -> Directory {
    let names: Vec<Arc<str>> = people.iter().map(|person| person.name.clone()).collect();
    Directory {
        people,
        routes: vec![Route {
            name: "all".into(),
            tools: Vec::new(),
            risky: false,
            needed,
            steps: vec![Step {
                after: Duration::ZERO,
                people: names,
                remind: None,
            }],
            timeout: None,
            fallback: None,
        }],
        ..Directory::default()
    }
}

async fn bring(app: &TestApp, id: &str, from: Option<&str>) -> Answer {
    let mail = json!({"subject": format!("Re: [{id}]"), "body": "1", "from": from});
    let path = "/v1/inbox/email-reply";
    app.ask(Who::Inbox, "POST", path, mail).await
}

#[tokio::test]
async fn whoever_left_people_decides_nothing_and_is_nobody_else() {
    let app = TestApp::new().await;
    let (old, new) = ("alice@old.example.org", "alice@example.org");
    let people = vec![person("alice", old), person("bob", "bob@example.org")];
    app.app.gate.replace_people(asking(people, 2));
    let id = app.pending("pay.run", json!({})).await;
    let path = format!("/approvals/{id}/approve");
    let by_key = app.ask(Who::Human, "POST", &path, json!({})).await;
    assert_eq!(by_key.body["status"], "pending", "{}", by_key.body);
    app.app
        .gate
        .replace_people(asking(vec![person("alice", new)], 2));
    for gone in [old, "bob@example.org"] {
        let refused = bring(&app, &id, Some(gone)).await;
        assert_eq!(refused.status, 403, "{gone} {}", refused.body);
    }
    let path = format!("/approvals/{id}");
    let shown = app.ask(Who::Admin, "GET", &path, Value::Null).await;
    assert_eq!(shown.body["status"], "pending", "{}", shown.body);
}

#[tokio::test]
async fn a_reply_to_what_several_were_asked_says_whose_it_is() {
    let app = TestApp::new().await;
    let carol = || person("carol", "carol@example.org");
    let people = vec![carol(), person("bob", "bob@example.org")];
    app.app.gate.replace_people(asking(people, 1));
    let id = app.pending("pay.run", json!({"n": 1})).await;
    let unsaid = bring(&app, &id, None).await;
    assert_eq!(unsaid.status, 422, "{}", unsaid.body);
    assert_eq!(unsaid.body["error"]["code"], "sender_required");
    let said = bring(&app, &id, Some("bob@example.org")).await;
    assert_eq!(said.body["decision"]["decided_by"], "human:bob");

    app.app.gate.replace_people(asking(vec![carol()], 1));
    let id = app.pending("pay.run", json!({"n": 2})).await;
    let only = bring(&app, &id, None).await;
    assert_eq!(only.body["decision"]["decided_by"], "human:carol");
}

#[tokio::test]
async fn p04_a_reply_that_is_remembered_is_told_what_and_until_when() {
    let app = TestApp::new().await;
    let people = vec![person("carol", "carol@example.org")];
    app.app.gate.replace_people(asking(people, 1));
    let id = app.pending("pay.run", json!({"n": 1})).await;
    let mail = json!({"subject": format!("Re: [{id}]"), "body": "6", "from": "carol@example.org"});
    let path = "/v1/inbox/email-reply";
    let said = app.ask(Who::Inbox, "POST", path, mail).await;
    assert_eq!(said.status, 200, "{}", said.body);
    let remembered = &said.body["remembered"];
    assert_eq!(remembered["words"], "exactly these arguments");
    assert!(remembered["until"].is_string(), "{}", said.body);
    assert_eq!(said.body["grant_id"], said.body["decision"]["rule_id"]);
}
