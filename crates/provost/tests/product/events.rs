//! Hearing of things: the feed of events, and waiting for approvals to come.

use std::thread;

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    events_feed::{Event, Feed},
    harness::{POLICY, Site},
};

#[test]
fn events_resume_after_last_event_id() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let ask = |tool: &str, n: u64| {
        let asked = gateway.agent().decide_async(tool, json!({"n": n}));
        asked.is(202).approval_id()
    };
    let mut feed = Feed::open(&gateway.alice(), "/events", None);
    let mut heard: Vec<Event> = Vec::new();
    let first = ask("filesystem.write_file", 1);
    heard.push(feed.next());
    assert_eq!(heard[0].name, "approval.created");
    assert_eq!(heard[0].data["approval_id"], first);
    drop(feed);

    // What happens while nobody listens, and a death in between.
    gateway.fs_bot().approve(&first).ok();
    let second = ask("payments.send", 2);
    gateway.kill();
    let gateway = site.start();
    gateway.alice().deny(&second).ok();

    let mut feed = Feed::open(&gateway.alice(), "/events", Some(heard[0].id));
    heard.extend((0..3).map(|_| feed.next()));
    let names: Vec<_> = heard.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "approval.created",
            "approval.resolved",
            "approval.created",
            "approval.resolved"
        ]
    );
    for (at, (approval, status)) in [
        (&first, "pending"),
        (&first, "approved"),
        (&second, "pending"),
        (&second, "denied"),
    ]
    .iter()
    .enumerate()
    {
        let data = &heard[at].data;
        assert_eq!(
            (&data["approval_id"], &data["status"]),
            (&json!(approval), &json!(status))
        );
    }
    let ids: Vec<_> = heard.iter().map(|event| event.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");

    // Taken up in the middle, nothing is told twice and nothing is left out.
    let mut again = Feed::open(&gateway.alice(), "/events", Some(heard[1].id));
    assert_eq!((0..2).map(|_| again.next()).collect::<Vec<_>>(), heard[2..]);
    // A supervisor hears of its own tools only.
    let mut bot = Feed::open(&gateway.fs_bot(), "/events?after=0", None);
    assert_eq!((0..2).map(|_| bot.next()).collect::<Vec<_>>(), heard[..2]);

    // And the feed goes on live.
    gateway.admin().post("/stop", &json!({})).ok();
    for feed in [&mut feed, &mut again, &mut bot] {
        assert_eq!(feed.next().name, "stop");
    }
}

#[test]
fn a_feed_ends_with_its_key() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let made = gateway
        .admin()
        .post("/keys", &json!({"name": "carol", "role": "human"}));
    let key = made.is(201).json()["key"].as_str().unwrap().to_owned();
    let mut feed = Feed::open(&gateway.client().key(&key), "/events", None);
    let ask = |n: u64| {
        gateway
            .agent()
            .decide_async("payments.send", json!({"n": n}))
    };
    ask(1).is(202);
    assert_eq!(feed.next().name, "approval.created");
    gateway.admin().delete("/keys/carol").ok();
    ask(2).is(202);
    // Its removal is the last that it may hear of.
    let told = feed.rest();
    assert!(!told.contains("approval.created"), "{told}");
}

#[test]
fn a_long_poll_returns_when_something_comes() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let listen = |client: crate::http::Client, target: &'static str| {
        thread::spawn(move || client.get(target).ok().json())
    };
    let anything = listen(gateway.alice(), "/approvals?status=pending&wait=60s");
    let mail = listen(
        gateway.alice(),
        "/approvals?status=pending&tool=gmail.*&wait=60s",
    );
    let files = listen(gateway.fs_bot(), "/approvals?status=pending&wait=60s");
    agent.decide_async("payments.send", json!({})).is(202);
    let came: Value = anything.join().unwrap();
    assert_eq!(came[0]["tool"], "payments.send");
    // What is not theirs does not wake the others for good.
    agent.decide_async("gmail.send", json!({})).is(202);
    assert_eq!(mail.join().unwrap()[0]["tool"], "gmail.send");
    assert!(!files.is_finished());
    agent
        .decide_async("filesystem.write_file", json!({}))
        .is(202);
    let came = files.join().unwrap();
    assert_eq!(came.as_array().unwrap().len(), 1);
    assert_eq!(came[0]["tool"], "filesystem.write_file");
    // Nothing to come, and no patience: an empty list, at once.
    let nothing = gateway
        .alice()
        .get("/approvals?status=expired&wait=0s")
        .ok();
    assert_eq!(nothing.json(), json!([]));
}
