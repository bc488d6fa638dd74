//! Showing questions and closing them.

use provost_core::{
    approval::Status,
    card::{Card, End, Exact},
    delivery::Purpose,
    menu::Code,
    ports::{Channel as _, Undelivered},
};
use provost_gateway::channels::telegram::{Mode, Settings, Telegram};
use provost_gateway::web::Web;
use serde_json::{Value, json};

use crate::{
    desk::{card, delivery},
    fake::{Fake, TOKEN},
    scene::{ALICE, GROUP, Scene, telegram},
};

fn ended(card: &Card) -> Card {
    let end = End {
        status: Status::Approved,
        by: Some("human:bob".into()),
        via: Some("email".into()),
        code: Some(Code::Note),
        note: Some("only <once>".into()),
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at: card.created_at,
    };
    Card {
        end: Some(end),
        ..card.clone()
    }
}

#[tokio::test]
async fn votes_and_repeated_asks_change_the_message_and_keep_its_buttons() {
    let scene = Scene::new().await;
    let card = Card {
        asked: 3,
        needed: 2,
        approved_by: vec!["human:bob".into()],
        ..scene.desk.card(&scene.delivery.id)
    };
    let update = async |card: &Card| {
        let updated = scene.telegram.update(&scene.delivery, &scene.shown, card);
        updated.await.unwrap();
        scene.fake.asked("editMessageText")
    };
    let edits = update(&card).await;
    let text = edits[0]["text"].as_str().unwrap();
    for part in ["Asked 3 times", "Needs 2 people, approved by bob"] {
        assert!(text.contains(part), "{text}");
    }
    let asked = &scene.fake.asked("sendMessage")[0];
    assert_eq!(edits[0]["reply_markup"], asked["reply_markup"]);
    assert_eq!(edits[0]["message_id"], scene.message);
    assert_eq!(
        update(&card).await.len(),
        2,
        "the same once more is no error"
    );
    assert_eq!(update(&ended(&card)).await.len(), 2, "what ended is closed");
}

