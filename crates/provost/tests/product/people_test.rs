//! `provost people`: test questions that decide nothing, and channels that are checked before anybody is asked.

use std::process::Output;

use serde_json::{Value, json};

use crate::{
    bot::Bot,
    echo::Echo,
    harness::{AGENT, Gateway, POLICY, Site, eventually},
};

const CAROL: i64 = 42;
const DAVE: i64 = 43;

const PEOPLE: &str = "people:
  - {name: carol, channels: {telegram: 42}, hours: 'mon 09:00-09:01 UTC'}
  - {name: dave, channels: {telegram: 43}}
  - {name: erin}
";

fn site(bot: &Bot, echo: &Echo) -> Site {
    let channels = bot.channel(&[]);
    Site::new(echo, &format!("{channels}{PEOPLE}{POLICY}"))
}

fn told(output: &Output) -> String {
    let (said, noted) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&said[..], noted].concat()).into_owned()
}

fn text(message: &Value) -> &str {
    message["text"].as_str().unwrap()
}

/// The codes that a message offers.
fn codes(message: &Value) -> Vec<String> {
    let rows = message["reply_markup"]["inline_keyboard"]
        .as_array()
        .unwrap();
    let buttons = rows.iter().flat_map(|row| row.as_array().unwrap());
    let data = buttons.map(|button| button["callback_data"].as_str().unwrap());
    data.map(|data| data.split(':').next().unwrap().to_owned())
        .collect()
}

fn problems(gateway: &Gateway) -> Value {
    gateway.health()["channels"]["telegram"]["problems"].clone()
}

#[test]
fn p12_a_test_question_is_answered_and_decides_nothing() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo);
    let gateway = site.start();
    let url = gateway.url();
    // Neither a stop nor a grant nor her hours have a say.
    gateway
        .admin()
        .post("/stop", &json!({"reasoning": "halt"}))
        .ok();
    let testing = site.spawn_provost(&["people", "test", "carol", "--url", &url, "--json"]);
    let message = bot.messages(1).remove(0);
    assert!(
        text(&message).starts_with("<b>🧪 This is a test question</b>"),
        "{message}"
    );
    assert_eq!(codes(&message), ["1", "3"], "{message}");
    assert_eq!(message["chat_id"], CAROL);
    bot.tap(&message, "1", CAROL);
    let output = testing.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let test = &answer["tests"][0];
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(test["state"], "answered", "{answer}");
    assert_eq!(
        (&test["by"], &test["code"]),
        (&json!("carol"), &json!("1")),
        "{answer}"
    );
    assert_eq!(gateway.admin().get("/grants").ok().json(), json!([]));
    eventually("the end in the chat", || {
        let edited = bot.edited().pop()?;
        text(&edited).contains("this works").then_some(())
    });
    gateway.admin().post("/resume", &json!({})).ok();
    // What was answered opens nothing.
    gateway
        .client()
        .agent("provost")
        .decide_async("people.test", json!({}))
        .is(202);
}

#[test]
fn p12_a_test_question_is_no_way_to_a_grant() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo);
    let gateway = site.start();
    let made = gateway.admin().post("/v1/people/dave/test", &json!({}));
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["tests"][0]["id"].as_str().unwrap().to_owned();
    let state = || {
        let path = format!("/v1/people-tests/{id}");
        gateway.alice().get(&path).ok().json()["state"].clone()
    };
    let message = bot.messages(1).remove(0);
    // A client may send whatever button it likes.
    for code in ["2", "6"] {
        let mut forged = message.clone();
        let button = &mut forged["reply_markup"]["inline_keyboard"][0][0]["callback_data"];
        *button = button.as_str().unwrap().replacen('1', code, 1).into();
        bot.tap(&forged, code, DAVE);
    }
    // Nor does a wide grant or a stop touch it, nor a stranger.
    let grant = json!({"agent": "*", "tools": "*", "duration": "1h"});
    gateway.admin().post("/grants", &grant).is(201);
    bot.tap(&message, "1", CAROL);
    gateway.admin().post("/stop", &json!({})).ok();
    gateway.admin().post("/resume", &json!({})).ok();
    assert_eq!(state(), "sent");
    assert_eq!(
        gateway
            .admin()
            .get("/grants")
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    bot.tap(&message, "3", DAVE);
    eventually("the answer", || (state() == "answered").then_some(()));
    assert_eq!(
        gateway
            .admin()
            .get("/grants")
            .ok()
            .json()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn p12_agents_cannot_send_test_questions_or_make_theirs_look_like_one() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo);
    let gateway = site.start();
    let agent = gateway.client().key(AGENT);
    for answer in [
        agent.post("/v1/people/carol/test", &json!({})),
        agent.get("/v1/people"),
        gateway.fs_bot().post("/v1/people/carol/test", &json!({})),
        gateway
            .client()
            .agent("claude")
            .post("/v1/people/carol/test", &json!({})),
    ] {
        assert!([401, 403].contains(&answer.status), "{}", answer.text());
    }
    let forged = json!({
        "session_id": "s1", "action_type": "people.test", "title": "🧪 This is a test question",
        "preview": "It decides nothing and opens no tool.", "channel": "telegram",
        "target": {"tg_chat_id": CAROL},
    });
    agent.post("/v1/approvals", &forged).ok();
    let message = bot.messages(1).remove(0);
    assert!(
        text(&message).starts_with("<b>🔔 A decision is needed</b>"),
        "{message}"
    );
    // What is no test question is none at its address either.
    let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/people-tests/{id}");
    gateway.alice().get(&path).refused(404, "not_found");
}

