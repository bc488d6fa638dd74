//! Codex, through its adapter: a home of its own, because what the user's has cannot be taken away by settings.

use serde_json::json;
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::{Ground, Habit, Offers, Overlay, Profile, Unsafe, files::Base, says, settings};
use crate::metering::{Metering, Told};

const OWN: &str = "Codex";
/// Which model, and where it is: all that is taken of the user's settings.
const KEYS: [&str; 8] = [
    "model",
    "model_provider",
    "model_providers",
    "model_reasoning_effort",
    "model_context_window",
    "chatgpt_base_url",
    "openai_base_url",
    "cli_auth_credentials_store",
];

const FOLDER: Base = Base::named("CODEX_HOME", ".codex");

pub(super) static CODEX: Profile = Profile {
    name: "codex",
    title: "Codex",
    package: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    arguments: &[],
    programs: &["codex-acp"],
    introduces: |said| says(said, &["codex-acp"]),
    modes: &["read-only"],
    withdrawn: None,
    unasked: &[
        "runs commands in its own sandbox, which lets them read all your files, and neither write nor connect",
    ],
    unasked_kinds: &["execute"],
    others_act: false,
    arguments_as_text: false,
    habits: &[Habit::LooksAtGit],
    loosening: &[],
    login: "codex login",
    metering: Metering {
        tokens: Told::DuringRun,
        cost: Told::Never,
    },
    offers: Offers::ALL,
    home: &[
        FOLDER.login("auth.json"),
        FOLDER.settings("config.toml"),
        FOLDER.settings("AGENTS.md"),
        FOLDER.sessions("sessions"),
    ],
    shell_settings: None,
    overlay,
};

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    let environment = ground.environment;
    let home = environment.path("CODEX_HOME");
    let home = home.unwrap_or_else(|| environment.home().join(".codex"));
    ground.write(OWN, "codex/config.toml", &settings(ground, &home)?)?;
    ground.link(OWN, &home.join("auth.json"), "codex/auth.json")?;
    ground.keep(OWN, &home.join("sessions"), "codex/sessions")?;
    let config = json!({
        "approval_policy": "on-request", "approvals_reviewer": "user", "sandbox_mode": "read-only",
        "web_search": "disabled", "notify": [], "features": {"hooks": false, "plugins": false, "apps": false},
    });
    Ok(Overlay {
        variables: vec![
            ("CODEX_HOME", ground.own.join("codex").into()),
            ("CODEX_CONFIG", config.to_string().into()),
            ("INITIAL_AGENT_MODE", "read-only".into()),
        ],
        // The adapter trusts the folder by the name it is given, and Codex looks for the plain one: so the
        // settings and rules of the repository stay unread.
        dotted: true,
        ..Overlay::default()
    })
}

fn settings(ground: &Ground<'_>, home: &std::path::Path) -> Result<String, Unsafe> {
    let mut ours = DocumentMut::new();
    if let Some(theirs) = settings::toml(OWN, &home.join("config.toml"))? {
        let kept = theirs.iter().filter(|(key, _)| KEYS.contains(key));
        for (key, item) in kept {
            ours.insert(key, item.clone());
        }
    }
    for (key, text) in [
        ("approval_policy", "on-request"),
        ("approvals_reviewer", "user"),
        ("sandbox_mode", "read-only"),
        ("web_search", "disabled"),
    ] {
        ours.insert(key, value(text));
    }
    ours.insert("notify", value(Array::new()));
    let mut features = Table::new();
    for name in ["hooks", "plugins", "apps"] {
        features.insert(name, value(false));
    }
    ours.insert("features", Item::Table(features));
    let mut project = Table::new();
    project.insert("trust_level", value("untrusted"));
    let mut projects = Table::new();
    projects.insert(&ground.repo.to_string_lossy(), Item::Table(project));
    ours.insert("projects", Item::Table(projects));
    Ok(ours.to_string())
}
