//! Qwen Code: settings in the place of the machine's administrator.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    Ground, Offers, Overlay, Profile, Unsafe, files::Base, gemini::allowed, says, settings,
};
use crate::metering::{Metering, Told};

const OWN: &str = "Qwen Code";
const FOLDER: Base = Base::named("QWEN_HOME", ".qwen");
const MACHINES: &str = "/etc/qwen-code/settings.json";

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

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    let mut system = settings::json(OWN, Path::new(MACHINES))?.map_or(Value::Null, Value::Object);
    let asked = [
        "run_shell_command",
        "edit",
        "write_file",
        "notebook_edit",
        "web_fetch",
        "web_search",
        "skill",
        "monitor",
        "workflow",
        "mcp__*",
    ];
    settings::merge(
        &mut system,
        json!({
            "$version": 3,
            "tools": {"approvalMode": "default", "discoveryCommand": "", "callCommand": ""},
            "permissions": {"ask": asked},
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
