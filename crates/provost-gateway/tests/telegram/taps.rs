//! Taps on buttons: who may decide what, where.

use provost_core::{approval::Status, delivery::Purpose, menu::Code};
use serde_json::json;

use crate::{
    fake::At,
    scene::{ALICE, Change, GROUP, MALLORY, Scene},
};

#[tokio::test]
async fn a_tap_decides_and_says_so() {
    for (code, chosen, notice) in [
        ("1", Code::Once, "✅ Allowed once."),
        ("2", Code::Session, "✅ Allowed for this session."),
        ("3", Code::Deny, "⛔ Denied."),
        ("6", Code::Always, "✅ Allowed from now on."),
    ] {
        let scene = Scene::new().await;
        scene.handle(&scene.tap(scene.alice, code)).await;
        assert_eq!(scene.desk.codes(), [chosen]);
        assert_eq!(scene.notice(), notice);
        let sender = scene.desk.papers().replies[0].0.clone();
        assert_eq!((&*sender.name, &*sender.via), ("telegram:7", "telegram"));
    }
}

/// Hole: any chat could decide any approval.
#[tokio::test]
async fn a_tap_in_another_chat_changes_nothing() {
    let scene = Scene::new().await;
    for chat in [ALICE, -100_999] {
        let elsewhere = At { user: ALICE, chat };
        scene.handle(&scene.tap(elsewhere, "1")).await;
        assert_eq!(
            scene.notice(),
            "This question is not known here: nothing was changed."
        );
    }
    scene.assert_undecided();
}

/// Hole: whoever is in the right group could decide.
#[tokio::test]
async fn a_tap_of_somebody_else_in_the_right_group_changes_nothing() {
    let scene = Scene::new().await;
    scene.handle(&scene.tap(scene.mallory, "1")).await;
    scene.assert_undecided();
    assert_eq!(
        scene.notice(),
        "Sorry, you may not decide this: nothing was changed."
    );
    assert!(scene.fake.api().open_taps.is_empty());
}

#[tokio::test]
async fn without_a_list_nobody_may() {
    let scene = Scene::with(&[], |_, _| {}).await;
    scene.handle(&scene.tap(scene.alice, "1")).await;
    let text = scene.fake.text(scene.alice, Some(scene.message), "1");
    scene.handle(&text).await;
    scene.assert_undecided();
    assert!(scene.said().is_empty());
}

#[tokio::test]
async fn people_decide_what_they_are_asked() {
    let scene = Scene::with(&[], |delivery, _| {
        delivery.plan.person = Some("alice".into());
    })
    .await;
    scene.desk.papers().people = vec![(ALICE, "alice"), (MALLORY, "mallory")];
    scene.handle(&scene.tap(scene.mallory, "1")).await;
    assert_eq!(
        scene.notice(),
        "This question is for somebody else: nothing was changed."
    );
    scene.assert_undecided();
    scene.handle(&scene.tap(scene.alice, "1")).await;
    assert_eq!(&*scene.desk.papers().replies[0].0.name, "alice");
}

/// Each as a tap by alice, with something about it that must not be.
#[tokio::test]
async fn taps_that_prove_nothing_change_nothing() {
    let scene = Scene::new().await;
    let changes: [Change; 8] = [
        ("no sender", |query| {
            drop(query.as_object_mut().unwrap().remove("from"));
        }),
        ("a bot", |query| query["from"]["is_bot"] = json!(true)),
        ("an inline message", |query| {
            query.as_object_mut().unwrap().remove("message");
            query["inline_message_id"] = json!("abc");
        }),
        ("a forwarded message", |query| {
            query["message"]["forward_origin"] = json!({"type": "user", "date": 1});
        }),
        ("a forwarded message of old", |query| {
            query["message"]["forward_date"] = json!(1);
        }),
        ("no data", |query| {
            drop(query.as_object_mut().unwrap().remove("data"));
        }),
        ("another delivery", |query| {
            query["data"] = json!("1:0123456789abcdef0123456789abcdef");
        }),
        ("not a code", |query| {
            query["data"] = json!("7:0123456789abcdef0123456789abcdef");
        }),
    ];
    for (what, change) in changes {
        let mut update = scene.tap(scene.alice, "1");
        change(&mut update["callback_query"]);
        scene.handle(&update).await;
        assert!(scene.desk.codes().is_empty(), "{what}");
        assert!(scene.notice().contains("nothing was changed"), "{what}");
    }
    assert!(
        scene.fake.api().open_taps.is_empty(),
        "every tap is answered"
    );
}

