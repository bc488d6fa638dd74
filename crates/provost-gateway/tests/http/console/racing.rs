//! Telegram, e-mail, the console and the HTTP door decide the same approval at the same moment.

use std::sync::Arc;

use provost_core::{
    delivery::Delivery,
    key::Role,
    menu::{Code, Reply},
    people::{Address, Directory, Person},
};
use provost_gateway::channels::{Answered, Desk as _, Office, Sender};
use serde_json::{Value, json};

use super::{Tab, asked};
use crate::app::{TestApp, Who};

fn carol() -> Person {
    let address = |channel: &str, address: Value| Address {
        channel: channel.into(),
        address,
    };
    Person {
        name: "carol".into(),
        role: Role::Human,
        addresses: vec![
            address("telegram", json!({"tg_chat_id": 42})),
            address("email", json!({"email_to": "carol@example.org"})),
        ],
        hours: None,
    }
}

async fn reply(desk: &Office, copy: &Delivery, code: Code) -> bool {
    let sender = Sender {
        name: "carol".into(),
        via: copy.plan.channel.clone(),
    };
    match desk.reply(copy, &sender, Reply::bare(code)).await.unwrap() {
        Answered::Decided(_) => true,
        Answered::Already(card) => {
            assert!(card.end.is_some_and(|end| end.by.is_some()), "it says who");
            false
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_all_channels_one_wins_and_the_others_learn_who() {
    let app = TestApp::new().await;
    app.app.gate.replace_people(Directory {
        people: vec![carol()],
        ..Directory::default()
    });
    let tab = Tab::signed_in(&app, "human-key").await;
    let token = tab.token().await;
    let desk = Office(Arc::clone(&app.app));
    for round in 0..10 {
        let id = asked(&app, "pay.run", json!({"n": round})).await;
        let approval = id.as_str().into();
        let copies = app.app.gate.store().deliveries(&approval).await.unwrap();
        let [telegram, email] = &*copies else {
            panic!("{copies:?}")
        };
        let path = format!("/console/decide/{id}");
        let form = [("csrf", token.as_str()), ("do", "approve")];
        let http = format!("/approvals/{id}/deny");
        let (by_telegram, by_email, page, answer) = tokio::join!(
            reply(&desk, &telegram.delivery, Code::Once),
            reply(&desk, &email.delivery, Code::Deny),
            tab.send_form(&path, &form),
            app.ask(Who::Admin, "POST", &http, json!({})),
        );
        let by_console = page.status == 303;
        assert!(by_console || page.status == 409, "{}", page.text);
        let by_http = answer.status == 200;
        assert!(by_http || answer.status == 409, "{}", answer.body);
        let winners = [by_telegram, by_email, by_console, by_http];
        assert_eq!(winners.iter().filter(|won| **won).count(), 1, "{winners:?}");
        let path = format!("/approvals/{id}");
        let shown = app.ask(Who::Admin, "GET", &path, Value::Null);
        let by = shown.await.body["resolved_by"].as_str().unwrap().to_owned();
        if !by_console {
            page.says(by.split_once(':').unwrap().1);
        }
        if !by_http {
            assert_eq!(answer.body["decision"]["by"], by);
        }
    }
}
