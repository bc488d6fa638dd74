//! People on channels, through the whole product: one approval everywhere, and nothing lost on the way.

use std::{process::Command, thread};

use serde_json::{Value, json};

use crate::{
    bot::Bot,
    echo::Echo,
    harness::{Gateway, PROVOST, Site, configuration, eventually},
    http::Client,
    receiver::{Receiver, Told},
};

pub(crate) const AGENT: &str = "agent-secret-0123456789";
const INBOX: &str = "inbox-secret-0123456789";

const KEYS: &str = "auth:
  declared_agents: loopback
  keys:
    - {name: keyed, role: agent, key: agent-secret-0123456789}
    - {name: forwarder, role: inbox, key: inbox-secret-0123456789}
    - {name: alice, role: human, key: alice-secret-0123456789}
    - {name: bob, role: human, key: bob-secret-0123456789}
";

const BOTH_MUST_AGREE: &str = "people:
  - {name: carol, channels: {telegram: 42}}
  - {name: dave, channels: {telegram: 43}}
routes:
  - {tools: ['payments.*'], ask: [carol, dave], approvals_needed: 2}
";

pub(crate) fn site(bot: &Bot, echo: &Echo, rest: &str) -> Site {
    let channels = bot.channel(&[42, 43]);
    let email = "  email: {smtp: 'smtp://127.0.0.1:9', from: gate@example.org}\n";
    let site = Site::empty();
    site.configure(&configuration(
        echo,
        &format!("{KEYS}{channels}{email}{rest}"),
    ));
    site
}

fn ask(gateway: &Gateway, title: &str, channel: &str, target: Value) -> String {
    let body = json!({
        "session_id": "s1", "action_type": "exec_cmd", "title": title, "preview": "npm test",
        "channel": channel, "target": target, "expires_in_sec": 600,
    });
    let agent = gateway.client().key(AGENT);
    let made = agent.post("/v1/approvals", &body).ok().json();
    made["approval_id"].as_str().unwrap().to_owned()
}

fn status(gateway: &Gateway, id: &str) -> Value {
    let path = format!("/v1/approvals/{id}?wait=30s");
    gateway.client().key(AGENT).get(&path).ok().json()
}

#[test]
fn the_demo_runs_on_both_channels() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/e2e_demo.py");
    let output = Command::new("python3")
        .args([script, PROVOST])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}\n{wrong}");
    assert!(told.contains("both channels"), "{told}");
}

#[test]
fn a_call_at_the_gate_is_decided_by_a_tap() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(
        &bot,
        &echo,
        "people:\n  - {name: carol, channels: {telegram: 42}}\n",
    );
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"id": "mail", "to": "a@b.c"}));
    let messages = bot.messages(1);
    assert_eq!(messages[0]["chat_id"], 42);
    bot.tap(&messages[0], "1", 42);
    let answer = waiting.join().unwrap().ok();
    assert_eq!(echo.executions("mail"), 1);
    let trace = gateway.trace(&answer.trace_id());
    assert_eq!(trace["approved_by"], "human:carol");
    eventually("the message's end", || bot.edited().pop());

    // "Always": the same asks nobody again, and anything else does.
    let waiting = gateway
        .agent()
        .tool_waiting("payments.send", json!({"id": "pay"}));
    let messages = bot.messages(2);
    bot.tap(&messages[1], "6", 42);
    waiting.join().unwrap().ok();
    gateway
        .agent()
        .tool("payments.send", json!({"id": "pay"}))
        .ok();
    assert_eq!(echo.executions("pay"), 2);
    assert_eq!(bot.sent().len(), 2);
    let grants = gateway.admin().get("/grants").ok().json();
    assert_eq!(grants[0]["granted_by"], "human:carol");
    let other = json!({"id": "pay more"});
    gateway.agent().tool_async("payments.send", other).is(202);
}

#[test]
fn a_foreign_tap_changes_nothing() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    let id = ask(&gateway, "a", "telegram", json!({"tg_chat_id": 42}));
    let messages = bot.messages(1);
    bot.tap(&messages[0], "1", 666);
    bot.tap(&messages[0], "3", 42);
    let seen = status(&gateway, &id);
    assert_eq!(
        (&seen["status"], &seen["decision"]["code"]),
        (&json!("denied"), &json!("3"))
    );
    assert_eq!(seen["decision"]["via"], "telegram");
}

