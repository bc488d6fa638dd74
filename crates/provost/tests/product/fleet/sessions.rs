//! Sessions that stay: prompts that follow, through restarts, by HTTP, on the command line and in the browser.

use std::{fs, process::Output};

use serde_json::{Value, json};

use super::{ONE, Stage, cancel, get, kill, start, until};
use crate::{
    chromium::Browser,
    console::{pages::fit, sign_in},
    harness::{ALICE, Gateway, eventually},
    http::Answer,
    receiver::Receiver,
};

pub(super) fn kept(stage: &Stage, prompt: &str) -> Value {
    let mut body = stage.body(prompt);
    body["keep"] = json!(true);
    body
}

pub(super) fn send(gateway: &Gateway, run: &str, body: &Value) -> Answer {
    gateway
        .alice()
        .post(&format!("/v1/runs/{run}/prompts"), body)
}

fn prompts(gateway: &Gateway, run: &str) -> Vec<Value> {
    let answer = gateway.alice().get(&format!("/v1/runs/{run}/prompts"));
    answer.ok().json()["prompts"].as_array().unwrap().clone()
}

/// The prompt of this number, once it is in a state.
#[track_caller]
pub(super) fn prompt_is(gateway: &Gateway, run: &str, number: u64, state: &str) -> Value {
    eventually(&format!("prompt {number} {state}"), || {
        let found = prompts(gateway, run);
        let found = found.into_iter().find(|one| one["number"] == number)?;
        (found["state"] == state).then_some(found)
    })
}

fn cancel_prompt(gateway: &Gateway, run: &str, prompt: &Value) -> Answer {
    let id = prompt["promptId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/prompts/{id}/cancel");
    gateway.alice().post(&path, &json!({}))
}

#[test]
fn prompts_follow_in_a_session_that_stays() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "first"));
    let idle = until(&gateway, &id, "idle");
    assert_eq!(idle["answer"], "heard: first", "{idle}");
    let sent = send(&gateway, &id, &json!({"prompt": "second"}))
        .is(202)
        .json();
    assert_eq!(
        (&sent["number"], &sent["state"]),
        (&json!(2), &json!("queued"))
    );
    let second = prompt_is(&gateway, &id, 2, "done");
    assert_eq!(second["promptId"], sent["promptId"]);
    assert_eq!(second["answer"], "heard: second");
    assert_eq!(
        (&second["by"], &second["prompt"]),
        (&json!("human:alice"), &json!("second"))
    );
    // The same request is the same prompt.
    let again = gateway.alice().with("idempotency-key", "k");
    let path = format!("/v1/runs/{id}/prompts");
    let body = json!({"prompt": "ask once", "promptId": "mine"});
    let first = again.post(&path, &body).is(202).json();
    let replayed = again.post(&path, &body).is(202);
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
    assert_eq!(replayed.json()["number"], first["number"]);
    let reused = again.post(&path, &json!({"prompt": "other"}));
    reused.refused(422, "idempotency_key_reused");
    assert!(
        reused.text().contains("another prompt"),
        "{}",
        reused.text()
    );
    assert_eq!(prompts(&gateway, &id)[2]["answer"], Value::Null);
    // It asks the gate as any prompt does, in the same session.
    let asked = gateway.one_pending();
    assert_eq!(asked["session_id"], idle["sessionId"]);
    let waiting = send(&gateway, &id, &json!({"prompt": "waits"}))
        .is(202)
        .json();
    let taken_back = send(&gateway, &id, &json!({"prompt": "taken back"}))
        .is(202)
        .json();
    cancel_prompt(&gateway, &id, &taken_back).is(202);
    // The turn ends, its question with it, and the session stays.
    cancel_prompt(&gateway, &id, &first).is(202);
    let cancelled = prompt_is(&gateway, &id, 3, "cancelled");
    assert_eq!(cancelled["cancelledBy"], "human:alice");
    assert_eq!(
        prompt_is(&gateway, &id, 4, "done")["promptId"],
        waiting["promptId"]
    );
    prompt_is(&gateway, &id, 5, "cancelled");
    cancel_prompt(&gateway, &id, &first).refused(409, "already_ended");
    let journal = format!("{:?}", stage.journal(&id));
    assert!(!journal.contains("heard: taken back"), "{journal}");
}