#[tokio::test]
async fn a_question_has_buttons_that_name_nothing_but_the_delivery() {
    let scene = Scene::new().await;
    assert_eq!(scene.shown.key, format!("{GROUP}:{}", scene.message));
    assert_eq!(
        scene.shown.detail,
        json!({"chat_id": GROUP, "message_id": scene.message})
    );
    let asked = &scene.fake.asked("sendMessage")[0];
    let rows = asked["reply_markup"]["inline_keyboard"].as_array().unwrap();
    let data: Vec<_> = rows
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|button| button["callback_data"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(data, ["1", "3", "2", "6"].map(|code| scene.data(code)));
    let text = asked["text"].as_str().unwrap();
    assert!(text.contains("ls &lt;dir&gt; &amp; rm"), "{text}");
    assert!(
        text.contains("<code>4: note</code> or <code>5: replacement</code>"),
        "{text}"
    );
}

#[tokio::test]
async fn closing_edits_the_message_and_takes_the_buttons_away() {
    let scene = Scene::new().await;
    let card = ended(&card());
    let close = || scene.telegram.close(&scene.delivery, &scene.shown, &card);
    close().await.unwrap();
    let message = scene.fake.api().messages[&(GROUP, scene.message)].clone();
    let text = message["text"].as_str().unwrap();
    assert!(
        text.starts_with("✅ Allowed once, with a note by bob via email\n"),
        "{text}"
    );
    assert!(text.contains("Note: only <once>"), "{text}");
    assert_eq!(message["reply_markup"], json!({"inline_keyboard": []}));
    // A crash makes it happen twice: Telegram says that nothing was modified.
    close().await.unwrap();
    assert_eq!(scene.fake.asked("editMessageText").len(), 2);
}

#[tokio::test]
async fn reminders_say_so_and_what_has_ended_has_no_buttons() {
    let scene = Scene::with(&[ALICE], |delivery, _| {
        delivery.plan.purpose = Purpose::Remind;
    })
    .await;
    let text = scene.fake.asked("sendMessage")[0]["text"].clone();
    assert!(text.as_str().unwrap().contains("Reminder"), "{text}");
    for (delivery, card) in [
        (scene.delivery.clone(), ended(&card())),
        (
            {
                let mut delivery = scene.delivery.clone();
                delivery.plan.purpose = Purpose::Callback;
                delivery
            },
            card(),
        ),
    ] {
        scene.telegram.show(&delivery, &card).await.unwrap();
        let sent = scene.fake.asked("sendMessage").pop().unwrap();
        assert_eq!(sent["reply_markup"], Value::Null);
    }
}

#[tokio::test]
async fn the_longest_texts_are_within_the_limits() {
    let fake = Fake::start().await;
    let telegram = telegram(&fake.url, &[], Mode::Poll);
    let long = Card {
        exact: Exact::Arguments {
            json: "<&👍".repeat(20_000),
            more: 0,
        },
        risks: vec!["risk".repeat(100); 30],
        ..card()
    };
    let delivery = delivery(json!(GROUP));
    let shown = telegram.show(&delivery, &long).await.unwrap();
    telegram
        .close(&delivery, &shown, &ended(&long))
        .await
        .unwrap();
    let text = fake.api().messages.values().next().unwrap()["text"].clone();
    assert!(
        text.as_str()
            .unwrap()
            .contains("more characters are not shown here"),
        "{text}"
    );
}

#[tokio::test]
async fn a_text_that_telegram_refuses_still_loses_its_buttons() {
    let scene = Scene::new().await;
    let refusal = "Bad Request: can't parse entities: Unsupported start tag";
    scene.fake.fail_next("editMessageText", 400, refusal);
    let card = ended(&card());
    let closed = scene.telegram.close(&scene.delivery, &scene.shown, &card);
    closed.await.unwrap();
    let message = scene.fake.api().messages[&(GROUP, scene.message)].clone();
    assert_eq!(message["reply_markup"], json!({"inline_keyboard": []}));
}

#[tokio::test]
async fn wrong_addresses_are_given_up() {
    let fake = Fake::start().await;
    let telegram = telegram(&fake.url, &[], Mode::Poll);
    for address in [
        json!({}),
        json!({"tg_chat_id": "ops"}),
        json!({"tg_chat_id": null}),
    ] {
        let mut delivery = delivery(json!(1));
        delivery.plan.address = address;
        let shown = telegram.show(&delivery, &card()).await;
        assert!(matches!(shown, Err(Undelivered::Never { .. })), "{shown:?}");
    }
    assert!(fake.asked("sendMessage").is_empty());
}

#[test]
fn wrong_settings_are_refused_without_repeating_them() {
    let settings = |token: &str, api_url: &str, mode| Settings {
        token: token.into(),
        api_url: api_url.into(),
        mode,
        allow: vec![],
    };
    let webhook = |secret: &str| Mode::Webhook {
        secret: secret.into(),
    };
    let url = "http://127.0.0.1:1";
    for wrong in [
        settings("hunter2", url, Mode::Poll),
        settings("1:hunter2/../x", url, Mode::Poll),
        settings("hunter2:abc", url, Mode::Poll),
        settings(TOKEN, "hunter2", Mode::Poll),
        settings(TOKEN, "ftp://hunter2", Mode::Poll),
        settings(TOKEN, "http://user:hunter2@host", Mode::Poll),
        settings(TOKEN, "http://host/?key=hunter2", Mode::Poll),
        settings(TOKEN, url, webhook("")),
        settings(TOKEN, url, webhook("hunter2 hunter2")),
    ] {
        let refused = Telegram::new(wrong, Web::new(1 << 20)).err().unwrap();
        assert!(!refused.contains("hunter2"), "{refused}");
    }
}