/// Whoever is first wins, and every copy says who.
#[test]
fn one_of_all_channels_decides() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let people = "people:\n  - {name: carol, channels: {telegram: 42, email: carol@example.org}}\n";
    let site = site(&bot, &echo, people);
    let gateway = site.start();
    for round in 0..5 {
        let body = json!({"id": format!("r{round}")});
        let waiting = gateway.agent().tool_waiting("gmail.send", body);
        let message = bot.messages(round + 1).pop().unwrap();
        let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
        let mail =
            json!({"subject": format!("Re: [{id}]"), "body": "1", "from": "carol@example.org"});
        let (by_mail, by_key) = (gateway.client().key(INBOX), gateway.alice());
        let path = format!("/approvals/{id}/deny");
        let racers = [
            thread::spawn(move || by_mail.post("/v1/inbox/email-reply", &mail).status),
            thread::spawn(move || by_key.post(&path, &json!({})).status),
        ];
        bot.tap(&message, "1", 42);
        let answer = waiting.join().unwrap();
        let statuses = racers.map(|racer| racer.join().unwrap());
        assert!(
            statuses.iter().all(|status| [200, 409].contains(status)),
            "{statuses:?}"
        );
        let shown = gateway.alice().get(&format!("/approvals/{id}")).ok().json();
        let by = shown["resolved_by"].as_str().unwrap().to_owned();
        let approved = shown["status"] == "approved";
        assert_eq!(answer.status, if approved { 200 } else { 403 });
        let won = statuses.iter().filter(|status| **status == 200).count();
        assert!(won <= 1, "{statuses:?}");
        let name = by.split(':').nth(1).unwrap().to_owned();
        eventually("the copy on Telegram tells who", || {
            let edited = bot.edited();
            let last = edited
                .iter()
                .find(|edit| edit["message_id"] == message["message_id"])?;
            last["text"].as_str().unwrap().contains(&name).then_some(())
        });
    }
}

/// The message is taken by Telegram, and the gateway dies before it knows.
#[test]
fn killed_between_commit_and_delivery_nothing_is_lost_and_at_most_one_is_double() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    bot.hold(true);
    let held = ask(&gateway, "held", "telegram", json!({"tg_chat_id": 42}));
    bot.messages(1);
    gateway.kill();
    bot.hold(false);

    let gateway = site.start();
    let next = ask(&gateway, "next", "telegram", json!({"tg_chat_id": 43}));
    let messages = bot.messages(3);
    let to = |chat: i64| messages.iter().filter(|m| m["chat_id"] == chat).count();
    assert_eq!((to(42), to(43)), (2, 1), "one is double: {messages:?}");
    let last = messages
        .iter()
        .find(|message| message["chat_id"] == 43)
        .unwrap();
    bot.tap(last, "1", 43);
    assert_eq!(status(&gateway, &next)["status"], "approved");
    // What was shown before the crash still decides: its buttons name the delivery.
    bot.tap(&messages[0], "1", 42);
    assert_eq!(status(&gateway, &held)["status"], "approved");
}

#[test]
fn two_people_must_agree_and_one_no_is_enough() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, BOTH_MUST_AGREE);
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("payments.send", json!({"id": "p1"}));
    let messages = bot.messages(2);
    let message = |chat: i64| messages.iter().find(|m| m["chat_id"] == chat).unwrap();
    bot.tap(message(42), "1", 42);
    let shown = eventually("the first vote", || {
        let shown = gateway.one_pending();
        (shown["votes"]
            .as_array()
            .is_some_and(|votes| votes.len() == 1))
        .then_some(shown)
    });
    assert_eq!(shown["needed"], 2);
    assert_eq!(echo.executions("p1"), 0);
    eventually("the other is shown who approved", || {
        let edited = bot.edited();
        let of_dave = |edit: &&Value| edit["message_id"] == message(43)["message_id"];
        let text = edited.iter().find(of_dave)?["text"].as_str()?.to_owned();
        text.contains("approved by carol").then_some(())
    });
    bot.tap(message(43), "1", 43);
    waiting.join().unwrap().ok();
    assert_eq!(echo.executions("p1"), 1);

    let waiting = gateway
        .agent()
        .tool_waiting("payments.send", json!({"id": "p2"}));
    let messages = bot.messages(4);
    bot.tap(&messages[2], "1", messages[2]["chat_id"].as_i64().unwrap());
    bot.tap(&messages[3], "3", messages[3]["chat_id"].as_i64().unwrap());
    assert_eq!(waiting.join().unwrap().status, 403);
    assert_eq!(echo.executions("p2"), 0);
}

