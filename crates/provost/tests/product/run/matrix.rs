//! Every agent that is known, with settings of its user and of the repository that let it act unasked. One cell of
//! the matrix for each agent; `full` has the rest.

mod confined;
mod full;

use std::process::Output;

use serde_json::{Value, json};

use super::{
    Agent, Work,
    agents::{RAN, note},
};

/// The agent has a shell command to run, and settings of all kinds that let it.
pub(super) fn hostile(agent: Agent, command: &str) -> Work {
    let work = Work::of(agent, command);
    let repo = work.site.path("work");
    agent.spoil(&work.site.path("."), &repo, &work.site.path("mark"));
    work
}

#[track_caller]
pub(super) fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Nothing runs that nobody allowed, whatever its settings say.
#[track_caller]
fn nothing_runs_unseen(agent: Agent) {
    let work = hostile(agent, &note("a"));
    let output = work.run(&json!({"permissions": "deny"}));
    nothing_was_run(agent, &work, "run", &said(&output));
}

/// It asked, was told no, and did nothing.
#[track_caller]
pub(super) fn nothing_was_run(agent: Agent, work: &Work, run: &str, said: &str) {
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?} ran it: {said}");
    assert!(!work.model.heard(RAN), "{agent:?} says that it ran: {said}");
    assert!(
        !work.site.path("mark").exists(),
        "{agent:?} ran what was planted: {said}"
    );
    let journal = work.journal_lines(run);
    let decisions: Vec<&Value> = journal
        .iter()
        .filter_map(|line| line.get("decision"))
        .collect();
    assert!(!decisions.is_empty(), "{agent:?} asked nothing: {said}");
    assert!(
        decisions
            .iter()
            .all(|decision| decision["outcome"] != "allowed"),
        "{decisions:?}"
    );
}

macro_rules! each_agent {
    ($($name:ident: $agent:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            nothing_runs_unseen(Agent::$agent);
        }
    )*};
}

each_agent! {
    claude: Claude, codex: Codex, gemini: Gemini, opencode: OpenCode, qwen: Qwen, goose: Goose, kimi: Kimi,
    kilo: Kilo,
}
