//! The agent or its runner is killed while somebody is asked.

use std::{fs, time::Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};
use serde_json::{Value, json};

use super::{Agent, asking, decide, eventually, hostile, said};
use crate::{
    receiver::Receiver,
    run::{
        agents::{RAN, note},
        reports,
    },
};

/// More than a runner takes to see that its agent is gone, and to tell it.
const SOON: u64 = 10;

/// The run fails at once and says so, and a yes that comes later is none.
pub(super) fn agent_killed(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let receiver = Receiver::start(0);
    let runner = work.start(&json!({
        "gateway": asking(&gateway), "callbackUrl": format!("http://{}/", receiver.addr), "token": "a-token",
    }));
    let asked = gateway.one_pending();
    let group = runner.agents_group();
    let killed = Instant::now();
    kill_process(runner.agent(), Signal::KILL).unwrap();
    let output = runner.wait();
    assert!(killed.elapsed().as_secs() < SOON, "{agent:?} ended late");
    assert_eq!(output.status.code(), Some(1), "{agent:?} {}", said(&output));
    let told = reports(&receiver);
    let last = told.last().unwrap();
    assert_eq!(last["kind"], "prompt_failed", "{agent:?} {last}");
    assert_eq!(
        last["error"]["data"]["reason"], "agent_exited",
        "{agent:?} {last}"
    );
    assert!(
        test_kill_process_group(group).is_err(),
        "{agent:?} left processes"
    );
    // The question went with its turn.
    let path = format!("/approvals/{}/approve", asked["id"].as_str().unwrap());
    let late = gateway.alice().post(&path, &json!({}));
    assert_eq!(late.status, 409, "{agent:?}");
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
    assert!(!work.model.heard(RAN), "{agent:?}");
}

/// The agent goes with its runner, and a yes that comes later runs nothing.
pub(super) fn runner_killed(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let asked = gateway.one_pending();
    let (group, process) = (runner.agents_group(), runner.agent());
    kill_process(Pid::from_raw(runner.id()).unwrap(), Signal::KILL).unwrap();
    runner.wait();
    eventually("the end of the agent", || {
        let gone = test_kill_process_group(group).is_err()
            && rustix::process::test_kill_process(process).is_err();
        gone.then_some(())
    });
    decide(&gateway, &asked, "approve");
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
    assert!(!work.model.heard(RAN), "{agent:?}");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

/// The session goes on in another runner, and asks again.
pub(super) fn killed_and_resumed(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let first = gateway.one_pending();
    let session = first["session_id"].as_str().unwrap().to_owned();
    work.until_session_is_kept(&session);
    runner.kill();
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
    let more = json!({"gateway": asking(&gateway), "sessionId": session, "runId": "again"});
    let resumed = work.start(&more);
    eventually("being asked again", || {
        let journal = fs::read_to_string(work.journal("again")).ok()?;
        journal.contains("session/request_permission").then_some(())
    });
    assert_eq!(
        work.notes(),
        [] as [&str; 0],
        "{agent:?} ran before the yes"
    );
    // The one that waits now: what the killed one asked is nobody's, unless it is the same.
    for asked in gateway.alice().pending() {
        decide(&gateway, &asked, "approve");
    }
    let output = resumed.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a"], "{agent:?} {}", said(&output));
    assert!(work.model.heard(RAN), "{agent:?}");
    let asked: Vec<Value> = gateway.traces();
    assert!(!asked.is_empty(), "{agent:?}");
}
