//! Replies in text: read by the menu, and matched by the message they reply to.

use provost_core::menu::{Code, Reply};
use serde_json::json;

use crate::{
    fake::At,
    scene::{ALICE, Change, GROUP, MALLORY, Scene},
};

fn reply(code: Code, text: Option<&str>) -> Reply {
    Reply {
        code,
        text: text.map(str::to_owned),
        ..Reply::bare(Code::Once)
    }
}

/// Hole: `3` was stored as an approval with the note "3".
#[tokio::test]
async fn replies_mean_what_the_menu_says() {
    for (text, expected, answer) in [
        ("3", reply(Code::Deny, None), "⛔ Denied."),
        ("1", reply(Code::Once, None), "✅ Allowed once."),
        (
            "3 too risky",
            reply(Code::Deny, Some("too risky")),
            "⛔ Denied.",
        ),
        (
            "4 add logs",
            reply(Code::Note, Some("add logs")),
            "✅ Allowed once, with a note.",
        ),
        (
            "5 npm test",
            reply(Code::Change, Some("npm test")),
            "✅ Changed, then allowed.",
        ),
    ] {
        let scene = Scene::new().await;
        let update = scene.fake.text(scene.alice, Some(scene.message), text);
        scene.handle(&update).await;
        assert_eq!(scene.desk.papers().replies[0].1, expected, "{text}");
        let said = scene.said();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0]["text"], answer);
        assert_eq!(
            said[0]["reply_parameters"]["message_id"],
            update["message"]["message_id"]
        );
    }
}

#[tokio::test]
async fn an_unclear_reply_is_asked_again_and_the_reply_to_that_decides() {
    let scene = Scene::new().await;
    for (text, why) in [
        ("yes", "invalid code"),
        ("9", "invalid code"),
        ("4", "payload required"),
        ("5  ", "payload required"),
    ] {
        scene
            .handle(&scene.fake.text(scene.alice, Some(scene.message), text))
            .await;
        let asked = scene.said().pop().unwrap();
        let words = asked["text"].as_str().unwrap();
        assert!(
            words.starts_with(&format!("Nothing was decided. {why}")),
            "{words}"
        );
        assert!(words.contains("\n3 Deny\n"), "{words}");
        assert_eq!(asked["reply_markup"]["force_reply"], true);
        scene.assert_undecided();
    }
    let again = *scene.fake.api().messages.last_key_value().unwrap().0;
    assert_eq!(again.0, GROUP);
    scene
        .handle(&scene.fake.text(scene.alice, Some(again.1), "3"))
        .await;
    assert_eq!(scene.desk.codes(), [Code::Deny]);
}

#[tokio::test]
async fn p13_a_sentence_that_begins_with_a_number_is_asked_again() {
    let scene = Scene::new().await;
    for text in [
        "6 PM would be better",
        "2 minutes please",
        "1 question first",
        "1 but not on prod",
        "4 PM",
        "5 минут",
        "4 why do you need it",
        "1\n3",
        "4 do it\n1",
        "4: keep the logs\nno wait, don't do it",
        "4 keep the logs\nnot now",
        "4: sure\nDeny",
        "4: abbrechen",
        "5: npm test\nno, stop",
    ] {
        scene
            .handle(&scene.fake.text(scene.alice, Some(scene.message), text))
            .await;
        let asked = scene.said().pop().unwrap();
        let words = asked["text"].as_str().unwrap();
        assert!(
            words.starts_with("Nothing was decided. invalid code"),
            "{words}"
        );
        scene.assert_undecided();
    }
    scene
        .handle(
            &scene
                .fake
                .text(scene.alice, Some(scene.message), "5 npm ci\nnpm test"),
        )
        .await;
    let change = reply(Code::Change, Some("npm ci\nnpm test"));
    assert_eq!(scene.desk.papers().replies[0].1, change);
}

#[tokio::test]
async fn only_what_can_be_chosen_is_offered_again() {
    let few = vec![Code::Once, Code::Deny, Code::Note];
    let scene = Scene::with(&[ALICE], |_, card| card.choices.clone_from(&few)).await;
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "6"))
        .await;
    let asked = scene.said().pop().unwrap();
    let words = asked["text"].as_str().unwrap();
    assert!(words.contains("\n3 Deny\n"), "{words}");
    assert!(
        !words.contains("\n2 ") && !words.contains("\n6 "),
        "{words}"
    );
    scene.assert_undecided();
}

#[tokio::test]
async fn what_one_was_asked_again_is_not_for_others() {
    let scene = Scene::with(&[ALICE, 8], |_, _| {}).await;
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "yes"))
        .await;
    let again = scene.fake.api().messages.last_key_value().unwrap().0.1;
    for user in [8, MALLORY] {
        let other = At { user, chat: GROUP };
        scene
            .handle(&scene.fake.text(other, Some(again), "1"))
            .await;
    }
    scene.assert_undecided();
}

#[tokio::test]
async fn what_the_desk_cannot_take_is_asked_again() {
    let scene = Scene::with(&[ALICE], |_, card| {
        card.choices = vec![Code::Once, Code::Deny];
    })
    .await;
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "6"))
        .await;
    let asked = scene.said().pop().unwrap();
    assert!(
        asked["text"]
            .as_str()
            .unwrap()
            .contains("this cannot be chosen here")
    );
    assert_eq!(asked["reply_markup"]["force_reply"], true);
}

