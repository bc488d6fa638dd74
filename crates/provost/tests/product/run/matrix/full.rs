//! Every agent through a yes, a no and no answer of the gate, a kill and its resumption, a limit and a sandbox. This
//! takes long: `./test.sh --full` runs it.

use std::fs;

use serde_json::{Value, json};

use super::{super::asking, Agent, Work, hostile, said};
use crate::harness::{Gateway, eventually};

fn decide(gateway: &Gateway, pending: &Value, verdict: &str) {
    let path = format!("/approvals/{}/{verdict}", pending["id"].as_str().unwrap());
    gateway.alice().post(&path, &json!({})).ok();
}

/// Where everything is allowed, it runs.
fn allowed(agent: Agent) {
    let work = Work::of(agent, "touch done");
    // Else Codex asks a reviewer of its own, which is the model once more.
    let mode = (agent == Agent::Codex).then_some("read-only");
    let output = work.run(&json!({"permissions": "auto", "mode": mode}));
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert!(work.exists("done"), "{agent:?} {}", said(&output));
}

/// A person says yes, and is asked once.
fn gateway_yes(agent: Agent) {
    let work = hostile(agent, "touch done");
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert!(work.exists("done"), "{agent:?} {}", said(&output));
    assert_eq!(gateway.traces().len(), 1, "{agent:?} asked more than once");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

fn gateway_no(agent: Agent) {
    let work = hostile(agent, "touch done");
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "deny");
    let output = runner.wait();
    assert!(!work.exists("done"), "{agent:?} {}", said(&output));
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

/// Nobody answers: that is a no.
fn gateway_timeout(agent: Agent) {
    let work = hostile(agent, "touch done");
    let gateway = work.gateway();
    let permissions = json!({"by": "gateway", "timeoutSeconds": 1});
    let output = work.run(&json!({"gateway": asking(&gateway), "permissions": permissions}));
    assert!(!work.exists("done"), "{agent:?} {}", said(&output));
    let journal = work.journal_lines("run");
    let timed_out = |line: &Value| line["decision"]["by"] == "timeout";
    assert!(journal.iter().any(timed_out), "{agent:?} {}", said(&output));
}

/// The runner is killed while somebody is asked; the session goes on in another one, and asks again.
fn killed_and_resumed(agent: Agent) {
    let work = hostile(agent, "touch done");
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let first = gateway.one_pending();
    let session = first["session_id"].as_str().unwrap().to_owned();
    work.until_session_is_kept(&session);
    runner.kill();
    assert!(!work.exists("done"), "{agent:?}");
    let more = json!({"gateway": asking(&gateway), "sessionId": session, "runId": "again"});
    let resumed = work.start(&more);
    eventually("being asked again", || {
        let journal = fs::read_to_string(work.journal("again")).ok()?;
        journal.contains("session/request_permission").then_some(())
    });
    // The one that waits now: what the killed one asked is nobody's, unless it is the same.
    for pending in gateway.alice().pending() {
        decide(&gateway, &pending, "approve");
    }
    let output = resumed.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert!(work.exists("done"), "{agent:?} {}", said(&output));
}

fn limited(agent: Agent) {
    let work = hostile(agent, "touch done");
    let gateway = work.gateway();
    let limits = json!({"wallSeconds": 20, "graceSeconds": 1});
    let output = work.run(&json!({"gateway": asking(&gateway), "limits": limits}));
    assert_eq!(output.status.code(), Some(1), "{agent:?} {}", said(&output));
    assert!(
        said(&output).contains("wallSeconds"),
        "{agent:?} {}",
        said(&output)
    );
    assert!(!work.exists("done"), "{agent:?}");
}

macro_rules! cells {
    ($($name:ident: $agent:ident),* $(,)?) => {$(
        mod $name {
            use super::Agent;

            cells!(@each $agent: allowed, gateway_yes, gateway_no, gateway_timeout, killed_and_resumed, limited);
        }
    )*};
    (@each $agent:ident: $($cell:ident),*) => {$(
        #[test]
        fn $cell() {
            super::$cell(Agent::$agent);
        }
    )*};
}

cells! {
    claude: Claude, codex: Codex, gemini: Gemini, opencode: OpenCode, qwen: Qwen, goose: Goose, kimi: Kimi,
    kilo: Kilo,
}
