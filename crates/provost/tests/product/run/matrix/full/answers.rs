//! A yes, a no and no answer; and what the session is asked next.

use provost_runner::inbox::Inbox;
use serde_json::{Value, json};

use super::{Agent, Work, asking, decide, hostile, said};
use crate::{
    model::{Act, LAST_WORD},
    receiver::Receiver,
    run::{
        agents::{RAN, note},
        reports,
    },
};

/// Where everything is allowed, it runs.
pub(super) fn allowed(agent: Agent) {
    let work = Work::of(agent, &note("a"));
    // Else Codex asks a reviewer of its own, which is the model once more.
    let mode = (agent == Agent::Codex).then_some("read-only");
    let output = work.run(&json!({"permissions": "auto", "mode": mode}));
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a"], "{agent:?} {}", said(&output));
    assert!(work.model.heard(RAN), "{agent:?}");
}

/// A person says yes, and is asked once.
pub(super) fn gateway_yes(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let asked = gateway.one_pending();
    assert_eq!(
        work.notes(),
        [] as [&str; 0],
        "{agent:?} ran before the yes"
    );
    decide(&gateway, &asked, "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a"], "{agent:?} {}", said(&output));
    assert!(work.model.heard(RAN), "{agent:?}");
    assert_eq!(gateway.traces().len(), 1, "{agent:?} asked more than once");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

pub(super) fn gateway_no(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "deny");
    let output = runner.wait();
    nothing_ran(agent, &work, &said(&output));
    assert_eq!(work.decisions("run"), ["rejected"], "{agent:?}");
}

/// Nobody answers: that is a no.
pub(super) fn gateway_timeout(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let permissions = json!({"by": "gateway", "timeoutSeconds": 1});
    let output = work.run(&json!({"gateway": asking(&gateway), "permissions": permissions}));
    nothing_ran(agent, &work, &said(&output));
    let journal = work.journal_lines("run");
    let timed_out = |line: &Value| line["decision"]["by"] == "timeout";
    assert!(journal.iter().any(timed_out), "{agent:?} {}", said(&output));
}

/// The session goes on with another prompt, which it is asked about again, and remembers the first.
pub(super) fn follow_up(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let asked = gateway.one_pending();
    let session = asked["session_id"].clone();
    decide(&gateway, &asked, "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));

    work.model.then_does(vec![vec![Act::run(&note("b"))]]);
    let more = json!({"gateway": asking(&gateway), "sessionId": session, "runId": "next", "promptId": "next"});
    let runner = work.start(&more);
    let asked = gateway.one_pending();
    assert_eq!(asked["session_id"], session, "{agent:?}");
    assert_eq!(work.notes(), ["a"], "{agent:?} ran before the yes");
    decide(&gateway, &asked, "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a", "b"], "{agent:?} {}", said(&output));
    assert!(work.model.was_reminded_of(LAST_WORD), "{agent:?} forgot");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

/// A prompt that follows in a session that stays, in the same process, is asked about like the first, with reports of
/// its own.
pub(super) fn live_follow_up(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let (gateway, receiver) = (work.gateway(), Receiver::start(0));
    let inbox = Inbox::at(work.site.path("prompts"));
    inbox.make().unwrap();
    let runner = work.start(&json!({
        "gateway": asking(&gateway), "callbackUrl": format!("http://{}/", receiver.addr), "token": "a-token",
        "keep": {"promptsDir": work.site.path("prompts"), "idleSeconds": 10},
    }));
    let asked = gateway.one_pending();
    let process = runner.agent();
    decide(&gateway, &asked, "approve");
    reports(&receiver);
    assert_eq!(work.notes(), ["a"], "{agent:?}");

    work.model.then_does(vec![vec![Act::run(&note("b"))]]);
    let next = json!({"promptId": "next", "prompt": "and the other thing"});
    inbox
        .add(2, &serde_json::from_str(&next.to_string()).unwrap())
        .unwrap();
    let then = gateway.one_pending();
    assert_eq!(then["session_id"], asked["session_id"], "{agent:?}");
    assert_eq!(runner.agent(), process, "{agent:?} was started again");
    assert_eq!(work.notes(), ["a"], "{agent:?} ran before the yes");
    decide(&gateway, &then, "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a", "b"], "{agent:?} {}", said(&output));
    assert!(work.model.was_reminded_of(LAST_WORD), "{agent:?} forgot");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
    let told = receiver.told(1);
    let last: Value = serde_json::from_str(&told.last().unwrap().body).unwrap();
    assert_eq!(last["promptId"], "next", "{agent:?} {last}");
    assert_eq!(last["kind"], "prompt_complete", "{agent:?} {last}");
}

#[track_caller]
fn nothing_ran(agent: Agent, work: &Work, said: &str) {
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?} ran it: {said}");
    assert!(!work.model.heard(RAN), "{agent:?} says that it ran: {said}");
    assert!(
        !work.site.path("mark").exists(),
        "{agent:?} ran what was planted: {said}"
    );
}