#[test]
fn a_route_reminds_passes_on_and_decides_in_the_end() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let rest = "people:
  - {name: carol, channels: {telegram: 42}}
  - {name: dave, channels: {telegram: 43}}
routes:
  - {tools: ['payments.*'], ask: carol, remind: 1s, escalate: [{after: 2s, to: dave}], timeout: 4s, default: deny}
";
    let site = site(&bot, &echo, rest);
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("payments.send", json!({"id": "p"}));
    let answer = waiting.join().unwrap();
    assert_eq!(answer.status, 403);
    let chats: Vec<i64> = bot
        .sent()
        .iter()
        .map(|m| m["chat_id"].as_i64().unwrap())
        .collect();
    assert_eq!(
        chats.iter().filter(|chat| **chat == 42).count(),
        2,
        "{chats:?}"
    );
    assert!(chats.contains(&43), "{chats:?}");
    assert_eq!(echo.executions("p"), 0);
    let trace = gateway.trace(&answer.trace_id());
    assert_eq!(trace["approved_by"], "fallback:route-1");
}

#[test]
fn a_changed_call_fits_its_tool_and_is_shown_in_the_trace() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"id": "a", "to": "x@y.z"}));
    let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    let reply = |client: &Client, body: &str| {
        let mail = json!({"subject": format!("[{id}]"), "body": body});
        client.post("/v1/inbox/email-reply", &mail)
    };
    let alice = gateway.alice();
    reply(&alice, "5 somewhere else").refused(422, "unfit");
    reply(&alice, "5 {\"id\": \"b\", \"to\": \"safe@y.z\"}").ok();
    let answer = waiting.join().unwrap().ok();
    assert_eq!((echo.executions("a"), echo.executions("b")), (0, 1));
    let trace = gateway.trace(&answer.trace_id());
    assert_eq!(trace["params"]["id"], "a");
    assert_eq!(trace["changed_params"]["id"], "b");
}

/// A flood of questions reaches a person a few at a time, with one message that says how many more there are.
#[test]
fn a_flood_is_braked_and_told_of_in_one_message() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    for at in 0..14 {
        ask(
            &gateway,
            &format!("q{at}"),
            "telegram",
            json!({"tg_chat_id": 42}),
        );
    }
    let messages = bot.messages(11);
    let asking = |message: &&Value| !message["reply_markup"].is_null();
    assert_eq!(messages.iter().filter(asking).count(), 10);
    let digest = messages.iter().find(|message| !asking(message)).unwrap();
    assert!(
        digest["text"]
            .as_str()
            .unwrap()
            .contains("more questions wait")
    );
    ask(&gateway, "other", "telegram", json!({"tg_chat_id": 43}));
    eventually("another person's message", || {
        bot.sent()
            .into_iter()
            .find(|message| message["chat_id"] == 43)
    });
}

/// A hanging channel keeps none of the others.
#[test]
fn a_channel_that_hangs_holds_nobody_else_up() {
    let (bot, echo) = (Bot::start(), Echo::start());
    // Takes connections, and never says a word.
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let site = site(&bot, &echo, "");
    let hanging = format!("smtp://{}", silent.local_addr().unwrap());
    let config = std::fs::read_to_string(site.path("provost.yaml")).unwrap();
    site.configure(&config.replace("smtp://127.0.0.1:9", &hanging));
    let gateway = site.start();
    for at in 0..3 {
        let target = json!({"email_to": format!("you{at}@example.org")});
        ask(&gateway, "mail", "email", target);
    }
    ask(&gateway, "tap", "telegram", json!({"tg_chat_id": 42}));
    bot.messages(1);
}

#[test]
fn health_and_doctor_tell_which_channel_fails() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    ask(&gateway, "a", "telegram", json!({"tg_chat_id": 42}));
    ask(
        &gateway,
        "b",
        "email",
        json!({"email_to": "you@example.org"}),
    );
    let health = eventually("both to be tried", || {
        let health = gateway.health();
        let done = health["channels"]["telegram"]["delivered"] == 1
            && !health["channels"]["email"]["failing_since"].is_null();
        done.then_some(health)
    });
    assert_eq!(health["status"], "degraded");
    let output = site.provost(&["doctor", "--url", &gateway.url()]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("telegram, 1 delivered"), "{told}");
    assert!(
        told.contains("email, 0 delivered; nothing gets through"),
        "{told}"
    );
}

