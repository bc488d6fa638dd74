//! The agents that the gateway may run: whether they are there, and where they may work.

use std::{env, ffi::OsString, os::unix::fs::PermissionsExt as _, path::Path};

use provost_gateway::fleet::{Agent, Settings};
use provost_runner::config::split;
use serde_json::Value;

use super::findings::Findings;
use crate::{
    client::{Client, Target},
    config::Config,
};

const NAME: &str = "runs";

pub(super) fn settings(config: &Config, findings: &mut Findings) {
    let Some(runs) = &config.runs else { return };
    for (name, agent) in &runs.agents {
        let program = split(&agent.command).and_then(|words| words.into_iter().next());
        let program = program.unwrap_or_default();
        if is_there(&program, agent) {
            findings.ok(NAME, format!("agent `{name}`: {program}"));
        } else {
            findings.warn(
                NAME,
                format!("agent `{name}`: `{program}` is not found"),
                "install it, or write its path in `runs.agents`",
            );
        }
    }
    roots(runs, findings);
}

fn roots(runs: &Settings, findings: &mut Findings) {
    for root in &runs.roots {
        let shown = root.display();
        if root.is_dir() {
            findings.ok(NAME, format!("agents may work in {shown}"));
        } else {
            findings.warn(
                NAME,
                format!("{shown} is no folder"),
                "make it, or correct `runs.roots`",
            );
        }
    }
}

/// What the gateway says of them.
pub(super) async fn counts(client: &Client, findings: &mut Findings) {
    // One without the section, or a key that may not look, has nothing to say here.
    let Ok(answer) = client.get(Target::new("/v1/runs?limit=1")).await else {
        return;
    };
    let count = |name: &str| answer.body.get(name).and_then(Value::as_u64);
    let (running, queued) = (count("running"), count("queued"));
    let (running, queued) = (running.unwrap_or_default(), queued.unwrap_or_default());
    findings.ok(
        NAME,
        format!("{running} running, {queued} waiting for their turn"),
    );
}

/// A path may be within the folder that the agent works in, which is not known here.
fn is_there(program: &str, agent: &Agent) -> bool {
    if program.contains('/') {
        return !program.starts_with('/') || is_executable(Path::new(program));
    }
    let own = agent.env.iter().find(|(name, _)| name == "PATH");
    let own = own.map(|(_, path)| OsString::from(path.expose()));
    let path = own.or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
