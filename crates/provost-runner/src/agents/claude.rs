//! Claude Code, through its adapter. Its overlay is all in the protocol.

use serde_json::{Value, json};

use super::{Ground, Habit, Offers, Overlay, Profile, Unsafe, files::Base, says};
use crate::metering::{Metering, Told};

/// A rule that asks beats the user's rules that allow, wherever those are written.
const ASK: [&str; 11] = [
    "Bash",
    "Edit",
    "Write",
    "NotebookEdit",
    "WebFetch",
    "WebSearch",
    "Skill",
    "Workflow",
    "EnterWorktree",
    "ExitWorktree",
    "mcp__*",
];

const FOLDER: Base = Base::named("CLAUDE_CONFIG_DIR", ".claude");
/// Of its state, which also has the MCP servers and the history of every project.
const ACCOUNT: [&str; 4] = [
    "oauthAccount",
    "userID",
    "hasCompletedOnboarding",
    "customApiKeyResponses",
];

pub(super) static CLAUDE: Profile = Profile {
    name: "claude",
    title: "Claude Code",
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.99.1",
    arguments: &[],
    programs: &["claude-agent-acp", "claude-code-acp"],
    introduces: |said| says(said, &["claude-agent-acp", "claude-code-acp"]),
    modes: &["default", "plan"],
    withdrawn: Some("bypassPermissions"),
    unasked: &[
        "reads files, and searches in them",
        "starts sub-agents, whose acts are asked about, also in a git worktree of their own",
        "runs hooks that the machine's administrator manages, and the `apiKeyHelper` of your login",
    ],
    unasked_kinds: &[],
    others_act: false,
    arguments_as_text: false,
    habits: &[Habit::LooksAtGit],
    loosening: &[],
    login: "claude auth login",
    metering: Metering {
        tokens: Told::DuringRun,
        cost: Told::AtEnd,
    },
    offers: Offers::ALL,
    home: &[
        FOLDER.login(".credentials.json"),
        FOLDER.settings("settings.json"),
        FOLDER.settings("CLAUDE.md"),
        Base::named("CLAUDE_CONFIG_DIR", "").fields(".claude.json", &ACCOUNT),
        FOLDER.sessions("projects"),
    ],
    shell_settings: None,
    overlay,
};

#[expect(clippy::unnecessary_wraps, reason = "the form of every overlay")]
fn overlay(_: &Ground<'_>) -> Result<Overlay, Unsafe> {
    Ok(Overlay {
        meta: Some(meta()),
        ..Overlay::default()
    })
}

/// The rules are given twice: where the machine has managed settings of its own, ours are dropped, and where
/// only managed rules count, those of `settings` are.
fn meta() -> Value {
    json!({"claudeCode": {"options": {
        "settingSources": ["user"],
        "strictMcpConfig": true,
        "allowDangerouslySkipPermissions": false,
        "managedSettings": {
            "allowManagedPermissionRulesOnly": true,
            "allowManagedHooksOnly": true,
            "disableAllHooks": true,
            "permissions": {"disableBypassPermissionsMode": "disable", "ask": ASK},
        },
        "settings": {"disableAllHooks": true, "permissions": {"ask": ASK}},
    }}})
}