#[test]
fn a_session_ends_when_it_is_told_to_and_takes_nothing_more() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "first"));
    until(&gateway, &id, "idle");
    cancel(&gateway, &id).is(202);
    let done = until(&gateway, &id, "done");
    assert_eq!(
        (&done["stopReason"], &done["error"]),
        (&json!("end_turn"), &Value::Null)
    );
    assert_eq!(done["cancelledBy"], "human:alice");
    send(&gateway, &id, &json!({"prompt": "late"})).refused(409, "already_ended");
    // A run that does not stay takes none either.
    let id = start(&gateway, &stage.body("hang"));
    until(&gateway, &id, "running");
    send(&gateway, &id, &json!({"prompt": "more"})).refused(409, "not_kept");
    for bad in [
        json!({}),
        json!({"prompt": ""}),
        json!({"prompt": "x", "agent": "y"}),
        json!({"prompt": "x", "options": {"a": 1}}),
        json!({"prompt": "x".repeat(300_000)}),
    ] {
        send(&gateway, &id, &bad).refused(400, "bad_request");
    }
    cancel(&gateway, &id).is(202);
    // One that nobody writes to ends by itself.
    let mut body = stage.body("short");
    body["keep"] = json!({"idleSeconds": 1});
    let id = start(&gateway, &body);
    until(&gateway, &id, "done");
}

#[test]
fn no_more_prompts_wait_than_may() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "hang"));
    until(&gateway, &id, "running");
    for _ in 0..20 {
        send(&gateway, &id, &json!({"prompt": "more"})).is(202);
    }
    let full = send(&gateway, &id, &json!({"prompt": "more"}));
    full.refused(429, "queue_full");
    // All that wait are told how they ended.
    cancel(&gateway, &id).is(202);
    until(&gateway, &id, "cancelled");
    let states: Vec<_> = prompts(&gateway, &id);
    assert_eq!(states.len(), 21);
    assert_eq!(states[0]["state"], "cancelled");
    assert!(
        states[1..]
            .iter()
            .all(|one| one["error"]["reason"] == "not_begun"),
        "{states:?}"
    );
}

#[test]
fn prompts_that_wait_outlive_the_gateway() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "ask"));
    until(&gateway, &id, "waiting_permission");
    let pid = stage.pid(&id);
    send(&gateway, &id, &json!({"prompt": "second"})).is(202);
    gateway.kill();
    let gateway = stage.site.start();
    assert_eq!(prompts(&gateway, &id)[1]["state"], "queued");
    let asked = gateway.one_pending();
    gateway.alice().approve(asked["id"].as_str().unwrap()).ok();
    assert_eq!(
        prompt_is(&gateway, &id, 2, "done")["answer"],
        "heard: second"
    );
    assert_eq!(stage.pid(&id), pid);
    send(&gateway, &id, &json!({"prompt": "third"})).is(202);
    prompt_is(&gateway, &id, 3, "done");
}

#[test]
fn a_session_whose_runner_was_lost_waits_again() {
    let stage = Stage::new(ONE, "CAN_LOAD: 'yes'");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "first"));
    let idle = until(&gateway, &id, "idle");
    gateway.kill();
    kill(stage.pid(&id));
    let gateway = stage.site.start();
    send(&gateway, &id, &json!({"prompt": "second"})).is(202);
    assert_eq!(
        prompt_is(&gateway, &id, 2, "done")["answer"],
        "heard: second"
    );
    let now = get(&gateway, &id);
    assert_eq!(
        (&now["resumed"], &now["sessionId"]),
        (&json!(1), &idle["sessionId"])
    );
    // Nothing was open, so nothing was gone on with.
    let journal = format!("{:?}", stage.journal(&id));
    assert!(!journal.contains("interrupted"), "{journal}");
}

#[test]
fn a_session_with_a_name_goes_on_in_another_run() {
    let stage = Stage::new("concurrency: 2", "CAN_LOAD: 'yes'");
    let gateway = stage.site.start();
    let mut body = stage.body("first");
    body["session"] = json!("docs");
    let first = start(&gateway, &body);
    let idle = until(&gateway, &first, "idle");
    let busy = gateway.alice().post("/v1/runs", &body);
    busy.refused(409, "session_open");
    assert_eq!(busy.json()["run"], json!(first), "{}", busy.text());
    cancel(&gateway, &first).is(202);
    until(&gateway, &first, "done");
    let second = start(&gateway, &body);
    let idle_again = until(&gateway, &second, "idle");
    assert_eq!(idle_again["sessionId"], idle["sessionId"]);
    let listed = gateway.alice().get("/v1/runs?session=docs").ok().json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    cancel(&gateway, &second).is(202);
    until(&gateway, &second, "done");
    let other = stage.site.path("projects/other");
    fs::create_dir(&other).unwrap();
    body["repoDir"] = json!(other);
    gateway
        .alice()
        .post("/v1/runs", &body)
        .refused(400, "bad_request");
}

