//! Qwen Code: settings in the place of the machine's administrator.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    Ground, Habit, Offers, Overlay, Profile, Unsafe, files::Base, gemini::allowed, says, settings,
};
use crate::metering::{Metering, Told};

const OWN: &str = "Qwen Code";
const FOLDER: Base = Base::named("QWEN_HOME", ".qwen");
const MACHINES: &str = "/etc/qwen-code/settings.json";

/// A rule that asks beats the user's rules that allow.
const ASKED: [&str; 15] = [
    "run_shell_command",
    "edit",
    "write_file",
    "notebook_edit",
    "web_fetch",
    "web_search",
    "skill",
    "monitor",
    "cron_create",
    "cron_delete",
    "loop_wakeup",
    "image_gen",
    "artifact",
    "save_memory",
    "mcp__*",
];

/// Tools whose acts nobody would see. A sub-agent has the mode that its file says (`approvalMode: yolo`, in the
/// repository too), edits unasked without one, starts the servers of its file, or is another agent altogether; and
/// a worktree runs the repository's git hooks.
const DENIED: [&str; 7] = [
    "agent",
    "workflow",
    "team_create",
    "send_message",
    "create_sub_session",
    "enter_worktree",
    "exit_worktree",
];

pub(super) static QWEN: Profile = Profile {
    name: "qwen",
    title: OWN,
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    arguments: &["--acp"],
    programs: &["qwen", "qwen-code"],
    introduces: |said| says(said, &["qwen-code"]),
    modes: &["default", "plan"],
    withdrawn: None,
    unasked: &["reads files, lists them, and searches in them"],
    unasked_kinds: &[],
    others_act: false,
    arguments_as_text: false,
    habits: &[Habit::LooksAtGit],
    loosening: &["yolo", "approvalmode", "safemode", "bare"],
    login: "qwen",
    metering: Metering {
        tokens: Told::DuringRun,
        cost: Told::Never,
    },
    offers: Offers::ALL,
    home: &[
        FOLDER.login("oauth_creds.json"),
        FOLDER.settings("settings.json"),
        FOLDER.settings("installation_id"),
        FOLDER.settings(".env"),
        FOLDER.settings("QWEN.md"),
        FOLDER.sessions("projects"),
        FOLDER.sessions("tmp"),
    ],
    shell_settings: Some(".qwen/settings.json"),
    overlay,
};

/// Beside what the machine's administrator denies.
fn denied(system: &Value) -> Vec<Value> {
    let theirs = system
        .pointer("/permissions/deny")
        .and_then(Value::as_array);
    let theirs = theirs.into_iter().flatten().cloned();
    theirs.chain(DENIED.map(Value::from)).collect()
}

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    let mut system = settings::json(OWN, Path::new(MACHINES))?.map_or(Value::Null, Value::Object);
    let denied = denied(&system);
    settings::merge(
        &mut system,
        json!({
            "$version": 3,
            "tools": {"approvalMode": "default", "discoveryCommand": "", "callCommand": ""},
            "permissions": {"ask": ASKED, "deny": denied},
            "disableAllHooks": true,
            "hooksConfig": {"enabled": false},
            "security": {"folderTrust": {"enabled": true}},
        }),
    );
    let system = ground.write(OWN, "qwen/system.json", &system.to_string())?;
    // Servers are started if the folder of the process is trusted; settings are read of the session's.
    let trust = json!({
        ground.start.to_string_lossy(): "TRUST_FOLDER",
        ground.repo.to_string_lossy(): "DO_NOT_TRUST",
    });
    let trust = ground.write(OWN, "qwen/trusted.json", &trust.to_string())?;
    let mut arguments: Vec<String> = ["--approval-mode", "default", "-e", "none"]
        .map(str::to_owned)
        .into();
    arguments.extend(allowed(ground.servers));
    Ok(Overlay {
        variables: vec![
            ("QWEN_CODE_SYSTEM_SETTINGS_PATH", system.into()),
            ("QWEN_CODE_TRUSTED_FOLDERS_PATH", trust.into()),
        ],
        arguments,
        ..Overlay::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_administrator_denies_stays_denied() {
        let denied = denied(&json!({"permissions": {"deny": ["Bash(rm *)"]}}));
        assert_eq!(denied.first(), Some(&json!("Bash(rm *)")));
        assert!(denied.contains(&json!("agent")));
    }
}