#[test]
fn p12_a_test_that_cannot_be_sent_says_why() {
    let (bot, echo) = (Bot::start(), Echo::start());
    bot.never_started(&[DAVE]);
    let site = site(&bot, &echo);
    let gateway = site.start();
    let url = gateway.url();
    let run = |rest: &[&str]| {
        let mut arguments = vec!["people", "--url", &url];
        arguments.extend(rest);
        let output = site.provost(&arguments);
        (output.status.code(), told(&output))
    };
    let (code, said) = run(&["test", "dave"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("telegram: not sent"), "{said}");
    assert!(said.contains("chat not found"), "{said}");
    let (code, said) = run(&["test", "carol", "--no-wait"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("telegram: sent"), "{said}");
    let (code, said) = run(&["test", "carol", "--timeout", "1s"]);
    assert_eq!(code, Some(1), "{said}");
    for (name, words) in [("erin", "no channels"), ("nobody", "not found")] {
        let (code, said) = run(&["test", name]);
        assert_ne!(code, Some(0), "{said}");
        assert!(said.contains(words), "{name}: {said}");
    }
    let (code, said) = run(&["list"]);
    assert_eq!(code, Some(0), "{said}");
    for part in [
        "carol",
        "quiet until",
        "dave",
        "may be asked",
        "erin",
        "console only",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(said.contains("press Start"), "{said}");
}

#[test]
fn p12_a_wrong_token_and_a_closed_chat_are_told_before_anybody_is_asked() {
    let (bot, echo) = (Bot::start(), Echo::start());
    bot.never_started(&[DAVE]);
    let site = site(&bot, &echo);
    let gateway = site.start();
    let url = gateway.url();
    let found = eventually("the closed chat", || {
        Some(problems(&gateway)).filter(|found| found[0].is_object())
    });
    assert!(
        found[0]["problem"].to_string().contains("chat not found"),
        "{found}"
    );
    assert!(found[0]["help"].to_string().contains("Start"), "{found}");
    assert!(
        !found.to_string().contains("dave"),
        "everybody may read it: {found}"
    );
    assert_eq!(gateway.health()["status"], "degraded");
    let doctor = site.provost(&["doctor", "--url", &url]);
    let said = told(&doctor);
    assert!(said.contains("telegram (dave): "), "{said}");
    assert!(said.contains("press Start"), "{said}");
    assert!(bot.sent().is_empty(), "nobody is disturbed");
    gateway.kill();

    bot.refuse_token(true);
    let gateway = site.start();
    let found = eventually("the wrong token", || {
        Some(problems(&gateway)).filter(|found| found[0].is_object())
    });
    assert!(found.to_string().contains("BotFather"), "{found}");
}

#[test]
fn p12_what_is_told_of_a_channel_is_of_now() {
    let (bot, echo) = (Bot::start(), Echo::start());
    bot.never_started(&[DAVE]);
    let site = site(&bot, &echo);
    let gateway = site.start();
    let url = gateway.url();
    let doctor = || told(&site.provost(&["doctor", "--url", &url]));
    let people = || told(&site.provost(&["people", "list", "--url", &url]));
    eventually("the closed chat", || {
        doctor().contains("press Start").then_some(())
    });
    bot.never_started(&[]);
    eventually("the open chat", || {
        let said = doctor();
        (!said.contains("press Start") && said.contains(" s ago")).then_some(())
    });
    assert!(!people().contains("press Start"));
    bot.refuse_token(true);
    eventually("the wrong token", || {
        doctor().contains("BotFather").then_some(())
    });
    assert!(people().contains("BotFather"));
}

#[test]
fn p12_a_malformed_token_is_an_error_of_the_configuration() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = Site::new(&echo, &bot.channel(&[CAROL]).replace("1:abc", "bot1:abc"));
    let output = site.provost(&["check"]);
    let said = told(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("malformed"), "{said}");
    assert!(said.contains("BotFather"), "{said}");
    assert!(!said.contains("bot1:abc"), "{said}");
}
