//! `provost connect codex`: hooks that are commands, with the key in a file of its own, and the feature
//! that runs them.

mod features;

use std::path::{Path, PathBuf};

use super::{
    GatewayPlace, Options,
    hooks::{self, Event, Misfit},
    json::Json,
    plan::{Access, Beside, COMMAND_PATIENCE, KeyPlace, Plan, at_home, key_file, program},
};
const AGENT: &str = "codex";
/// Codex runs no hook of a file that nobody looked at.
const TRUST: &str =
    "start codex and trust the new hooks with `/hooks`: until then it does not run them";
/// After the name of this program.
const COMMAND: &str = "hook codex";
/// Codex tells of no session's end.
const EVENTS: [Event; 5] = [
    Event::of_tool("PreToolUse"),
    Event::of_tool("PermissionRequest"),
    Event::of_tool("PostToolUse"),
    Event::of_session("UserPromptSubmit"),
    Event::of_session("SessionStart"),
];

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost connect codex          show the change, ask, make it
  provost connect codex --yes    do not ask
  provost connect codex --undo   as it was before")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) options: Options,
}

impl Args {
    pub(super) fn plan(&self, gateway: &GatewayPlace<'_>) -> anyhow::Result<Plan> {
        let name = self.options.name(AGENT);
        let settings = self.options.settings_or(settings)?;
        let features = settings.with_file_name("config.toml");
        Ok(Plan {
            agent: AGENT,
            settings,
            place: KeyPlace::File(key_file(gateway.keys, &name)?),
            program: program()?,
            name,
            data: gateway.data.map(Path::to_owned),
            unreachable: gateway.unreachable,
            edit,
            is_shared: false,
            asks: |_| true,
            next: Some(TRUST),
            beside: Some(Beside {
                path: features,
                is_default: self.options.settings.is_none(),
                edit: features::enable,
            }),
        })
    }
}

fn settings() -> anyhow::Result<PathBuf> {
    match std::env::var_os("CODEX_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => Ok(PathBuf::from(folder).join("hooks.json")),
        None => at_home(".codex/hooks.json"),
    }
}

fn edit(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let hook = Json::object([
        ("type", Json::text("command")),
        ("command", Json::text(&access.guarded_command(COMMAND))),
        ("timeout", Json::number(COMMAND_PATIENCE)),
    ]);
    hooks::put_grouped(settings, &EVENTS, &hook, |hook| hooks::runs(hook, COMMAND))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Unreachable;

    #[test]
    fn the_command_finds_its_key() {
        let mut settings = Json::parse("").unwrap();
        let place = KeyPlace::File("/data/agents/codex.key".into());
        let access = Access {
            url: "http://gate",
            data: None,
            key: "pvk_1",
            place: &place,
            program: "provost",
            name: "x",
            is_shared: false,
            unreachable: Unreachable::Deny,
        };
        edit(&mut settings, &access).unwrap();
        let settings = settings.value();
        let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
        assert_eq!(
            hook["command"],
            "provost hook codex --key-file /data/agents/codex.key --url http://gate || exit 2"
        );
        assert!(!settings.to_string().contains("pvk_1"));
    }
}
