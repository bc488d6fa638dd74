//! `provost connect cursor`: hooks that are commands, of a project or of a person.

use std::path::Path;

use super::{
    Options,
    hooks::{self, Misfit},
    json::Json,
    plan::{Access, KeyPlace, Plan, at_home, key_file},
};
use crate::config::Unreachable;

const AGENT: &str = "cursor";
const COMMAND: &str = "provost hook cursor";
const SETTINGS: &str = ".cursor/hooks.json";
const EVENTS: [&str; 6] = [
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeSubmitPrompt",
    "stop",
];

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
    pub(super) fn plan(&self, data: &Path, unreachable: Unreachable) -> anyhow::Result<Plan> {
        let name = self.options.name(AGENT);
        let settings = || {
            if self.user {
                at_home(SETTINGS)
            } else {
                Ok(SETTINGS.into())
            }
        };
        Ok(Plan {
            agent: AGENT,
            settings: self.options.settings_or(settings)?,
            place: KeyPlace::File(key_file(data, &name)?),
            name,
            unreachable,
            edit,
            next: None,
            beside: None,
        })
    }
}

fn edit(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    settings
        .member("version", Json::number(1))
        .ok_or_else(|| Misfit::new("the whole file", "an object"))?;
    let hook = Json::object([("command", Json::text(&access.command(COMMAND)))]);
    hooks::put_flat(settings, &EVENTS, &hook, |hook| hooks::runs(hook, COMMAND))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_event_has_one_hook_of_ours_beside_others() {
        let before = r#"{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}"#;
        let mut settings = Json::parse(before).unwrap();
        let place = KeyPlace::File("/k".into());
        let access = Access {
            url: "http://gate",
            key: "",
            place: &place,
            unreachable: Unreachable::Deny,
        };
        edit(&mut settings, &access).unwrap();
        edit(&mut settings, &access).unwrap();
        let settings = settings.value();
        let ours = json!({"command": "provost hook cursor --key-file /k --url http://gate"});
        let stop = json!([{"command": "say done"}, ours]);
        assert_eq!(settings["hooks"]["stop"], stop);
        assert_eq!(settings["hooks"]["beforeReadFile"], json!([ours]));
        assert_eq!(settings["version"], 1);
    }
}
