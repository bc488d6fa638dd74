//! Kimi Code: a home of its own, for its hooks and servers, and writing through us, where it would not ask.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Ground, Habit, Offers, Overlay, Profile, Unsafe, files::Base, says, settings};
use crate::metering::{Metering, Told};

const OWN: &str = "Kimi Code";
const FOLDER: Base = Base::named("KIMI_CODE_HOME", ".kimi-code");
const KEYS: [&str; 3] = ["default_model", "providers", "models"];

pub(super) static KIMI: Profile = Profile {
    name: "kimi",
    title: OWN,
    package: "@moonshot-ai/kimi-code",
    version: "2.1.0",
    arguments: &["acp"],
    programs: &["kimi", "kimi-code"],
    introduces: |said| says(said, &["kimi", "kimi-code", "kimi code cli", "kimi code"]),
    modes: &["default", "plan"],
    withdrawn: None,
    unasked: &[
        "reads files, and searches in them",
        "starts sub-agents, whose acts are asked about",
    ],
    unasked_kinds: &[],
    others_act: false,
    // Its question has no arguments, and its call has them as a text.
    arguments_as_text: true,
    habits: &[Habit::WritesUnasked],
    loosening: &[],
    login: "kimi login",
    metering: Metering {
        tokens: Told::AtEnd,
        cost: Told::Never,
    },
    // In a git work tree it asks about no write: it has us write, and we ask.
    offers: Offers::ALL,
    home: &[
        FOLDER.login("credentials"),
        FOLDER.settings("config.toml"),
        FOLDER.settings("device_id"),
        FOLDER.sessions("sessions"),
    ],
    shell_settings: None,
    overlay,
};

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    let environment = ground.environment;
    let home = environment.path("KIMI_CODE_HOME");
    let home = home.unwrap_or_else(|| environment.home().join(".kimi-code"));
    ground.write(OWN, "kimi/config.toml", &settings(&home)?)?;
    for name in ["credentials", "device_id"] {
        ground.link(OWN, &home.join(name), &format!("kimi/{name}"))?;
    }
    ground.keep(OWN, &home.join("sessions"), "kimi/sessions")?;
    Ok(Overlay {
        variables: vec![("KIMI_CODE_HOME", ground.own.join("kimi").into())],
        ..Overlay::default()
    })
}

fn settings(home: &std::path::Path) -> Result<String, Unsafe> {
    let mut ours = DocumentMut::new();
    if let Some(theirs) = settings::toml(OWN, &home.join("config.toml"))? {
        let kept = theirs.iter().filter(|(key, _)| KEYS.contains(key));
        for (key, item) in kept {
            ours.insert(key, item.clone());
        }
    }
    ours.insert("default_permission_mode", value("manual"));
    // It asks about none of these; a hook of ours refuses them.
    let mut hook = Table::new();
    hook.insert("event", value("PreToolUse"));
    hook.insert("matcher", value("FetchURL|WebSearch|CronCreate"));
    hook.insert("command", value("echo refused by provost >&2; exit 2"));
    let mut hooks = ArrayOfTables::new();
    hooks.push(hook);
    ours.insert("hooks", Item::ArrayOfTables(hooks));
    Ok(ours.to_string())
}
