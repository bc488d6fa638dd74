//! The npm package `telegram-test-api`, made by others: it checks little, waits for nobody and answers edits
//! with nothing, and the channel works with it all the same.

use std::{path::PathBuf, process::Stdio, sync::Arc, time::Duration};

use http::Request;
use provost_core::{menu::Code, ports::Channel as _};
use provost_gateway::{channels::telegram::Mode, web::Web};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{
    desk::{MemoryDesk, card, delivery},
    fake::TOKEN,
    scene::{ALICE, MALLORY, PACE, telegram},
};

struct Lax {
    url: String,
    web: Web,
    _server: Child,
}

impl Lax {
    async fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/telegram/lax.js");
        let mut server = Command::new("node")
            .arg(script)
            .arg(package())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("node runs");
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let port = lines.next_line().await.unwrap().expect("the server starts");
        Self {
            url: format!("http://127.0.0.1:{port}"),
            web: Web::new(1 << 20),
            _server: server,
        }
    }

    /// One of the routes by which a test plays the user.
    async fn play(&self, route: &str, body: Value) -> Value {
        let request = Request::post(format!("{}/{route}", self.url))
            .header("content-type", "application/json")
            .body(body.to_string().into())
            .unwrap();
        let played = self.web.exchange(request, Duration::from_secs(10), 1 << 20);
        let answer = played.await.unwrap();
        assert!(answer.status.is_success(), "{route}: {}", answer.status);
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// What the bot's messages look like now.
    async fn messages(&self) -> Vec<Value> {
        let history = self
            .play("getUpdatesHistory", json!({"token": TOKEN}))
            .await;
        let all = history["result"].as_array().unwrap().iter();
        let sent_by_bot = all.filter(|entry| entry["message"]["chat_id"].is_number());
        sent_by_bot.cloned().collect()
    }
}

fn package() -> PathBuf {
    let folder = std::env::var_os("PROVOST_TEST_PEERS").expect(
        "this test needs the peers: run ./test.sh, or set PROVOST_TEST_PEERS to what scripts/peers.sh prints",
    );
    PathBuf::from(folder).join("node_modules/telegram-test-api")
}

fn user(id: i64) -> Value {
    json!({"id": id, "first_name": "Somebody", "is_bot": false})
}

fn chat() -> Value {
    json!({"id": ALICE, "type": "private", "first_name": "Alice"})
}

#[tokio::test]
async fn questions_are_asked_decided_and_closed() {
    let lax = Lax::start().await;
    let telegram = telegram(&lax.url, &[ALICE], Mode::Poll);
    let desk = Arc::new(MemoryDesk::default());
    let mut asked = Vec::new();
    for _ in 0..2 {
        let (mut delivery, card) = (delivery(json!(ALICE)), card());
        desk.add(&delivery, &card);
        let shown = telegram.show(&delivery, &card).await.unwrap();
        desk.set_shown(&delivery.id, &shown);
        delivery.shown = Some(shown);
        asked.push(delivery);
    }
    let sent = lax.messages().await;
    let message =
        |at: usize| json!({"message_id": sent[at]["messageId"], "date": 1, "chat": chat()});
    let button = &sent[0]["message"]["reply_markup"]["inline_keyboard"][0][1];
    assert_eq!(button["text"], "3 ⛔ Deny");

    let poll = {
        let (telegram, desk) = (telegram.clone(), desk.clone());
        tokio::spawn(async move { telegram.poll(&*desk, PACE, std::future::pending()).await })
    };
    for from in [MALLORY, ALICE] {
        let data = &button["callback_data"];
        let tap =
            json!({"botToken": TOKEN, "from": user(from), "message": message(0), "data": data});
        lax.play("sendCallback", tap).await;
    }
    desk.until_decided(1).await;
    let reply = json!({
        "botToken": TOKEN, "date": 1, "from": user(ALICE), "chat": chat(),
        "text": "4: use care", "reply_to_message": message(1),
    });
    lax.play("sendMessage", reply).await;
    desk.until_decided(2).await;
    assert_eq!(desk.codes(), [Code::Deny, Code::Note]);
    let senders: Vec<_> = desk
        .papers()
        .replies
        .iter()
        .map(|(sender, _)| sender.name.clone())
        .collect();
    assert!(
        senders.iter().all(|name| &**name == "telegram:7"),
        "{senders:?}"
    );
    poll.abort();

    for delivery in &asked {
        let shown = delivery.shown.as_ref().unwrap();
        telegram
            .close(delivery, shown, &desk.card(&delivery.id))
            .await
            .unwrap();
    }
    let messages = lax.messages().await;
    for (at, words) in [
        "Denied</b> by telegram:7 via telegram",
        "with a note</b> by telegram:7",
    ]
    .iter()
    .enumerate()
    {
        let message = &messages[at]["message"];
        assert!(
            message["text"].as_str().unwrap().contains(words),
            "{message}"
        );
        assert_eq!(message["reply_markup"], json!({"inline_keyboard": []}));
    }
}