#[tokio::test]
async fn strangers_get_no_answer_in_text() {
    let scene = Scene::new().await;
    scene
        .handle(&scene.fake.text(scene.mallory, Some(scene.message), "1"))
        .await;
    let private = At {
        user: MALLORY,
        chat: MALLORY,
    };
    scene
        .handle(&scene.fake.text(private, None, "/start"))
        .await;
    scene.assert_undecided();
    assert!(scene.said().is_empty());
}

/// Each as a reply `1` by alice to the question, with something about it that must not be.
#[tokio::test]
async fn messages_that_prove_nothing_decide_nothing() {
    let scene = Scene::new().await;
    let changes: [Change; 9] = [
        ("no sender", |message| {
            drop(message.as_object_mut().unwrap().remove("from"));
        }),
        ("a bot", |message| message["from"]["is_bot"] = json!(true)),
        ("forwarded", |message| {
            message["forward_origin"] =
                json!({"type": "hidden_user", "date": 1, "sender_user_name": "Alice"});
        }),
        ("forwarded as of old", |message| {
            message["forward_from"] = json!({"id": 1});
        }),
        ("in the name of a chat", |message| {
            message["sender_chat"] = json!({"id": GROUP});
        }),
        ("by another bot", |message| {
            message["via_bot"] = json!({"id": 1});
        }),
        ("a reply to another message", |message| {
            message["reply_to_message"]["message_id"] = json!(5);
        }),
        ("a reply to a message elsewhere", |message| {
            message["reply_to_message"]["chat"]["id"] = json!(ALICE);
        }),
        ("no reply, but the id in the text", |message| {
            message.as_object_mut().unwrap().remove("reply_to_message");
            message["text"] = json!("1 00aa11bb22cc33dd");
        }),
    ];
    for (what, change) in changes {
        let mut update = scene.fake.text(scene.alice, Some(scene.message), "1");
        change(&mut update["message"]);
        scene.handle(&update).await;
        assert!(scene.desk.codes().is_empty(), "{what}");
        assert!(scene.said().is_empty(), "{what}");
    }
}

#[tokio::test]
async fn other_kinds_of_updates_decide_nothing() {
    let scene = Scene::new().await;
    for kind in [
        "edited_message",
        "channel_post",
        "edited_channel_post",
        "business_message",
    ] {
        let mut update = scene.fake.text(scene.alice, Some(scene.message), "1");
        let message = update.as_object_mut().unwrap().remove("message").unwrap();
        update[kind] = message;
        scene.handle(&update).await;
    }
    for unreadable in [
        json!({}),
        json!([]),
        json!({"update_id": 1, "message": {"chat": 3}}),
    ] {
        scene.handle(&unreadable).await;
    }
    scene.assert_undecided();
}

#[tokio::test]
async fn the_chat_of_the_reply_must_be_the_one_asked() {
    let scene = Scene::new().await;
    // The message is known under another chat than the question is addressed to.
    let mut shown = scene.shown.clone();
    shown.key = format!("{ALICE}:{}", scene.message);
    scene.desk.set_shown(&scene.delivery.id, &shown);
    let private = At {
        user: ALICE,
        chat: ALICE,
    };
    scene
        .handle(&scene.fake.text(private, Some(scene.message), "1"))
        .await;
    scene.assert_undecided();
    assert_eq!(
        scene.said()[0]["text"],
        "This question is not known here: nothing was changed."
    );
    // Nor does it help to write in the right chat and to reply to a message of another.
    let mut across = scene.fake.text(scene.alice, Some(scene.message), "1");
    across["message"]["reply_to_message"]["chat"]["id"] = json!(ALICE);
    scene.handle(&across).await;
    scene.assert_undecided();
}

#[tokio::test]
async fn in_private_people_are_told_how_to_reply() {
    let scene = Scene::with(&[ALICE], |delivery, _| {
        delivery.plan.address = json!({"tg_chat_id": ALICE});
    })
    .await;
    let private = At {
        user: ALICE,
        chat: ALICE,
    };
    scene.handle(&scene.fake.text(private, None, "1")).await;
    scene.assert_undecided();
    let said = scene.said();
    assert!(
        said[0]["text"]
            .as_str()
            .unwrap()
            .contains("reply to the message")
    );
    // A picture, say.
    let mut picture = scene.fake.text(private, Some(scene.message), "1");
    picture["message"].as_object_mut().unwrap().remove("text");
    scene.handle(&picture).await;
    let said = scene.said();
    assert!(said[1]["text"].as_str().unwrap().contains("only text"));
    scene.assert_undecided();
}

#[tokio::test]
async fn a_repeated_reply_is_silent_and_a_late_one_is_told() {
    let scene = Scene::with(&[ALICE, 8], |_, _| {}).await;
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "1"))
        .await;
    assert_eq!(scene.said().len(), 1);
    scene
        .handle(&scene.fake.text(scene.alice, Some(scene.message), "1"))
        .await;
    assert_eq!(scene.said().len(), 1, "said twice");
    let late = At {
        user: 8,
        chat: GROUP,
    };
    scene
        .handle(&scene.fake.text(late, Some(scene.message), "3"))
        .await;
    assert_eq!(
        scene.said()[1]["text"],
        "✅ Too late, nothing was changed. Allowed once by telegram:7 via telegram."
    );
    assert_eq!(scene.desk.codes(), [Code::Once]);
}