/// Telegram posts what people do, and shows its secret.
#[test]
fn a_tap_may_come_by_webhook() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let config = std::fs::read_to_string(site.path("provost.yaml")).unwrap();
    site.configure(&config.replace("token:", "mode: webhook, webhook_secret: s3cret, token:"));
    let gateway = site.start();
    let id = ask(&gateway, "a", "telegram", json!({"tg_chat_id": 42}));
    let update = bot.tapped(&bot.messages(1)[0], "1", 42);
    let door = gateway.client();
    let wrong = door.with("x-telegram-bot-api-secret-token", "wrong");
    for stranger in [&door, &wrong] {
        let answer = stranger.post("/v1/telegram/webhook", &update);
        answer.refused(401, "unauthorized");
    }
    let telegram = door.with("x-telegram-bot-api-secret-token", "s3cret");
    telegram.post("/v1/telegram/webhook", &update).ok();
    telegram.post("/v1/telegram/webhook", &update).ok();
    assert_eq!(status(&gateway, &id)["status"], "approved");
}

/// What a client is called back with, it can verify.
#[test]
fn the_end_is_told_to_the_callback_and_signed() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let receiver = Receiver::start(1);
    let allow = format!("http://{}/*", receiver.addr);
    let callbacks = format!("  callbacks: {{allow: ['{allow}']}}\n");
    let site = site(&bot, &echo, &callbacks);
    let gateway = site.start();
    let body = json!({
        "session_id": "s1", "action_type": "exec_cmd", "title": "t", "preview": "p",
        "channel": "telegram", "target": {"tg_chat_id": 42},
        "callback_url": format!("http://{}/told?key=hunter2", receiver.addr),
    });
    let made = gateway
        .client()
        .key(AGENT)
        .post("/v1/approvals", &body)
        .ok()
        .json();
    let secret = made["callback_secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_"), "{secret}");
    bot.tap(&bot.messages(1)[0], "1", 42);
    // The first one fails, and is tried again.
    let told = receiver.told(2);
    let (first, second) = (&told[0], &told[1]);
    assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
    assert!(second.is_signed_with(secret));
    let said: Value = serde_json::from_str(&second.body).unwrap();
    assert_eq!(said["data"]["approval_id"], made["approval_id"]);
    assert_eq!(said["data"]["status"], "approved");
    assert_eq!(said["data"]["decision"]["code"], "1");
    let shown = gateway.alice().get("/approvals").ok();
    assert!(!String::from_utf8_lossy(&shown.body).contains("hunter2"));
    assert!(!gateway.log().contains("hunter2"), "{}", gateway.log());
}

/// An agent chooses the address and its path: that must not open what listens beside the gateway.
#[test]
fn p08_this_machine_is_called_back_only_where_the_config_says_so() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let receiver = Receiver::start(0);
    let ask = |gateway: &Gateway, url: &str| {
        let body = json!({
            "session_id": "s1", "action_type": "exec_cmd", "title": url, "preview": "p",
            "channel": "telegram", "target": {"tg_chat_id": 42}, "callback_url": url,
        });
        gateway.client().key(AGENT).post("/v1/approvals", &body)
    };
    let port = receiver.addr.port();
    let local = [
        format!("http://127.0.0.1:{port}/told"),
        format!("http://localhost:{port}/told"),
        format!("http://2130706433:{port}/told"),
        format!("http://[::ffff:127.0.0.1]:{port}/told"),
    ];
    let usual = site(&bot, &echo, "");
    let gateway = usual.start();
    for url in &local {
        let refused = ask(&gateway, url);
        refused.refused(422, "callback_not_allowed");
        assert!(refused.text().contains("channels.callbacks.allow"));
    }
    drop(gateway);
    let allow = format!("  callbacks: {{allow: ['{}']}}\n", local[1]);
    let listed = site(&bot, &echo, &allow);
    let gateway = listed.start();
    ask(&gateway, &local[0]).refused(422, "callback_not_allowed");
    ask(&gateway, &local[1]).ok();
    bot.tap(&bot.messages(1)[0], "1", 42);
    assert_eq!(receiver.told(1)[0].path, "/told");
}