#[test]
fn the_question_of_a_cancelled_turn_is_taken_back() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let id = start(&gateway, &kept(&stage, "ask"));
    until(&gateway, &id, "waiting_permission");
    let asked = gateway.one_pending();
    cancel_prompt(&gateway, &id, &json!({"promptId": id})).is(202);
    until(&gateway, &id, "idle");
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    let asked = gateway.alice().get(&path).ok().json();
    assert_eq!(asked["status"], "denied", "{asked}");
}

#[test]
fn an_agent_that_cannot_go_on_says_so() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let mut body = stage.body("first");
    body["session"] = json!("docs");
    let id = start(&gateway, &body);
    until(&gateway, &id, "idle");
    cancel(&gateway, &id).is(202);
    until(&gateway, &id, "done");
    let refused = gateway.alice().post("/v1/runs", &body);
    refused.refused(400, "bad_request");
    assert!(
        refused.text().contains("choose another name"),
        "{}",
        refused.text()
    );
}

#[test]
fn each_prompt_keeps_the_contract_of_its_callback() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let receiver = Receiver::start(0);
    let mut body = kept(&stage, "first");
    body["callbackUrl"] = json!(format!("http://{}/callback", receiver.addr));
    body["token"] = json!("a-token");
    let id = start(&gateway, &body);
    until(&gateway, &id, "idle");
    send(
        &gateway,
        &id,
        &json!({"prompt": "second", "promptId": "mine"}),
    )
    .is(202);
    prompt_is(&gateway, &id, 2, "done");
    let ends = eventually("both ends", || {
        let told = receiver.told(1);
        let all = told
            .iter()
            .map(|one| serde_json::from_str::<Value>(&one.body).unwrap());
        let all: Vec<_> = all.filter(|one| one["kind"] != "heartbeat").collect();
        let ends = all
            .iter()
            .filter(|one| one["kind"] == "prompt_complete")
            .count();
        (ends == 2).then_some(all)
    });
    for (prompt, run) in [(id.as_str(), &id), ("mine", &id)] {
        let own: Vec<_> = ends
            .iter()
            .filter(|one| one["promptId"] == prompt)
            .collect();
        for (index, report) in own.iter().enumerate() {
            assert_eq!(report["sequence"], index as u64 + 1, "{report}");
            assert_eq!(&report["runId"], run);
        }
        let last = own.last().unwrap();
        assert_eq!(last["kind"], "prompt_complete", "{last}");
    }
}

fn line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    text.trim_end().to_owned()
}

