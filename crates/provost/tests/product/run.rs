//! `provost run` with real coding agents, whose model is scripted: reported to a receiver, asking a gateway.

mod agents;
mod ends;
mod hostile;
mod kinds;
mod login;
mod matrix;
mod metering;
mod planted;
mod sandbox;
mod sessions;

use std::{
    fs,
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process, test_kill_process_group};
use serde_json::{Value, json};

use self::{
    agents::{Work, asking},
    kinds::Agent,
};
use crate::{harness::eventually, receiver::Receiver};

const SECRET: &str = "whsec_c2VjcmV0LW9mLXRoZS1yZWNlaXZlcg==";

/// What a receiver was told, in the order of its numbers.
fn reports(receiver: &Receiver) -> Vec<Value> {
    let told = eventually("the terminal report", || {
        let told = receiver.told(1);
        let reports: Vec<Value> = told
            .iter()
            .map(|told| serde_json::from_str(&told.body).unwrap())
            .filter(|report: &Value| report["kind"] != "heartbeat")
            .collect();
        // A report that was answered with a failure comes again.
        let mut reports = reports;
        reports.dedup_by_key(|report| report["sequence"].clone());
        let ended = |report: &Value| report["kind"].as_str().unwrap().starts_with("prompt_");
        reports.iter().any(ended).then_some(reports)
    });
    for (index, report) in told.iter().enumerate() {
        assert_eq!(report["sequence"], index as u64 + 1, "{report}");
    }
    told
}

fn updates(reports: &[Value]) -> Vec<&Value> {
    let lists = reports
        .iter()
        .filter_map(|report| report["notifications"].as_array());
    lists
        .flatten()
        .map(|notification| &notification["update"])
        .collect()
}

#[track_caller]
fn an_agent_works_and_is_reported(agent: Agent) {
    let receiver = Receiver::start(1);
    let work = Work::of(agent, "touch done && echo it-is-done");
    let output = work.run(&json!({
        "callbackUrl": format!("http://{}/callback", receiver.addr), "token": "a-token", "signingSecret": SECRET,
    }));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(work.exists("done"));
    assert!(work.model.was_told().contains("it-is-done"));
    let reports = reports(&receiver);
    let last = reports.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["stopReason"]),
        (&json!("prompt_complete"), &json!("end_turn"))
    );
    assert_eq!(last["snapshot"]["state"], "done", "{last}");
    let updates = updates(&reports);
    assert!(
        updates
            .iter()
            .any(|update| update["sessionUpdate"] == "tool_call"),
        "{updates:?}"
    );
    for told in receiver.told(1) {
        assert_eq!(told.header("authorization"), "Bearer a-token");
        assert!(told.is_signed_with(SECRET));
    }
}

#[test]
fn claude_works_and_is_reported() {
    an_agent_works_and_is_reported(Agent::Claude);
}

#[test]
fn opencode_works_and_is_reported() {
    an_agent_works_and_is_reported(Agent::OpenCode);
}

/// A person is asked at the gate, and says yes to one command and no to another.
#[track_caller]
fn an_agent_asks_the_gate(agent: Agent) {
    let mut work = Work::of(agent, "touch done");
    let gateway = work.gateway();
    for (verdict, ran) in [("deny", false), ("approve", true)] {
        let runner = work.start(&json!({ "gateway": asking(&gateway) }));
        let pending = gateway.one_pending();
        assert_eq!(pending["tool"], "acp.execute");
        assert_eq!(pending["params"]["command"], "touch done");
        assert_eq!(pending["summary"]["kind"], "command");
        let path = format!("/approvals/{}/{verdict}", pending["id"].as_str().unwrap());
        gateway
            .alice()
            .post(&path, &json!({"reasoning": "seen"}))
            .ok();
        let output = runner.wait();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{verdict}: {said}");
        assert_eq!(work.exists("done"), ran, "{verdict}");
        let traces = gateway.traces();
        let trace = &traces[0];
        assert_eq!(
            (&trace["tool"], &trace["door"]),
            (&json!("acp.execute"), &json!("acp"))
        );
        work.again();
    }
    work.site.verify_chain(Some(&gateway));
}

#[test]
fn claude_asks_the_gate() {
    an_agent_asks_the_gate(Agent::Claude);
}

#[test]
fn opencode_asks_the_gate() {
    an_agent_asks_the_gate(Agent::OpenCode);
}

#[test]
fn a_grant_answers_without_asking() {
    let work = Work::of(Agent::Claude, "touch done");
    let gateway = work.gateway();
    let grant = json!({"agent": "runner", "tools": "acp.execute", "duration": "10m"});
    assert_eq!(gateway.admin().post("/grants", &grant).status, 201);
    let output = work.run(&json!({ "gateway": asking(&gateway) }));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(work.exists("done"));
    assert_eq!(gateway.alice().pending(), [] as [Value; 0]);
}

#[test]
fn a_killed_run_is_resumed_and_asks_again() {
    let work = Work::of(Agent::Claude, "touch done");
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let first = gateway.one_pending();
    let session = first["session_id"].as_str().unwrap();
    work.until_kept(session);
    runner.kill();
    assert!(!work.exists("done"));

    let more = json!({"gateway": asking(&gateway), "sessionId": session, "runId": "again"});
    let resumed = work.start(&more);
    // The same question of the same session: nobody is asked twice.
    eventually("being asked again", || {
        let journal = fs::read_to_string(work.journal("again")).ok()?;
        journal.contains("session/request_permission").then_some(())
    });
    assert_eq!(gateway.one_pending()["id"], first["id"]);
    let path = format!("/approvals/{}/approve", first["id"].as_str().unwrap());
    gateway.alice().post(&path, &json!({})).ok();
    let output = resumed.wait();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(work.exists("done"));
    let journal = fs::read_to_string(work.journal("again")).unwrap();
    assert!(journal.contains("\"session/resume\""));
}