#[test]
fn webhooks_are_told_of_questions_and_their_ends() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let receiver = Receiver::start(0);
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let hooks = format!(
        "  webhooks:\n    - {{url: 'http://{addr}/hook', secret: {secret}}}\n    - {{url: 'http://{addr}/slack', kind: slack, events: [approval.created]}}\n",
        addr = receiver.addr
    );
    let site = site(&bot, &echo, &hooks);
    let gateway = site.start();
    let waiting = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"id": "x", "body": "s3cret"}));
    let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    receiver.told(2);
    gateway.alice().approve(&id).ok();
    waiting.join().unwrap().ok();
    let told = receiver.told(3);
    let kind = |path: &str, kind: &str| {
        let of = |told: &&Told| told.path == path && told.body.contains(kind);
        told.iter().filter(of).count()
    };
    assert_eq!(kind("/hook", "approval.created"), 1);
    assert_eq!(kind("/hook", "approval.resolved"), 1);
    assert_eq!(kind("/slack", "\"text\""), 1);
    assert!(
        told.iter()
            .filter(|told| told.path == "/hook")
            .all(|told| told.is_signed_with(secret))
    );
}

/// What a person allows an agent that asks in its own words opens no tool of that name, and no two-person rule.
#[test]
fn a_rule_for_words_opens_no_tool() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, BOTH_MUST_AGREE);
    let gateway = site.start();
    let agent = gateway.client().key(AGENT);
    for tool in ["gmail.send", "payments.send"] {
        let body = json!({
            "session_id": "s1", "action_type": tool, "title": "Say hello", "preview": "hello",
            "channel": "telegram", "target": {"tg_chat_id": 42},
        });
        let made = agent.post("/v1/approvals", &body).ok().json();
        let id = made["approval_id"].as_str().unwrap();
        let message = eventually("the question", || {
            let about = |sent: &&Value| {
                let text = sent["text"].as_str().unwrap();
                text.contains("Say hello") && text.contains(tool)
            };
            bot.sent().iter().find(about).cloned()
        });
        bot.tap(&message, "6", 42);
        assert_eq!(status(&gateway, id)["status"], "approved");
        let waits = agent.tool_async(tool, json!({"id": "x"}));
        assert_eq!(waits.status, 202, "{tool}");
    }
    assert_eq!(echo.executions("x"), 0);

    // Nor does any other grant where two must agree, made before or while it waits.
    let grant = json!({"agent": "keyed", "tools": "*", "duration": "10m"});
    gateway.admin().post("/grants", &grant);
    let waits = agent.tool_async("payments.send", json!({"id": "x"}));
    assert_eq!(waits.status, 202);
    assert_eq!(echo.executions("x"), 0);
}

#[test]
fn a_change_that_does_not_fit_the_question_decides_nothing() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    let id = ask(&gateway, "rm -rf /", "telegram", json!({"tg_chat_id": 42}));
    let changed = json!({"arguments": {"title": "t", "preview": "ls"}});
    let path = format!("/approvals/{id}/approve");
    gateway.alice().post(&path, &changed).refused(422, "unfit");
    let shown = gateway.alice().get(&format!("/approvals/{id}")).ok().json();
    assert_eq!(shown["status"], "pending");
}

/// Who may no longer decide may not from the moment that the configuration says so.
#[test]
fn somebody_taken_off_the_list_decides_nothing() {
    let (bot, echo) = (Bot::start(), Echo::start());
    let site = site(&bot, &echo, "");
    let gateway = site.start();
    let id = ask(&gateway, "a", "telegram", json!({"tg_chat_id": 43}));
    let message = bot.messages(1).pop().unwrap();
    let config = std::fs::read_to_string(site.path("provost.yaml")).unwrap();
    site.configure(&config.replace("allow: [42, 43]", "allow: [42]"));
    eventually("the changed configuration", || {
        gateway
            .log()
            .contains("the changed config is in force")
            .then_some(())
    });
    bot.tap(&message, "6", 43);
    // The next tap is handled after it.
    let other = ask(&gateway, "b", "telegram", json!({"tg_chat_id": 42}));
    bot.tap(&bot.messages(2)[1], "1", 42);
    assert_eq!(status(&gateway, &other)["status"], "approved");
    let shown = gateway.alice().get(&format!("/approvals/{id}")).ok().json();
    assert_eq!(shown["status"], "pending");
}