#[test]
fn a_session_is_led_from_the_command_line() {
    let stage = Stage::new(ONE, "");
    let gateway = stage.site.start();
    let mut body = kept(&stage, "write the first");
    body["session"] = json!("docs");
    let id = start(&gateway, &body);
    until(&gateway, &id, "idle");
    let provost = |words: &[&str]| stage.site.provost(words);
    assert_eq!(
        line(&provost(&["runs", "answer", "last"])),
        "heard: write the first"
    );
    fs::write(stage.site.path("second.txt"), "write the second").unwrap();
    let file = ["--prompt-file", "second.txt"];
    let said = provost(&[&["runs", "prompt", &id], &file[..], &["--wait"]].concat());
    assert_eq!(line(&said), "heard: write the second");
    let listed = line(&provost(&["runs", "list", "--session", "docs"]));
    assert!(listed.contains(&id) && listed.contains("idle"), "{listed}");
    assert!(
        listed.lines().all(|line| line.chars().count() <= 80),
        "{listed}"
    );
    let shown = line(&provost(&["runs", "show", &id]));
    assert!(
        shown.contains("heard: write the second") && shown.contains(&format!("{id}-p2")),
        "{shown}"
    );
    let json: Value =
        serde_json::from_str(&line(&provost(&["runs", "show", &id, "--json"]))).unwrap();
    assert_eq!(json["prompts"][1]["answer"], "heard: write the second");
    let logs = line(&provost(&["runs", "logs", &id]));
    assert!(logs.contains("heard: write the first"), "{logs}");
    let logs = line(&provost(&["runs", "logs", &id, "--json"]));
    assert!(
        logs.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{logs}"
    );
    let changes = line(&provost(&["runs", "changes", &id]));
    assert!(
        changes.contains("added note.txt +2 -0") && changes.contains("+write the second"),
        "{changes}"
    );
    // A turn that is cancelled leaves the session.
    line(&provost(&["runs", "prompt", &id, "hang on"]));
    prompt_is(&gateway, &id, 3, "running");
    line(&provost(&["runs", "cancel", &id, "--turn"]));
    prompt_is(&gateway, &id, 3, "cancelled");
    assert_eq!(provost(&["runs", "answer", &id]).status.code(), Some(1));
    let nothing = provost(&["runs", "cancel", &id, "--turn"]);
    assert_eq!(nothing.status.code(), Some(1));
    let ended = line(&provost(&["runs", "cancel", &id]));
    assert_eq!(ended, format!("ended the session of run {id}"));
    // To its end, and not for ever.
    let logs = line(&provost(&["runs", "logs", &id, "--follow"]));
    assert!(logs.contains("write the second"), "{logs}");
    // It ended as its last prompt did.
    until(&gateway, &id, "cancelled");
    assert_eq!(
        provost(&["runs", "show", "run_none"]).status.code(),
        Some(1)
    );
    drop(gateway);
    assert_eq!(provost(&["runs", "list"]).status.code(), Some(3));
}

#[test]
fn a_session_is_led_in_the_browser_without_a_script() {
    let stage = Stage::new("concurrency: 2", "CAN_LOAD: 'yes'");
    fs::write(stage.repo.join("note.txt"), "before\n").unwrap();
    let gateway = stage.site.start();
    let mut body = stage.body("write one");
    body["session"] = json!("docs");
    let id = start(&gateway, &body);
    until(&gateway, &id, "idle");
    let mut browser = Browser::start();
    browser.look(1100, 900, "light");
    sign_in(&mut browser, &gateway, ALICE);
    browser.without_script(true);
    let page = |path: &str| format!("{}{path}", gateway.url());
    let shows = |text: &str| format!("document.body.innerText.includes({text:?})");
    browser.go(&page("/console/runs"));
    browser.click("a[href='/console/run-sessions/docs']");
    browser.until("its history", &shows("heard: write one"));
    browser.click("textarea[name=prompt]");
    browser.type_text("write <b>two</b>");
    browser.click("main button.primary");
    prompt_is(&gateway, &id, 2, "done");
    browser.go(&page(&format!("/console/runs/{id}")));
    browser.until("the answer", &shows("heard: write <b>two</b>"));
    browser.click("a[href$='/changes']");
    browser.until("the difference", &shows("write <b>two</b>"));
    let added = browser.text("document.querySelector('.diff .added .text').innerText.trim()");
    assert_eq!(added, "write one");
    let pages = [
        ("run-session", "/console/run-sessions/docs".to_owned()),
        ("run-changes", format!("/console/runs/{id}/changes")),
        ("run-idle", format!("/console/runs/{id}")),
        ("runs-sessions", "/console/runs".to_owned()),
    ];
    fit(&mut browser, &gateway.url(), &pages);
    browser.look(1100, 900, "light");
    // A turn is cancelled here, too, and then the session ends.
    send(&gateway, &id, &json!({"prompt": "hang"})).is(202);
    prompt_is(&gateway, &id, 3, "running");
    browser.go(&page(&format!("/console/runs/{id}")));
    browser.click("form[action$='/cancel'] button:not(.no)");
    prompt_is(&gateway, &id, 3, "cancelled");
    cancel(&gateway, &id).is(202);
    until(&gateway, &id, "cancelled");
    // What follows goes on in a run of its own.
    browser.go(&page("/console/run-sessions/docs"));
    browser.click("textarea[name=prompt]");
    browser.type_text("three");
    browser.click("main button.primary");
    let next = eventually("the next run", || {
        let runs = gateway.alice().get("/v1/runs?session=docs").ok().json();
        let newest = runs["runs"][0]["id"].as_str().unwrap().to_owned();
        (newest != id).then_some(newest)
    });
    until(&gateway, &next, "idle");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
