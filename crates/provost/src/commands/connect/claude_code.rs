//! `provost connect claude-code`: hooks over HTTP.

use std::path::PathBuf;

use serde_json::Value;

use super::{
    Options,
    hooks::{self, Event, Misfit},
    json::Json,
    plan::{Access, KeyPlace, Plan, at_home},
};

const AGENT: &str = "claude-code";
const DOOR: &str = "/hooks/claude-code";
/// Of seconds: how long a person may think.
const PATIENCE: u32 = 600;
const EVENTS: [Event; 6] = [
    Event::of_tool("PreToolUse"),
    Event::of_tool("PermissionRequest"),
    Event::of_tool("PostToolUse"),
    Event::of_session("UserPromptSubmit"),
    Event::of_session("SessionStart"),
    Event::of_session("SessionEnd"),
];

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost connect claude-code              show the change, ask, make it
  provost connect claude-code --yes        do not ask
  provost connect claude-code --project    for everybody who works in this folder
  provost connect claude-code --undo       as it was before")]
pub(crate) struct Args {
    /// Change .claude/settings.json of this folder, which is shared: the key stays outside, in PROVOST_KEY
    #[arg(long)]
    project: bool,
    #[command(flatten)]
    pub(super) options: Options,
}

impl Args {
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let place = if self.project {
            KeyPlace::Environment
        } else {
            KeyPlace::Settings
        };
        Ok(Plan {
            agent: AGENT,
            name: self.options.name(AGENT),
            settings: self.options.settings_or(|| self.settings())?,
            place,
            edit,
        })
    }

    fn settings(&self) -> anyhow::Result<PathBuf> {
        if self.project {
            return Ok(".claude/settings.json".into());
        }
        match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()) {
            Some(folder) => Ok(PathBuf::from(folder).join("settings.json")),
            None => at_home(".claude/settings.json"),
        }
    }
}

fn edit(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    hooks::put_grouped(settings, &EVENTS, &hook(access), is_ours)
}

fn hook(access: &Access<'_>) -> Json {
    let is_shared = *access.place == KeyPlace::Environment;
    let key = if is_shared {
        "$PROVOST_KEY"
    } else {
        access.key
    };
    let bearer = Json::text(&format!("Bearer {key}"));
    let mut members = vec![
        ("type", Json::text("http")),
        ("url", Json::text(&format!("{}{DOOR}", access.url))),
        ("timeout", Json::number(PATIENCE)),
        ("headers", Json::object([("Authorization", bearer)])),
    ];
    if is_shared {
        members.push(("allowedEnvVars", Json::texts(["PROVOST_KEY"])));
    }
    // Otherwise a gateway that cannot be reached would let everything pass.
    members.push(("onFailure", Json::text("block")));
    Json::Object(own(members))
}

fn own(members: Vec<(&str, Json)>) -> Vec<(String, Json)> {
    let own = |(name, value): (&str, Json)| (name.to_owned(), value);
    members.into_iter().map(own).collect()
}

fn is_ours(hook: &Value) -> bool {
    let url = hook.get("url").and_then(Value::as_str);
    url.is_some_and(|url| url.ends_with(DOOR))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn connected(before: &str, place: KeyPlace, url: &str) -> Option<String> {
        let plan = Plan {
            agent: AGENT,
            name: AGENT.to_owned(),
            settings: "settings.json".into(),
            place,
            edit,
        };
        plan.draft(Some(before), url, "pvk_1").unwrap()
    }

    #[test]
    fn the_settings_say_what_the_agent_needs() {
        let after = connected("", KeyPlace::Environment, "http://gate").unwrap();
        let after: Value = serde_json::from_str(&after).unwrap();
        let hook = json!({
            "type": "http", "url": "http://gate/hooks/claude-code", "timeout": 600,
            "headers": {"Authorization": "Bearer $PROVOST_KEY"},
            "allowedEnvVars": ["PROVOST_KEY"], "onFailure": "block",
        });
        let group = json!([{"matcher": "*", "hooks": [hook]}]);
        assert_eq!(after["hooks"]["PermissionRequest"], group);
        let own = connected("", KeyPlace::Settings, "http://gate").unwrap();
        assert!(own.contains("Bearer pvk_1") && !own.contains("allowedEnvVars"));
    }

    #[test]
    fn connecting_again_changes_nothing_and_moving_changes_the_address() {
        let first = connected("{\"model\": \"opus\"}", KeyPlace::Settings, "http://a").unwrap();
        assert_eq!(connected(&first, KeyPlace::Settings, "http://a"), None);
        let moved = connected(&first, KeyPlace::Settings, "http://b").unwrap();
        assert_eq!(moved, first.replace("http://a", "http://b"));
    }

    #[test]
    fn all_else_keeps_its_place() {
        let before = "{\n  \"z\": 1.50,\n  \"hooks\": {\n    \"Stop\": [ ]\n  },\n  \"a\": {\"y\":1,\"x\":2}\n}\n";
        let after = connected(before, KeyPlace::Settings, "http://a").unwrap();
        assert!(after.starts_with("{\n  \"z\": 1.50,\n  \"hooks\": {\n    \"Stop\": [ ],\n"));
        assert!(after.ends_with("  },\n  \"a\": {\"y\":1,\"x\":2}\n}\n"));
    }
}