#[test]
fn the_stop_switch_ends_a_run_and_everything_it_started() {
    let work = Work::of(Agent::Claude, "touch done");
    let gateway = work.gateway();
    let receiver = Receiver::start(0);
    let runner = work.start(&json!({
        "gateway": asking(&gateway),
        "callbackUrl": format!("http://{}/", receiver.addr), "token": "a-token",
    }));
    gateway.one_pending();
    let group = runner.agents_group();
    gateway
        .admin()
        .post("/stop", &json!({"agent": "runner", "reasoning": "enough"}))
        .ok();
    let output = runner.wait();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let reports = reports(&receiver);
    let last = reports.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["error"]["data"]["reason"]),
        (&json!("prompt_failed"), &json!("stopped"))
    );
    assert!(
        last["error"]["message"]
            .as_str()
            .unwrap()
            .contains("enough"),
        "{last}"
    );
    assert!(!work.exists("done"));
    assert!(
        test_kill_process_group(group).is_err(),
        "its processes live on"
    );

    let refused = work.run(&json!({"gateway": asking(&gateway), "runId": "next"}));
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not started"));
}

#[test]
fn a_signal_ends_a_run_cleanly() {
    let work = Work::of(Agent::Claude, "touch done");
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    gateway.one_pending();
    let group = runner.agents_group();
    kill_process(Pid::from_raw(runner.id()).unwrap(), Signal::TERM).unwrap();
    let output = runner.wait();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stopped"));
    assert!(
        test_kill_process_group(group).is_err(),
        "its processes live on"
    );
}

#[test]
fn what_left_the_agents_group_ends_with_the_run() {
    let command = "setsid sh -c 'sleep 600 & wait' >/dev/null 2>&1 & echo $! > daemon";
    let work = Work::of(Agent::Claude, command);
    let output = work.run(&json!({}));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let id = fs::read_to_string(work.site.path("work/daemon")).unwrap();
    let daemon = Pid::from_raw(id.trim().parse().unwrap()).unwrap();
    assert!(test_kill_process(daemon).is_err(), "it lives on");
    assert!(
        test_kill_process_group(daemon).is_err(),
        "what it started lives on"
    );
}

#[test]
fn a_runner_that_is_killed_takes_everything_along() {
    let command = "setsid sleep 600 & echo $! > daemon; sleep 600";
    let work = Work::of(Agent::Claude, command);
    let runner = work.start(&json!({}));
    let daemon = eventually("the daemon", || {
        let id = fs::read_to_string(work.site.path("work/daemon")).ok()?;
        Pid::from_raw(id.trim().parse().ok()?)
    });
    let group = runner.agents_group();
    kill_process(Pid::from_raw(runner.id()).unwrap(), Signal::KILL).unwrap();
    eventually("the end of all of them", || {
        let gone = test_kill_process_group(group).is_err() && test_kill_process(daemon).is_err();
        gone.then_some(())
    });
    runner.wait();
}

#[test]
fn a_confined_agent_works_in_its_folder_alone() {
    let outside = tempfile::tempdir().unwrap();
    let command = format!("touch done; touch {}/escaped", outside.path().display());
    let work = Work::of(Agent::Claude, &command);
    let output = work.run(&json!({ "sandbox": true }));
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(work.exists("done"));
    assert!(!outside.path().join("escaped").exists());
    let journal = fs::read_to_string(work.journal("run")).unwrap();
    assert!(
        journal.contains("\"sandbox\""),
        "what was enforced is not told"
    );
}

#[test]
fn wrong_use_is_told_at_once() {
    let site = crate::harness::Site::empty();
    fs::write(
        site.path("run.json"),
        r#"{"runId": "r", "token": "very-secret", "limits": {"turn": 1}}"#,
    )
    .unwrap();
    let output = site.provost(&["run", "--config", "run.json"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for problem in [
        "`taskId` is missing",
        "`callbackUrl` is missing",
        "`prompt` is missing",
        "`limits.turn` is not known here",
    ] {
        assert!(said.contains(problem), "{said}");
    }
    assert!(!said.contains("very-secret"), "{said}");
    let output = site.provost(&["run"]);
    assert_eq!(output.status.code(), Some(2));
    // Nothing is installed that nobody agreed to.
    let output = site.provost(&["run", "x", "--permissions", "deny"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("Claude Code is not installed"), "{said}");
    let none = Command::new(crate::harness::PROVOST)
        .args(["run", "--prompt", "x", "--url", "http://127.0.0.1:1"])
        .current_dir(site.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&none.stderr);
    assert_eq!(none.status.code(), Some(3), "{said}");
    assert!(said.contains("--permissions deny"), "{said}");
    // Who has no gateway is told what else there is.
    let none = site.provost(&["run", "claude", "x"]);
    let said = String::from_utf8_lossy(&none.stderr);
    assert_eq!(none.status.code(), Some(3), "{said}");
    for way in ["provost serve", "--watch", "--permissions deny"] {
        assert!(said.contains(way), "{said}");
    }
}
