//! Runs go on while gateways come and go, and where they cannot, that is told.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{ONE, Stage, cancel, get, kill, start, told, until};
use crate::{events_feed::Feed, harness::eventually, receiver::Receiver};

pub(super) fn reported_to(receiver: &Receiver, body: Value) -> Value {
    reported_at(receiver.addr, body)
}

pub(super) fn reported_at(addr: SocketAddr, mut body: Value) -> Value {
    body["callbackUrl"] = json!(format!("http://{addr}/callback"));
    body["token"] = json!("a-token");
    body
}

/// The reports of a prompt: numbered from 1 without a gap, and the last one is the only one that ends it.
#[track_caller]
pub(super) fn last_report(receiver: &Receiver, prompt: &str) -> Value {
    let ends =
        |report: &Value| report["kind"] == "prompt_complete" || report["kind"] == "prompt_failed";
    let told = eventually("the last report", || {
        let told = receiver.told(1).into_iter();
        let told: Vec<Value> = told
            .filter_map(|told| serde_json::from_str(&told.body).ok())
            .filter(|report: &Value| report["promptId"] == prompt && report["kind"] != "heartbeat")
            .collect();
        told.last().is_some_and(ends).then_some(told)
    });
    let mut numbers: Vec<_> = told
        .iter()
        .map(|report| report["sequence"].as_u64().unwrap())
        .collect();
    numbers.dedup();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(
        told.iter().filter(|report| ends(report)).count(),
        1,
        "{told:#?}"
    );
    told.last().cloned().unwrap()
}

#[test]
fn a_run_outlives_the_gateway() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("ask"));
    let queued = start(&gateway, &stage.body("queued"));
    until(&gateway, &id, "waiting_permission");
    gateway.one_pending();
    let pid = stage.pid(&id);
    let mut feed = Feed::open(&gateway.alice(), &format!("/v1/runs/{id}/events"), None);
    let seen = feed.next();
    gateway.kill();
    let gateway = stage.site.start();
    // The same process, the same question, and the one that waits still does.
    assert_eq!(get(&gateway, &id)["state"], "waiting_permission");
    assert_eq!(get(&gateway, &queued)["position"], 1);
    let asked = gateway.one_pending();
    gateway.alice().approve(asked["id"].as_str().unwrap()).ok();
    let done = until(&gateway, &id, "done");
    assert_eq!((&done["resumed"], stage.pid(&id)), (&json!(0), pid));
    assert!(told(&gateway, &id, Some(seen.id)).contains("chosen: allow"));
    until(&gateway, &queued, "done");
    // What has ended is known as it ended.
    drop(gateway);
    let gateway = stage.site.start();
    let again = get(&gateway, &id);
    assert_eq!(again, done);
}

#[test]
fn a_run_that_was_adopted_is_cancelled_like_any_other() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hang"));
    until(&gateway, &id, "running");
    gateway.kill();
    let gateway = stage.site.start();
    cancel(&gateway, &id).is(202);
    let cancelled = until(&gateway, &id, "cancelled");
    assert_eq!(cancelled["error"]["reason"], "stopped", "{cancelled}");
}

#[test]
fn a_run_that_was_lost_is_taken_up_once() {
    let stage = Stage::new(ONE, "CAN_LOAD: 'yes'");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hang"));
    let running = until(&gateway, &id, "running");
    gateway.kill();
    kill(stage.pid(&id));
    let gateway = stage.site.start();
    let done = until(&gateway, &id, "done");
    assert_eq!(done["resumed"], 1, "{done}");
    assert_eq!(done["sessionId"], running["sessionId"]);
    let all = told(&gateway, &id, None);
    assert!(all.contains("heard: You were interrupted"), "{all}");
}

#[test]
fn a_run_that_cannot_go_on_fails_and_says_why() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hang"));
    until(&gateway, &id, "running");
    gateway.kill();
    kill(stage.pid(&id));
    let gateway = stage.site.start();
    let failed = until(&gateway, &id, "failed");
    assert_eq!(failed["error"]["reason"], "lost", "{failed}");
    let why = failed["error"]["message"].as_str().unwrap();
    assert!(why.contains("cannot go on with a session"), "{failed}");
    // Lost under the eyes of a gateway, it is the same.
    let id = start(&gateway, &stage.body("hang"));
    until(&gateway, &id, "running");
    kill(stage.pid(&id));
    let failed = until(&gateway, &id, "failed");
    let why = failed["error"]["message"].as_str().unwrap();
    assert!(why.contains("signal 9"), "{failed}");
}

#[test]
fn the_gateways_environment_is_not_the_agents() {
    let stage = Stage::new(ONE, "GIVEN: x");
    let mut gateway = stage.site.start();
    let id = start(&gateway, &stage.body("hello"));
    until(&gateway, &id, "done");
    // It tells whether it has this variable; the tests' own environment is the gateway's.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let all = told(&gateway, &id, None);
    assert!(all.contains("\"version\":\"False\""), "{all}");
    // A gateway that is asked to end leaves its runs alone.
    let id = start(&gateway, &stage.body("ask"));
    until(&gateway, &id, "waiting_permission");
    gateway.terminate();
    assert!(gateway.ended().success());
    let gateway = stage.site.start();
    let asked = gateway.one_pending();
    gateway.alice().deny(asked["id"].as_str().unwrap()).ok();
    until(&gateway, &id, "done");
    assert!(told(&gateway, &id, None).contains("chosen: reject"));
}

#[test]
fn a_prompt_that_goes_on_after_a_kill_is_one_prompt_to_its_receiver() {
    let (receiver, stage) = (Receiver::start(0), Stage::new(ONE, "CAN_LOAD: 'yes'"));
    let gateway = stage.site.start();
    let id = start(&gateway, &reported_to(&receiver, stage.body("hang")));
    until(&gateway, &id, "running");
    kill(stage.pid(&id));
    until(&gateway, &id, "done");
    assert_eq!(last_report(&receiver, &id)["kind"], "prompt_complete");
}

#[test]
fn whoever_receives_reports_is_told_of_an_end_that_no_runner_told() {
    let (receiver, stage) = (Receiver::start(0), Stage::new(ONE, ""));
    let gateway = stage.site.start();
    let mut lost = reported_to(&receiver, stage.body("hang"));
    lost["keep"] = json!(true);
    let lost = start(&gateway, &lost);
    until(&gateway, &lost, "running");
    let prompts = format!("/v1/runs/{lost}/prompts");
    let next = json!({"prompt": "and then", "promptId": "next"});
    gateway.alice().post(&prompts, &next).is(202);
    let queued = start(&gateway, &reported_to(&receiver, stage.body("never")));
    cancel(&gateway, &queued).is(202);
    let cancelled = until(&gateway, &queued, "cancelled");
    assert_eq!(cancelled["error"]["reason"], "cancelled", "{cancelled}");
    kill(stage.pid(&lost));
    let failed = until(&gateway, &lost, "failed");
    assert_eq!(failed["error"]["reason"], "lost", "{failed}");
    for (prompt, reason) in [
        (&*lost, "lost"),
        ("next", "not_begun"),
        (&*queued, "cancelled"),
    ] {
        let last = last_report(&receiver, prompt);
        assert_eq!(last["kind"], "prompt_failed", "{last:#}");
        assert!(last.to_string().contains(reason), "{last:#}");
    }
}
