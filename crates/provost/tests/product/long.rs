//! Calls with long arguments, within the usual limits: what lists them still answers, and nobody waits for them.

use std::{
    process::Output,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, POLICY, Site},
};

const LONG: usize = 1_000_000;
const MANY: usize = 18;

fn long(n: usize) -> Value {
    json!({"n": n, "text": "x".repeat(LONG)})
}

#[track_caller]
fn said(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn command(site: &Site, gateway: &Gateway, arguments: &[&str]) -> String {
    let url = gateway.url();
    let all: Vec<_> = arguments.iter().copied().chain(["--url", &url]).collect();
    said(&site.provost(&all))
}

fn array(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

#[test]
fn p10_long_questions_hide_no_other_from_people() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    for n in 0..MANY {
        let asked = gateway.agent().decide_async("payments.send", long(n));
        asked.is(202);
    }
    let other = gateway.client().agent("other");
    let other = other.decide_async("payments.send", json!({"amount": 5}));
    let other = other.is(202).approval_id();

    let page = gateway.alice().get("/approvals?status=pending").ok();
    assert!(page.body.len() < 1 << 20, "{} bytes", page.body.len());
    assert_eq!(page.json().as_array().unwrap().len(), MANY + 1);
    let list = command(&site, &gateway, &["approvals", "list"]);
    assert!(list.contains(&other) && list.contains("content_length"));
    let list = array(&command(&site, &gateway, &["approvals", "list", "--json"]));
    assert_eq!(list.len(), MANY + 1);
    let id = list[0]["id"].as_str().unwrap();
    let one = command(&site, &gateway, &["approvals", "show", id, "--json"]);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["params"], long(0));
}

#[test]
fn p10_long_calls_are_listed_exported_and_replayed() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    for n in 0..MANY {
        let decided = gateway.agent().decide_async("notes.add", long(n));
        decided.ok();
    }
    let listed = ["traces", "list", "--limit", "1000", "--json"];
    assert_eq!(array(&command(&site, &gateway, &listed)).len(), MANY);
    let exported = command(&site, &gateway, &["traces", "export"]);
    let records = exported.lines().filter(|line| line.contains("\"record\""));
    assert!(records.count() >= MANY);
    let replay = ["policy", "replay", "--config", "provost.yaml", "--json"];
    let replayed: Value = serde_json::from_str(&command(&site, &gateway, &replay)).unwrap();
    assert_eq!(replayed["decisions"], MANY);
}

/// The longest of some looks at something that is answered at once.
fn longest_look(
    gateway: &Gateway,
    path: &str,
    meanwhile: impl Fn() + Sync,
) -> (Duration, Duration) {
    let began = Instant::now();
    thread::scope(|scope| {
        let work = scope.spawn(&meanwhile);
        let mut longest = Duration::ZERO;
        while !work.is_finished() {
            let began = Instant::now();
            gateway.admin().get(path).ok();
            longest = longest.max(began.elapsed());
        }
        (longest, began.elapsed())
    })
}

#[test]
fn p10_nobody_waits_while_long_arguments_are_read() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let steps: Vec<_> = (0..1500)
        .map(|n| format!("echo 'step {n}' password=hunter{n}horse"))
        .collect();
    let ask = |n: usize| {
        let params = json!({"n": n, "command": steps.join("\n")});
        gateway.agent().decide_async("shell.run", params).is(202);
    };
    let asking = || {
        thread::scope(|scope| {
            for n in 0..8 {
                scope.spawn(move || ask(n));
            }
        });
    };
    let (longest, all) = longest_look(&gateway, "/stop", asking);
    assert!(longest < all / 4, "{longest:?} of {all:?}");
}
