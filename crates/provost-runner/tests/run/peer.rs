//! An agent that others wrote: with the crate of the protocol itself.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{json, value::RawValue};

use crate::{receiver::Act, trial::Trial};

/// Built by itself, because what it depends on would change what is tested here (see its manifest).
fn built() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peer/Cargo.toml");
    let tests = std::env::current_exe().unwrap();
    let target = tests.ancestors().nth(3).unwrap().join("peer");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--locked", "--quiet", "--manifest-path"]);
    cargo.arg(manifest).arg("--target-dir").arg(&target);
    assert!(cargo.status().unwrap().success());
    target.join("debug/peer-agent")
}

#[derive(serde::Deserialize)]
struct Line<'a> {
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[tokio::test]
async fn an_agent_of_the_protocols_own_crate_is_driven_from_start_to_end() {
    let agent = tokio::task::spawn_blocking(built).await.unwrap();
    for (kind, option) in [("allow_once", "fine"), ("reject_once", "never")] {
        let answer = json!({"permission": {"permissionId": "prompt:permission:1", "kind": kind}});
        let acts = std::iter::repeat_n(Act::Say(answer.to_string()), 10);
        let trial = Trial::with(acts).await.set("permissions", "callback");
        let sent = trial.at("sent");
        let trial = trial.set("command", json!([agent, sent]));
        let done = trial.run().await;
        done.complete("end_turn");
        assert!(
            done.reports
                .iter()
                .all(|report| report["sessionId"] == "peer")
        );
        let sent = std::fs::read_to_string(sent).unwrap();
        let lines = sent
            .lines()
            .map(|line| serde_json::from_str::<Line<'_>>(line).unwrap());
        let updates = lines.filter(|line| line.method.as_deref() == Some("session/update"));
        let updates: Vec<_> = updates.map(|line| line.params.unwrap().get()).collect();
        assert_eq!(done.raw, updates);
        assert_eq!(updates.len(), 4);
        let messages = &done.last()["snapshot"]["messages"];
        assert!(messages.to_string().contains(option), "{messages}");
        assert!(messages.to_string().contains("do it"), "{messages}");
        assert_eq!(
            done.last()["snapshot"]["toolCalls"][0]["status"],
            "completed"
        );
    }
}
