//! What is wrong with the bot or a chat is found before anybody is asked.

use provost_core::{
    approval::Kind,
    key::Role,
    menu::Code,
    people::{Address, Directory, Person},
};
use provost_gateway::{
    channels::telegram::{Checked, Mode, Settings, Telegram, check_token},
    web::Web,
};
use serde_json::json;

use crate::{
    desk::card,
    fake::{Fake, TOKEN, error, too_many},
    scene::{ALICE, Scene, telegram},
};

fn people(chats: &[(&str, i64)]) -> Directory {
    let people = chats.iter().map(|(name, chat)| Person {
        name: (*name).into(),
        role: Role::Human,
        addresses: vec![Address {
            channel: "telegram".into(),
            address: json!({"tg_chat_id": chat}),
        }],
        hours: None,
    });
    Directory {
        people: people.collect(),
        ..Directory::default()
    }
}

#[tokio::test]
async fn p12_a_chat_that_never_pressed_start_is_told_with_what_to_do() {
    let fake = Fake::start().await;
    let telegram = telegram(&fake.url, &[ALICE], Mode::Poll);
    let people = people(&[("alice", ALICE), ("bob", 8)]);
    assert_eq!(telegram.check(&people).await, Checked::default());
    fake.api().never_started.insert(8);
    let problems = telegram.check(&people).await.problems;
    let [problem] = &*problems else {
        panic!("{problems:?}")
    };
    assert_eq!(problem.person.as_deref(), Some("bob"));
    assert!(problem.problem.contains("chat not found"), "{problem:?}");
    assert!(problem.help.contains("@provost_bot"), "{problem:?}");
    assert!(problem.help.contains("press Start"), "{problem:?}");
    // Everybody may read the words.
    assert!(!problem.problem.contains("bob"), "{problem:?}");
    assert!(fake.asked("sendMessage").is_empty(), "nobody is disturbed");
}

#[tokio::test]
async fn p12_a_wrong_token_is_told_with_what_to_do_and_never_repeated() {
    let fake = Fake::start().await;
    let settings = Settings {
        token: "4242:another-TOKEN".into(),
        api_url: fake.url.clone(),
        mode: Mode::Poll,
        allow: vec![ALICE],
    };
    let telegram = Telegram::new(settings, Web::new(1 << 20)).unwrap();
    let problems = telegram.check(&people(&[("alice", ALICE)])).await.problems;
    let [problem] = &*problems else {
        panic!("{problems:?}")
    };
    assert_eq!(problem.person, None);
    assert!(problem.problem.contains("does not accept"), "{problem:?}");
    assert!(problem.help.contains("@BotFather"), "{problem:?}");
    assert!(!format!("{problem:?}").contains("another-TOKEN"));
}

#[tokio::test]
async fn p12_troubles_of_the_moment_are_no_fault_of_a_person() {
    let fake = Fake::start().await;
    let telegram = telegram(&fake.url, &[ALICE], Mode::Poll);
    let people = people(&[("alice", ALICE)]);
    fake.script("getChat", too_many(3));
    let checked = telegram.check(&people).await;
    assert_eq!(checked.problems, []);
    assert!(checked.is_cut_short, "nobody knows of the chat");
    fake.script("getChat", error(502, "Bad Gateway"));
    let problems = telegram.check(&people).await.problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].person, None, "{problems:?}");
}

#[test]
fn p12_a_malformed_token_is_known_without_asking() {
    assert_eq!(check_token(&TOKEN.into()), Ok(()));
    for bad in [
        "",
        "4242",
        "abc:def",
        "4242:",
        "4242:a b",
        "bot4242:abc",
        "4242:abc/x",
    ] {
        let why = check_token(&bad.into()).unwrap_err();
        assert!(why.contains("malformed"), "{bad}: {why}");
    }
}

/// The strict server holds it to the rules, too.
#[tokio::test]
async fn p12_a_test_question_says_so_in_our_own_words() {
    let scene = Scene::with(&[ALICE], |_, card| {
        card.kind = Kind::Test;
        card.choices = vec![Code::Once, Code::Deny];
    })
    .await;
    let sent = scene.fake.asked("sendMessage").remove(0);
    let text = sent["text"].as_str().unwrap();
    assert!(
        text.starts_with("<b>🧪 This is a test question</b>"),
        "{text}"
    );
    let agents = card();
    assert!(!text.contains(&*agents.agent), "{text}");
    assert!(!text.contains(&*agents.tool), "{text}");
    scene.handle(&scene.tap(scene.alice, "3")).await;
    assert!(!scene.notice().is_empty());
}
