//! Goose: a folder of settings of its own, because what the user always allows beats its mode.

use std::path::Path;

use saphyr::{LoadableYamlNode as _, Yaml};
use serde_json::{Map, Value, json};

use super::{
    Ground, Offers, Overlay, Profile, Unsafe,
    files::{CONFIG, DATA},
    settings,
};
use crate::metering::{Metering, Told};

const OWN: &str = "Goose";

pub(super) static GOOSE: Profile = Profile {
    name: "goose",
    title: OWN,
    package: "@aaif/goose",
    version: "0.20.1",
    arguments: &["acp"],
    programs: &["goose", "goose-binary-linux-x64"],
    // It has no `agentInfo`.
    introduces: |said| {
        let methods = said.get("authMethods").and_then(Value::as_array);
        let mut methods = methods.into_iter().flatten();
        super::says(said, &["goose"]) || methods.any(|method| method["id"] == "goose-provider")
    },
    modes: &["approve"],
    withdrawn: None,
    unasked: &["nothing"],
    unasked_kinds: &[],
    others_act: true,
    arguments_as_text: false,
    habits: &[],
    loosening: &[],
    login: "goose configure",
    metering: Metering {
        tokens: Told::DuringRun,
        cost: Told::Never,
    },
    offers: Offers::ALL,
    home: &[
        CONFIG.settings("goose/config.yaml"),
        CONFIG.settings("goose/secrets.yaml"),
        CONFIG.settings("goose/permission.yaml"),
        CONFIG.settings("goose/custom_providers"),
        DATA.sessions("goose/sessions"),
    ],
    shell_settings: None,
    overlay,
};

fn overlay(ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
    let theirs = ground.environment.config_home().join("goose");
    let mut config = login(&theirs.join("config.yaml"))?;
    config.insert("GOOSE_MODE".to_owned(), "approve".into());
    let developer = json!({"enabled": true, "type": "builtin", "name": "developer", "timeout": 300, "bundled": true});
    config.insert("extensions".to_owned(), json!({"developer": developer}));
    // JSON is YAML.
    let text = Value::Object(config).to_string();
    ground.write(OWN, "config/goose/config.yaml", &text)?;
    // One that may delegate has its shell commands run unasked by the other.
    let never = [
        "delegate",
        "summon__delegate",
        "extensionmanager__manage_extensions",
        "apps__create_app",
        "apps__iterate_app",
    ];
    let rules = json!({"user": {"always_allow": [], "ask_before": [], "never_allow": never}});
    ground.write(OWN, "config/goose/permission.yaml", &rules.to_string())?;
    for name in ["secrets.yaml", "custom_providers"] {
        ground.link(OWN, &theirs.join(name), &format!("config/goose/{name}"))?;
    }
    Ok(Overlay {
        variables: vec![
            ("XDG_CONFIG_HOME", ground.own.join("config").into()),
            ("GOOSE_MODE", "approve".into()),
        ],
        ..Overlay::default()
    })
}

/// The provider's own keys, which are written in capitals and are plain values.
fn login(path: &Path) -> Result<Map<String, Value>, Unsafe> {
    let Some(text) = settings::text(OWN, path)? else {
        return Ok(Map::new());
    };
    // The error's own words would repeat what stands there, and that may be a key.
    let documents = Yaml::load_from_str(&text).map_err(|_| Unsafe::Settings {
        agent: OWN,
        path: path.to_owned(),
        problem: "this is not YAML".to_owned(),
    })?;
    let settings = documents.first().and_then(Yaml::as_mapping);
    let plain = settings.into_iter().flatten().filter_map(|(key, value)| {
        let key = key.as_str()?;
        let capitals = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        key.chars().all(capitals).then_some(())?;
        Some((key.to_owned(), scalar(value)?))
    });
    Ok(plain.collect())
}

fn scalar(value: &Yaml<'_>) -> Option<Value> {
    let text = value.as_str().map(Value::from);
    let number = || value.as_integer().map(Value::from);
    let fraction = || value.as_floating_point().map(Value::from);
    let flag = || value.as_bool().map(Value::from);
    text.or_else(number).or_else(fraction).or_else(flag)
}