#[tokio::test]
async fn deliveries_of_other_channels_and_purposes_are_not_decided_here() {
    for change in [
        |delivery: &mut provost_core::delivery::Delivery| delivery.plan.channel = "email".into(),
        |delivery: &mut provost_core::delivery::Delivery| delivery.plan.purpose = Purpose::Callback,
    ] {
        let scene = Scene::with(&[ALICE], |delivery, _| change(delivery)).await;
        scene.handle(&scene.tap(scene.alice, "1")).await;
        scene.assert_undecided();
    }
}

#[tokio::test]
async fn codes_that_need_words_are_not_decided_by_a_tap() {
    let scene = Scene::new().await;
    for (code, word) in [("4", "note"), ("5", "replacement")] {
        scene.handle(&scene.tap(scene.alice, code)).await;
        let notice = scene.notice();
        assert!(
            notice.contains(&format!("with {code} and your {word}")),
            "{notice}"
        );
    }
    scene.assert_undecided();
}

/// Hole: a repeated update. Telegram repeats what it thinks was not received, and so does a crash.
#[tokio::test]
async fn a_repeated_tap_changes_nothing_and_says_the_same() {
    let scene = Scene::new().await;
    let tap = scene.tap(scene.alice, "1");
    scene.handle(&tap).await;
    let answers = scene.fake.asked("answerCallbackQuery").len();
    scene.handle(&tap).await;
    assert_eq!(scene.fake.asked("answerCallbackQuery").len(), answers);

    // After a restart nothing is remembered but what the store has.
    let url = scene.fake.url.clone();
    let restarted = crate::scene::telegram(
        &url,
        &[ALICE],
        provost_gateway::channels::telegram::Mode::Poll,
    );
    restarted.handle_update(&*scene.desk, &tap).await.unwrap();
    assert_eq!(scene.desk.codes(), [Code::Once]);
    assert_eq!(scene.notice(), "✅ Allowed once.");
}

#[tokio::test]
async fn who_comes_late_learns_who_was_first() {
    let scene = Scene::with(&[ALICE, MALLORY], |_, _| {}).await;
    scene.handle(&scene.tap(scene.mallory, "3")).await;
    scene.handle(&scene.tap(scene.alice, "1")).await;
    assert_eq!(
        scene.notice(),
        "⛔ Too late, nothing was changed. Denied by telegram:66 via telegram."
    );
    let end = scene.desk.card(&scene.delivery.id).end.unwrap();
    assert_eq!(end.status, Status::Denied);
}

#[tokio::test]
async fn two_people_are_counted() {
    let scene = Scene::with(&[ALICE, MALLORY], |_, card| card.needed = 2).await;
    scene.handle(&scene.tap(scene.alice, "1")).await;
    assert_eq!(
        scene.notice(),
        "👥 Your yes is counted: 1 of the 2 people who are needed."
    );
    scene.handle(&scene.tap(scene.mallory, "1")).await;
    assert_eq!(scene.notice(), "✅ Allowed once.");
}

#[tokio::test]
async fn what_the_desk_refuses_is_told() {
    let scene = Scene::with(&[ALICE], |_, card| {
        card.choices = vec![Code::Once, Code::Deny];
    })
    .await;
    scene.handle(&scene.tap(scene.alice, "6")).await;
    assert_eq!(scene.notice(), "this cannot be chosen here");
    scene.desk.papers().refusal = Some("you asked for this yourself");
    scene.handle(&scene.tap(scene.alice, "1")).await;
    assert_eq!(scene.notice(), "you asked for this yourself");
    scene.assert_undecided();
}

#[tokio::test]
async fn chats_are_known_by_text_and_by_name_too() {
    for (chat, id) in [
        (json!(GROUP.to_string()), GROUP),
        (json!("@Ops"), -1_000_500),
    ] {
        let scene = Scene::with(&[ALICE], |delivery, _| {
            delivery.plan.address = json!({ "tg_chat_id": chat });
        })
        .await;
        let at = At {
            user: ALICE,
            chat: id,
        };
        scene.handle(&scene.tap(at, "1")).await;
        assert_eq!(scene.desk.codes(), [Code::Once], "{chat}");
    }
}
