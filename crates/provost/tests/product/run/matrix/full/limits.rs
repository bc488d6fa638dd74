//! Each limit. Those that rest on what agents tell of their use are in `run::metering`.

use serde_json::{Value, json};

use super::{Agent, Work, asking, hostile, said};
use crate::{
    model::Act,
    run::agents::{RAN, note},
};

/// Nothing allowed the command, so it did not run; and the run ended because of that limit.
#[track_caller]
fn ended_by(agent: Agent, work: &Work, limit: &str, more: &Value) {
    let output = work.run(more);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{agent:?} {said}");
    assert!(said.contains(&format!("`{limit}`")), "{agent:?} {said}");
    let journal = work.journal_lines("run");
    let ended = journal.iter().find_map(|line| line["event"].get("ended"));
    assert_eq!(ended.unwrap()["reason"], "limit_exceeded", "{agent:?}");
}

fn three() -> Vec<Vec<Act>> {
    ["a", "b", "c"]
        .map(|name| vec![Act::run(&note(name))])
        .into()
}

/// Codex has a reviewer of its own in its usual mode.
fn with(agent: Agent, limits: Value) -> Value {
    let mode = (agent == Agent::Codex).then_some("read-only");
    json!({"permissions": "auto", "mode": mode, "limits": limits})
}

pub(super) fn wall(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let gateway = work.gateway();
    let limits = json!({"wallSeconds": 20, "graceSeconds": 1});
    let more = json!({"gateway": asking(&gateway), "limits": limits});
    ended_by(agent, &work, "wallSeconds", &more);
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
    assert!(!work.model.heard(RAN), "{agent:?}");
}

/// The model says nothing for a long time.
pub(super) fn idle(agent: Agent) {
    let work = Work::of(agent, &note("a"));
    let held = work.model.hold();
    let limits = json!({"wallSeconds": 100, "idleSeconds": 30, "graceSeconds": 1});
    ended_by(agent, &work, "idleSeconds", &with(agent, limits));
    held.until_asked();
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
}

pub(super) fn turns(agent: Agent) {
    let work = Work::doing(agent, three());
    ended_by(agent, &work, "turns", &with(agent, json!({"turns": 1})));
    assert!(work.notes().len() < 3, "{agent:?}");
}

pub(super) fn tool_calls(agent: Agent) {
    let work = Work::doing(agent, three());
    let limits = json!({"toolCalls": 1});
    ended_by(agent, &work, "toolCalls", &with(agent, limits));
    assert!(work.notes().len() < 3, "{agent:?}");
}

pub(super) fn output_bytes(agent: Agent) {
    let work = Work::doing(agent, three());
    let limits = json!({"outputBytes": 100});
    ended_by(agent, &work, "outputBytes", &with(agent, limits));
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?}");
}

pub(super) fn files_changed(agent: Agent) {
    let mut work = Work::doing(agent, Vec::new());
    let write = |name: &str| Act::Write {
        path: work
            .site
            .path("work")
            .join(name)
            .to_str()
            .unwrap()
            .to_owned(),
        text: name.to_owned(),
    };
    // More than an agent does before it hears that it is to end.
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    work.does(names.map(|name| vec![write(name)]).into());
    let limits = json!({"filesChanged": 1});
    ended_by(agent, &work, "filesChanged", &with(agent, limits));
    assert!(!work.exists("j"), "{agent:?}");
}
