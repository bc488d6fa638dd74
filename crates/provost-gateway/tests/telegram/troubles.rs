//! What goes wrong with the Bot API, and that nothing of it tells the token.

use std::time::Duration;

use provost_core::ports::{Channel as _, Undelivered};
use provost_gateway::channels::telegram::{Mode, Settings};
use serde_json::json;
use tokio::net::TcpListener;

use crate::{
    desk::{card, delivery},
    fake::{TOKEN, error, too_many},
    scene::{ALICE, GROUP, Scene, telegram},
};

type Expected = Box<dyn Fn(&Undelivered) -> bool>;

fn later(after: Option<Duration>) -> impl Fn(&Undelivered) -> bool {
    move |error| matches!(error, Undelivered::Later { after: said, .. } if *said == after)
}

fn never(error: &Undelivered) -> bool {
    matches!(error, Undelivered::Never { .. })
}

#[tokio::test]
async fn each_error_says_whether_to_try_again() {
    let scene = Scene::new().await;
    let (mut moved, mut html) = (
        error(400, "Bad Request: group chat was upgraded"),
        error(502, ""),
    );
    moved.1["parameters"] = json!({"migrate_to_chat_id": -1_000_777});
    html.1 = json!("<html>bad gateway</html>");
    let soon = too_many(17);
    let too_long = too_many(u64::MAX);
    let cases: [(_, Expected, &str); 10] = [
        (
            soon,
            Box::new(later(Some(Duration::from_secs(17)))),
            "wait 17s",
        ),
        (
            too_long,
            Box::new(later(Some(Duration::from_hours(1)))),
            "wait 1h0m0s",
        ),
        (
            error(500, "Internal Server Error"),
            Box::new(later(None)),
            "cannot be reached",
        ),
        (html, Box::new(later(None)), "cannot be reached"),
        (
            error(401, "Unauthorized"),
            Box::new(later(None)),
            "does not accept the bot's token",
        ),
        (
            error(404, "Not Found"),
            Box::new(later(None)),
            "does not accept the bot's token",
        ),
        (
            error(403, "Forbidden: bot was blocked by the user"),
            Box::new(never),
            "blocked",
        ),
        (
            error(400, "Bad Request: chat not found"),
            Box::new(never),
            "chat not found",
        ),
        (moved, Box::new(never), "-1000777"),
        (
            error(400, &format!("Bad Request: {TOKEN} \u{202e}\n")),
            Box::new(never),
            "[token] \\u{202e}\\n",
        ),
    ];
    for (answer, expected, words) in cases {
        scene.fake.script("sendMessage", answer.clone());
        let shown = scene.telegram.show(&scene.delivery, &card()).await;
        let error = shown.unwrap_err();
        assert!(expected(&error), "{answer:?} {error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
    }
}

#[tokio::test]
async fn messages_that_are_gone_are_given_up() {
    let scene = Scene::new().await;
    scene.fake.api().messages.clear();
    let mut card = card();
    card.end = Some(provost_core::card::End {
        status: provost_core::approval::Status::Expired,
        by: None,
        via: None,
        code: None,
        note: None,
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at: card.expires_at,
    });
    let closed = scene
        .telegram
        .close(&scene.delivery, &scene.shown, &card)
        .await;
    assert!(never(&closed.unwrap_err()));
    scene.fake.api().blocked.insert(GROUP);
    let shown = scene.telegram.show(&scene.delivery, &card).await;
    assert!(never(&shown.unwrap_err()));
}

#[tokio::test]
async fn nothing_tells_the_token() {
    // Nobody listens there any more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let unreachable = telegram(&url, &[ALICE], Mode::Poll);
    let shown = unreachable.show(&delivery(json!(GROUP)), &card()).await;
    let error = shown.unwrap_err();
    assert!(later(None)(&error), "{error:?}");
    let settings = Settings {
        token: TOKEN.into(),
        api_url: url,
        mode: Mode::Webhook {
            secret: TOKEN.into(),
        },
        allow: vec![ALICE],
    };
    let told = format!("{error} {error:?} {settings:?} {settings:#?}");
    assert!(!told.contains(TOKEN), "{told}");
    assert!(!told.contains("test-TOKEN"), "{told}");
}

#[tokio::test]
async fn answers_that_are_too_large_are_not_read() {
    let scene = Scene::new().await;
    let large = (200, json!({"ok": true, "result": "x".repeat(2 << 20)}));
    scene.fake.script("sendMessage", large);
    let shown = scene.telegram.show(&scene.delivery, &card()).await;
    let error = shown.unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
    assert!(later(None)(&error));
}

#[tokio::test]
async fn an_answer_to_a_person_waits_as_long_as_telegram_asks() {
    let scene = Scene::new().await;
    scene.fake.script("answerCallbackQuery", too_many(1));
    scene.handle(&scene.tap(scene.alice, "1")).await;
    assert_eq!(scene.fake.asked("answerCallbackQuery").len(), 2);
    assert!(scene.fake.api().open_taps.is_empty());
    // Not for an hour, though: the decision stands without it.
    scene.fake.script("sendMessage", too_many(3600));
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "3"))
        .await;
    assert_eq!(scene.said().len(), 1);
}
