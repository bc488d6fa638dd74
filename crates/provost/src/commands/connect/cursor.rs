//! `provost connect cursor`: hooks that are commands, of a project or of a person.

use std::path::Path;

use serde_json::Value;

use super::{
    GatewayPlace, Options,
    hooks::{self, Misfit},
    json::Json,
    plan::{Access, COMMAND_PATIENCE, KeyPlace, NAME, Plan, at_home, key_file, program},
    repository::is_in_repository,
};
const AGENT: &str = "cursor";
/// After the name of this program.
const COMMAND: &str = "hook cursor";
const SETTINGS: &str = ".cursor/hooks.json";
const EVENTS: [&str; 6] = [
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeSubmitPrompt",
    "stop",
];
/// Every use of a tool, also of those with an event of their own above. These are left to that event, so that
/// one act is asked about once: it is older, says more, and is where Cursor lets the person say.
const ANY_TOOL: &str = "preToolUse";
const WITHOUT_AN_EVENT: &str = "^(?!Shell$|Read$|MCP:)";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost connect cursor          .cursor/hooks.json of this folder
  provost connect cursor --user   of all folders
  provost connect cursor --undo   as it was before")]
pub(crate) struct Args {
    /// Change ~/.cursor/hooks.json, for all folders
    #[arg(long)]
    user: bool,
    #[command(flatten)]
    pub(super) options: Options,
}

impl Args {
    pub(super) fn plan(&self, gateway: &GatewayPlace<'_>) -> anyhow::Result<Plan> {
        let name = self.options.name(AGENT);
        let settings = || {
            if self.user {
                at_home(SETTINGS)
            } else {
                Ok(SETTINGS.into())
            }
        };
        let settings = self.options.settings_or(settings)?;
        let is_shared = is_in_repository(&settings);
        Ok(Plan {
            agent: AGENT,
            settings,
            place: KeyPlace::File(key_file(gateway.keys, &name)?),
            // A shared file is also for those who have it elsewhere.
            program: if is_shared {
                NAME.to_owned()
            } else {
                program()?
            },
            name,
            data: gateway.data.map(Path::to_owned),
            unreachable: gateway.unreachable,
            edit,
            is_shared,
            asks: |_| true,
            next: None,
            beside: None,
        })
    }
}

fn edit(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    settings
        .member("version", Json::number(1))
        .ok_or_else(|| Misfit::new("the whole file", "an object"))?;
    let is_ours = |hook: &Value| hooks::runs(hook, COMMAND);
    hooks::put_flat(settings, &EVENTS, &hook(access, None), is_ours)?;
    let others = hook(access, Some(WITHOUT_AN_EVENT));
    hooks::put_flat(settings, &[ANY_TOOL], &others, is_ours)
}

/// Cursor goes on after a failure, unless it is told otherwise or the exit code is 2.
fn hook(access: &Access<'_>, matcher: Option<&str>) -> Json {
    let mut members = vec![
        ("command", Json::text(&access.guarded_command(COMMAND))),
        ("timeout", Json::number(COMMAND_PATIENCE)),
        ("failClosed", Json::truth()),
    ];
    if let Some(matcher) = matcher {
        members.push(("matcher", Json::text(matcher)));
    }
    Json::owned(members)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::Unreachable;

    #[test]
    fn each_event_has_one_hook_of_ours_beside_others() {
        let before = r#"{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}"#;
        let mut settings = Json::parse(before).unwrap();
        let place = KeyPlace::File("/k".into());
        let mut access = Access {
            url: "http://gate",
            data: None,
            key: "",
            place: &place,
            program: "provost",
            name: "x",
            is_shared: true,
            unreachable: Unreachable::Deny,
        };
        // In a repository without paths of this machine.
        edit(&mut settings, &access).unwrap();
        let command = "provost hook cursor --name x --url http://gate || exit 2";
        let shared = settings.value();
        assert_eq!(shared["hooks"]["beforeReadFile"][0]["command"], command);
        access.is_shared = false;
        edit(&mut settings, &access).unwrap();
        let settings = settings.value();
        let command = "provost hook cursor --key-file /k --url http://gate || exit 2";
        let mut ours = json!({"command": command, "timeout": 86_400, "failClosed": true});
        let stop = json!([{"command": "say done"}, ours]);
        assert_eq!(settings["hooks"]["stop"], stop);
        assert_eq!(settings["hooks"]["beforeReadFile"], json!([ours]));
        assert_eq!(settings["version"], 1);
        ours["matcher"] = WITHOUT_AN_EVENT.into();
        assert_eq!(settings["hooks"]["preToolUse"], json!([ours]));
    }
}
