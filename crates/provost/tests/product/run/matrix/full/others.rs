//! Other adapters of agents that are known, agents of a user who may do little, and agents by their short names.

use std::{env, fs, process::Command};

use serde_json::json;

use super::{Agent, asking, decide, hostile, said};
use crate::{
    harness::PROVOST,
    run::{
        agents::{RAN, note},
        matrix::{nothing_runs_unseen, nothing_was_run},
    },
};

#[test]
fn an_older_claude_asks() {
    nothing_runs_unseen(Agent::OlderClaude);
    super::answers::gateway_yes(Agent::OlderClaude);
}

#[test]
fn another_codex_asks() {
    nothing_runs_unseen(Agent::OtherCodex);
    super::answers::gateway_yes(Agent::OtherCodex);
}

/// Some agents take settings only from files that are root's, and others have none of their own where they are.
#[track_caller]
fn runs_as_nobody(agent: Agent) {
    let mut work = hostile(agent, &note("a"));
    work.belongs_to_nobody();
    let output = work.run(&json!({"permissions": "deny", "runId": "denied"}));
    nothing_was_run(agent, &work, "denied", &said(&output));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "approve");
    let output = runner.wait();
    assert!(output.status.success(), "{agent:?} {}", said(&output));
    assert_eq!(work.notes(), ["a"], "{agent:?} {}", said(&output));
    assert!(work.model.heard(RAN), "{agent:?}");
    assert!(!work.site.path("mark").exists(), "{agent:?}");
}

#[test]
fn claude_runs_as_nobody() {
    runs_as_nobody(Agent::Claude);
}

#[test]
fn codex_runs_as_nobody() {
    runs_as_nobody(Agent::Codex);
}

#[test]
fn gemini_runs_as_nobody() {
    runs_as_nobody(Agent::Gemini);
}

/// `provost run gemini` installs the agent that is pinned, and makes it ask like any other.
#[test]
fn an_agent_is_installed_by_its_short_name() {
    let work = hostile(Agent::Gemini, &note("a"));
    let home = work.site.path(".");
    let mut command = Command::new(PROVOST);
    command
        .args(["run", "gemini", "do the work", "--yes", "--quiet"])
        .args(["--permissions", "deny", "--data", "runs", "--repo", "work"])
        .current_dir(&home);
    let variables = Agent::Gemini.env(&home, work.model.addr);
    for (name, value) in variables.as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    // npm keeps its settings and what it fetched where they are.
    let own = env::var("HOME").unwrap_or_default();
    command
        .env("NPM_CONFIG_USERCONFIG", format!("{own}/.npmrc"))
        .env("NPM_CONFIG_CACHE", format!("{own}/.npm"));
    let output = command.output().unwrap();
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert_eq!(work.notes(), [] as [&str; 0], "{said}");
    assert!(!work.site.path("mark").exists(), "{said}");
    assert!(said.contains(crate::model::LAST_WORD), "{said}");
    let agents = home.join(".local/state/provost/agents");
    let installed = fs::read_dir(agents).unwrap().flatten();
    let names: Vec<_> = installed.map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(
        names[0].to_string_lossy().starts_with("gemini-"),
        "{names:?}"
    );
}
