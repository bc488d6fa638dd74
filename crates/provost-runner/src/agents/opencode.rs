//! opencode, and Kilo, which is made from it: the same overlay under other names.

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
            planted(ground.repo)?;
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
            planted_servers(ground.repo)?;
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

/// opencode loads the plugins of the repository whatever it is told: their code would run before it asks.
fn planted(repo: &Path) -> Result<(), Unsafe> {
    const OWN: &str = "opencode";
    let found = |path: PathBuf| Err(Unsafe::Planted { agent: OWN, path });
    for folder in up_to_root(repo) {
        let hidden = folder.join(".opencode");
        for plugins in ["plugin", "plugins"] {
            if let Some(script) = script_in(&hidden.join(plugins)) {
                return found(script);
            }
        }
        for folder in [folder, &hidden] {
            for name in ["opencode.json", "opencode.jsonc"] {
                let path = folder.join(name);
                // What cannot be read here might be read by it.
                let named = match settings::json(OWN, &path) {
                    Ok(settings) => settings.is_some_and(|settings| {
                        settings.contains_key("plugin") || settings.contains_key("plugins")
                    }),
                    Err(_) => true,
                };
                if named {
                    return found(path);
                }
            }
        }
    }
    Ok(())
}

/// Kilo starts the MCP servers of its older settings whatever it is told.
fn planted_servers(repo: &Path) -> Result<(), Unsafe> {
    let mut files = up_to_root(repo).map(|folder| folder.join(".kilocode/mcp.json"));
    // A link that leads nowhere now may lead somewhere later.
    let found = files.find(|path| path.symlink_metadata().is_ok());
    let agent = KILOS.agent;
    found.map_or(Ok(()), |path| Err(Unsafe::Planted { agent, path }))
}

/// The repository's folder and those above it, to the one that git keeps.
fn up_to_root(repo: &Path) -> impl Iterator<Item = &Path> {
    let mut over = false;
    repo.ancestors().take_while(move |folder| {
        let before = over;
        over = over || is_kept(folder);
        !before
    })
}

/// Whether git takes this for the top of a work tree. It looks further up where `.git` is none of its own.
fn is_kept(folder: &Path) -> bool {
    let git = folder.join(".git");
    let has_head = |folder: &Path| folder.join("HEAD").is_file();
    let link = std::fs::read_to_string(&git).ok();
    let link = link
        .as_deref()
        .and_then(|text| text.strip_prefix("gitdir: "));
    let link = link.map(|path| folder.join(path.trim_end()));
    let whole = has_head(&git) && git.join("objects").is_dir() && git.join("refs").is_dir();
    whole || link.is_some_and(|link| has_head(&link))
}

fn script_in(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(
            ending,
            Some("ts" | "js" | "mts" | "mjs" | "cts" | "cjs" | "tsx" | "jsx")
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository that git would take for one, with a folder in it.
    fn repository() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        for folder in [".git/objects", ".git/refs", "sub/.git"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        fs::write(place.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let sub = place.path().join("sub");
        (place, sub)
    }

    fn plant(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}").unwrap();
    }

    #[test]
    fn what_is_planted_is_found_above_a_git_folder_that_is_none() {
        let (place, sub) = repository();
        planted(&sub).unwrap();
        plant(&place.path().join(".opencode/plugin/x.js"));
        planted(&sub).unwrap_err();
        // Where git stops, so does opencode.
        fs::create_dir_all(sub.join(".git/objects")).unwrap();
        fs::create_dir_all(sub.join(".git/refs")).unwrap();
        fs::write(sub.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        planted(&sub).unwrap();
        fs::remove_dir_all(sub.join(".git")).unwrap();
        fs::write(sub.join(".git"), "gitdir: nowhere\n").unwrap();
        planted(&sub).unwrap_err();
        fs::write(sub.join(".git"), "gitdir: ../.git\n").unwrap();
        planted(&sub).unwrap();
    }

    #[test]
    fn servers_of_kilos_older_settings_are_found() {
        let (place, sub) = repository();
        planted_servers(&sub).unwrap();
        plant(&place.path().join(".kilocode/mcp.json"));
        let found = planted_servers(&sub).unwrap_err().to_string();
        assert!(found.contains(".kilocode/mcp.json"), "{found}");
    }
}
