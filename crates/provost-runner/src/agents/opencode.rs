//! opencode, and Kilo, which is made from it: the same overlay under other names.

mod planted;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::{
    Ground, Offers, Overlay, Profile, Unsafe,
    files::{CONFIG, DATA},
    says,
    settings::{self, only},
};
use crate::metering::{Metering, Told};

/// What differs between the two.
struct Names {
    agent: &'static str,
    /// Of its folder and its files.
    file: &'static str,
    config: &'static str,
    content: &'static str,
    folder: &'static str,
    auth: &'static str,
    permission: &'static str,
    home: &'static str,
    switches: [&'static str; 5],
    agents: &'static [&'static str],
}

const OURS: Names = Names {
    agent: "opencode",
    file: "opencode",
    config: "OPENCODE_CONFIG",
    content: "OPENCODE_CONFIG_CONTENT",
    folder: "OPENCODE_CONFIG_DIR",
    auth: "OPENCODE_AUTH_CONTENT",
    permission: "OPENCODE_PERMISSION",
    home: "OPENCODE_TEST_HOME",
    switches: [
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_PURE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_CLAUDE_CODE",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    ],
    agents: &["build", "plan", "general", "explore"],
};

const KILOS: Names = Names {
    agent: "Kilo",
    file: "kilo",
    config: "KILO_CONFIG",
    content: "KILO_CONFIG_CONTENT",
    folder: "KILO_CONFIG_DIR",
    auth: "KILO_AUTH_CONTENT",
    permission: "KILO_PERMISSION",
    home: "KILO_TEST_HOME",
    switches: [
        "KILO_DISABLE_PROJECT_CONFIG",
        "KILO_PURE",
        "KILO_DISABLE_DEFAULT_PLUGINS",
        "KILO_DISABLE_CLAUDE_CODE",
        "KILO_DISABLE_EXTERNAL_SKILLS",
    ],
    agents: &[
        "code",
        "ask",
        "debug",
        "orchestrator",
        "plan",
        "architect",
        "build",
        "general",
        "explore",
    ],
};

/// When a turn is over.
const METERING: Metering = Metering {
    tokens: Told::AtEnd,
    cost: Told::AtEnd,
};
const UNASKED: &[&str] = &["reads files, lists them, and searches in them"];

pub(super) static OPENCODE: Profile = Profile {
    name: "opencode",
    title: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    arguments: &["acp"],
    programs: &[
        "opencode",
        "opencode-ai",
        "opencode-linux-x64",
        "opencode-linux-x64-baseline",
    ],
    introduces: |said| says(said, &["opencode"]),
    modes: &["build", "plan"],
    withdrawn: None,
    unasked: UNASKED,
    unasked_kinds: &[],
    others_act: false,
    arguments_as_text: false,
    habits: &[],
    loosening: &[],
    login: "opencode auth login",
    metering: METERING,
    // It writes files itself once it may, and then has us write them again.
    offers: Offers::NONE,
    home: &[
        DATA.login("opencode/auth.json"),
        CONFIG.settings("opencode/config.json"),
        CONFIG.settings("opencode/opencode.json"),
        CONFIG.settings("opencode/opencode.jsonc"),
        CONFIG.settings("opencode/AGENTS.md"),
        DATA.sessions("opencode/storage"),
        DATA.sessions("opencode/opencode.db"),
        DATA.sessions("opencode/opencode.db-shm"),
        DATA.sessions("opencode/opencode.db-wal"),
    ],
    shell_settings: None,
    overlay: |ground| {
        if !ground.confined {
            planted::plugins(ground.repo)?;
            planted::organisation(ground.environment, &OURS)?;
        }
        overlay(ground, &OURS)
    },
};

pub(super) static KILO: Profile = Profile {
    name: "kilo",
    title: "Kilo",
    package: "@kilocode/cli",
    version: "7.7.9",
    arguments: &["acp"],
    programs: &["kilo", "kilocode", "cli-linux-x64"],
    introduces: |said| says(said, &["kilo"]),
    modes: &["code", "ask", "debug", "plan", "architect", "build"],
    withdrawn: None,
    unasked: UNASKED,
    unasked_kinds: &[],
    others_act: false,
    arguments_as_text: false,
    habits: &[],
    loosening: &[],
    login: "kilo auth login",
    metering: METERING,
    offers: Offers::NONE,
    home: &[
        DATA.login("kilo/auth.json"),
        CONFIG.settings("kilo/config.json"),
        CONFIG.settings("kilo/kilo.json"),
        CONFIG.settings("kilo/kilo.jsonc"),
        CONFIG.settings("kilo/AGENTS.md"),
        DATA.sessions("kilo/storage"),
        DATA.sessions("kilo/kilo.db"),
        DATA.sessions("kilo/kilo.db-shm"),
        DATA.sessions("kilo/kilo.db-wal"),
    ],
    shell_settings: None,
    overlay: |ground| {
        if !ground.confined {
            planted::servers(ground.repo)?;
            planted::organisation(ground.environment, &KILOS)?;
        }
        overlay(ground, &KILOS)
    },
};

fn overlay(ground: &Ground<'_>, names: &Names) -> Result<Overlay, Unsafe> {
    let own = names.agent;
    let text = Value::Object(login(ground, names)?).to_string();
    let file = format!("config/{0}/{0}.json", names.file);
    ground.write(own, &file, &text)?;
    let config = ground.folder(own, "config")?;
    let home = ground.folder(own, "home")?;
    let mut variables = vec![
        ("XDG_CONFIG_HOME", config.into()),
        (names.home, home.into()),
        (names.permission, permission().to_string().into()),
        (names.content, content(names).to_string().into()),
    ];
    variables.extend(names.switches.map(|name| (name, "1".into())));
    Ok(Overlay {
        variables,
        without: vec![names.config, names.folder],
        ..Overlay::default()
    })
}

/// Only words: an object would be merged with the user's patterns. A sub-agent's question never reaches the
/// client, and the prompt would hang: so there are none.
fn permission() -> Value {
    let mut rules = Map::new();
    let asked = [
        "*",
        "bash",
        "edit",
        "write",
        "patch",
        "apply_patch",
        "webfetch",
        "websearch",
        "codesearch",
        "skill",
        "external_directory",
        "doom_loop",
        "lsp",
        "repo_clone",
    ];
    for (names, word) in [
        (&asked[..], "ask"),
        (&["task", "question"], "deny"),
        (&["read", "glob", "grep", "list", "todowrite"], "allow"),
    ] {
        rules.extend(names.iter().map(|name| ((*name).to_owned(), word.into())));
    }
    rules.into()
}

/// The rules of each agent beat the rules of all. Formatters and language servers are the repository's own
/// programs, which reading a file would start.
fn content(names: &Names) -> Value {
    let agents = names.agents.iter();
    let agents = agents.map(|name| ((*name).to_owned(), json!({"permission": permission()})));
    let agents: Map<_, _> = agents.collect();
    json!({
        "permission": permission(), "formatter": false, "lsp": false, "share": "disabled", "agent": agents,
    })
}

/// Which model, and where it is: all that is taken of the user's settings.
fn login(ground: &Ground<'_>, names: &Names) -> Result<Map<String, Value>, Unsafe> {
    const KEYS: [&str; 5] = [
        "provider",
        "model",
        "small_model",
        "enabled_providers",
        "disabled_providers",
    ];
    let environment = ground.environment;
    let folder = environment.config_home().join(names.file);
    let mut files: Vec<PathBuf> = [
        "config.json".to_owned(),
        format!("{}.json", names.file),
        format!("{}.jsonc", names.file),
    ]
    .map(|name| folder.join(name))
    .into();
    files.extend(environment.path(names.config));
    let mut all = Value::Object(Map::new());
    for file in files {
        if let Some(found) = settings::json(names.agent, &file)? {
            let mut found = Value::Object(only(&found, &KEYS));
            anchor(&mut found, file.parent().unwrap_or(&folder));
            settings::merge(&mut all, found);
        }
    }
    if let Some(text) = environment.get(names.content) {
        let found = settings::object(&text.to_string_lossy());
        let found = found.map_err(|problem| Unsafe::Settings {
            agent: names.agent,
            path: names.content.into(),
            problem,
        })?;
        settings::merge(&mut all, only(&found, &KEYS).into());
    }
    match all {
        Value::Object(all) => Ok(all),
        _ => Ok(Map::new()),
    }
}

/// `{file:./key}` is beside the file that says so.
fn anchor(value: &mut Value, folder: &Path) {
    match value {
        Value::String(text) => {
            let inner = text
                .strip_prefix("{file:")
                .and_then(|text| text.strip_suffix('}'));
            let beside = inner.filter(|path| !path.starts_with(['/', '~']));
            if let Some(path) = beside {
                *text = format!("{{file:{}}}", folder.join(path).display());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| anchor(value, folder)),
        Value::Object(values) => values.values_mut().for_each(|value| anchor(value, folder)),
        _ => {}
    }
}
