//! Agents whose user has not logged in: the run fails, and says who has to do what.

use std::fs;

use provost_runner::agents;
use serde_json::json;

use super::{Agent, Work, matrix::said};

/// Without its settings, and without the variables that have its key.
#[track_caller]
fn a_missing_login_is_told(agent: Agent, name: &str, settings: &str) {
    let profile = agents::named(name).unwrap();
    let work = Work::of(agent, "true");
    if !settings.is_empty() {
        fs::remove_file(work.site.path(settings)).unwrap();
    }
    let output = work.run(&json!({
        "permissions": "deny", "agent": name, "env": {"HOME": work.site.path(".")},
    }));
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "failed (auth_required)",
        &format!("{} needs a login", profile.title),
        &format!("run `{}` in a terminal", profile.login),
    ] {
        assert!(said.contains(part), "{agent:?} lacks {part}: {said}");
    }
}

#[test]
fn codex() {
    a_missing_login_is_told(Agent::Codex, "codex", ".codex/config.toml");
}

#[test]
fn gemini() {
    a_missing_login_is_told(Agent::Gemini, "gemini", ".gemini/settings.json");
}

#[test]
fn kimi() {
    a_missing_login_is_told(Agent::Kimi, "kimi", ".kimi-code/config.toml");
}

#[test]
fn qwen() {
    a_missing_login_is_told(Agent::Qwen, "qwen", "");
}
