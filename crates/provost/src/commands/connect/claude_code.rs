//! `provost connect claude-code`: hooks over HTTP, or commands where the installed version is not known to
//! stop without the gateway.

mod version;

use std::{
    io, iter,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::ValueEnum;
use serde_json::Value;

use super::{
    GatewayPlace, Options,
    file::LARGEST,
    hooks::{self, Event, Misfit},
    json::Json,
    plan::{Access, COMMAND_PATIENCE, KeyPlace, NAME, Plan, at_home, key_file, program},
    repository::is_in_repository,
    variables::acts_on_hooks,
};
use crate::{config::Unreachable, locate::is_same, output, regular_file::read_text};

pub(in crate::commands) use self::version::{FIRST_THAT_BLOCKS, Installed, installed};

const AGENT: &str = "claude-code";
const DOOR: &str = "/hooks/claude-code";
/// After the name of this program.
const COMMAND: &str = "hook claude-code";
/// Of seconds: how long a person may think.
const PATIENCE: u32 = 600;
const EVENTS: [Event; 5] = [
    Event::of_tool("PreToolUse"),
    Event::of_tool("PermissionRequest"),
    Event::of_tool("PostToolUse"),
    Event::of_session("UserPromptSubmit"),
    Event::of_session("SessionEnd"),
];
const PROJECT: &str = ".claude/settings.json";
const PROJECT_OWN: &str = ".claude/settings.local.json";
/// Claude Code calls nobody over HTTP before a session has begun.
const START: [Event; 1] = [Event::of_session("SessionStart")];

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
    /// How Claude Code asks [default: by HTTP where its version is known to stop without the gateway, or else
    /// by a command]
    #[arg(long, value_enum)]
    hooks: Option<Way>,
    #[command(flatten)]
    pub(super) options: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// It posts to the gateway
    Http,
    /// It runs `provost hook claude-code`
    Command,
}

impl Args {
    pub(super) async fn plan(&self, gateway: &GatewayPlace<'_>) -> anyhow::Result<Plan> {
        let name = self.options.name(AGENT);
        let settings = self.options.settings_or(|| self.settings())?;
        if !self.options.undo {
            ensure_hooks_ask(&settings)?;
        }
        let way = self.way(&settings, gateway.unreachable).await?;
        let file = || key_file(gateway.keys, &name);
        let place = match way {
            _ if self.project => KeyPlace::Environment,
            Way::Http => KeyPlace::SettingsAndFile(file()?),
            Way::Command => KeyPlace::File(file()?),
        };
        Ok(Plan {
            agent: AGENT,
            settings,
            place,
            // A shared file is also for those who have it elsewhere.
            program: if self.project {
                NAME.to_owned()
            } else {
                program()?
            },
            name,
            data: gateway.data.map(Path::to_owned),
            unreachable: gateway.unreachable,
            edit: match way {
                Way::Http => edit_http,
                Way::Command => edit_commands,
            },
            is_shared: self.project,
            asks: |_| true,
            next: None,
            beside: None,
        })
    }

    /// Over HTTP only where Claude Code itself stops when the gateway cannot be reached.
    async fn way(&self, settings: &Path, unreachable: Unreachable) -> anyhow::Result<Way> {
        if self.hooks == Some(Way::Command) {
            return Ok(Way::Command);
        }
        if self.options.undo {
            return self.way_taken();
        }
        // Over HTTP the key stands in the settings.
        if !self.project && is_in_repository(settings) {
            anyhow::ensure!(
                self.hooks.is_none(),
                "`{}` lies in a repository, and a hook over HTTP would put the key into it: leave out `--hooks http`, \
                 or connect the project with --project",
                settings.display()
            );
            output::note(
                "the hook is a command, because the settings lie in a repository, where no key belongs",
            );
            return Ok(Way::Command);
        }
        if unreachable == Unreachable::Ask {
            anyhow::ensure!(
                self.hooks.is_none(),
                "`hooks.unreachable: ask` needs a hook that is a command: leave out `--hooks http`"
            );
            return Ok(Way::Command);
        }
        let installed = installed().await;
        let (major, minor, patch) = FIRST_THAT_BLOCKS;
        let first = format!("{major}.{minor}.{patch}");
        match installed {
            Installed::Version(version) if version >= FIRST_THAT_BLOCKS => Ok(Way::Http),
            Installed::Missing if self.hooks == Some(Way::Http) => {
                output::note(format_args!(
                    "there is no `claude` here to ask for its version: before {first} it goes on when \
                     the gateway cannot be reached; `--hooks command` is safe with all versions"
                ));
                Ok(Way::Http)
            }
            Installed::Missing => {
                output::note(format_args!(
                    "the hook is a command, because there is no `claude` here to ask for its version; from \
                     {first} on, `--hooks http` needs no program"
                ));
                Ok(Way::Command)
            }
            Installed::Version(_) | Installed::Unknown => {
                anyhow::ensure!(
                    self.hooks.is_none(),
                    "this Claude Code is not known to stop when the gateway cannot be reached, as {first} \
                     does; update it, or leave out `--hooks http`"
                );
                output::note(format_args!(
                    "the hook is a command, because Claude Code before {first} goes on when the gateway \
                     cannot be reached over HTTP; connect again after an update"
                ));
                Ok(Way::Command)
            }
        }
    }

    /// What the settings say, whichever version is installed by now.
    fn way_taken(&self) -> anyhow::Result<Way> {
        let settings = self.options.settings_or(|| self.settings())?;
        let text = read_text(&settings, LARGEST).unwrap_or_default();
        Ok(if asks_over_http(&text) {
            Way::Http
        } else {
            Way::Command
        })
    }

    fn settings(&self) -> anyhow::Result<PathBuf> {
        if self.project {
            return Ok(PROJECT.into());
        }
        own_settings()
    }
}

/// The settings of the person who connects, whichever the project.
pub(in crate::commands) fn own_settings() -> anyhow::Result<PathBuf> {
    match std::env::var_os("CLAUDE_CONFIG_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => Ok(PathBuf::from(folder).join("settings.json")),
        None => at_home(".claude/settings.json"),
    }
}

/// Settings of a person, of the project and of a person in the project are read together: one of them is enough to
/// switch off the hooks of all, and the variables of all reach the hooks.
fn ensure_hooks_ask(settings: &Path) -> anyhow::Result<()> {
    let own = own_settings().ok();
    let project = [PROJECT, PROJECT_OWN].map(PathBuf::from);
    for path in iter::once(settings.to_owned())
        .chain(own.clone())
        .chain(project)
    {
        let Some(said) = read_settings(&path)? else {
            continue;
        };
        anyhow::ensure!(
            said.get("disableAllHooks")
                .is_none_or(|off| *off == Value::Bool(false)),
            "`{}`: `disableAllHooks` is not false, so Claude Code would run no hook and ask nobody; remove it \
             and connect again",
            path.display()
        );
        ensure_taken(&path, &said)?;
        // What people set in their own settings is theirs to say.
        if own.as_ref().is_none_or(|own| !is_same(own, &path)) {
            ensure_no_variables(&path, &said)?;
        }
    }
    Ok(())
}

/// Claude Code leaves out a whole file, and its hooks with it, if one member has a value of another kind.
fn ensure_taken(path: &Path, said: &Value) -> anyhow::Result<()> {
    type Fits = fn(&Value) -> bool;
    const KINDS: [(&str, &str, Fits); 8] = [
        ("/model", "a text", Value::is_string),
        ("/env", "an object", Value::is_object),
        ("/permissions", "an object", Value::is_object),
        ("/permissions/allow", "a list", Value::is_array),
        ("/permissions/ask", "a list", Value::is_array),
        ("/permissions/deny", "a list", Value::is_array),
        ("/cleanupPeriodDays", "a number", Value::is_number),
        ("/hooks", "an object", Value::is_object),
    ];
    let misfit = KINDS.into_iter().find(|(place, _, fits)| {
        let found = said.pointer(place);
        found.is_some_and(|found| !fits(found))
    });
    misfit.map_or(Ok(()), |(place, kind, _)| {
        let name = place.trim_start_matches('/').replace('/', ".");
        anyhow::bail!(
            "`{}`: `{name}` is not {kind}, so Claude Code would ignore the file, and its hooks with it; \
             correct it and connect again",
            path.display()
        )
    })
}

/// Refuses the settings of a project that set a variable which acts on the hooks. They may have changed since the
/// agent was connected.
pub(in crate::commands) fn ensure_nothing_planted(folder: &Path) -> anyhow::Result<()> {
    let own = own_settings().ok();
    for path in [PROJECT, PROJECT_OWN].map(|file| folder.join(file)) {
        let is_own = own.as_ref().is_some_and(|own| is_same(own, &path));
        if let Some(said) = read_settings(&path)?.filter(|_| !is_own) {
            ensure_no_variables(&path, &said)?;
        }
    }
    Ok(())
}

/// None where there is no such file. What is no JSON says nothing: it is told where it is to be changed.
fn read_settings(path: &Path) -> anyhow::Result<Option<Value>> {
    let text = match read_text(path, LARGEST) {
        Err(error) if is_missing(&error) => return Ok(None),
        read => read.with_context(|| format!("cannot read `{}`", path.display()))?,
    };
    let said = Json::parse(&text).map(|json| json.value());
    Ok(Some(said.unwrap_or_default()))
}

/// A project's file is often the agent's to write.
fn ensure_no_variables(path: &Path, said: &Value) -> anyhow::Result<()> {
    let env = said.get("env").and_then(Value::as_object);
    let mut names = env.into_iter().flat_map(|env| env.keys());
    let found = names.find(|name| acts_on_hooks(name));
    found.map_or(Ok(()), |name| {
        anyhow::bail!(
            "`{}`: `env` sets `{}`, which also acts on the hooks and may lead them to another gateway; remove it, or \
             move it into your own settings",
            path.display(),
            name.escape_debug()
        )
    })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Whether settings hold a hook of ours over HTTP.
pub(in crate::commands) fn asks_over_http(settings: &str) -> bool {
    settings.contains(&format!("{DOOR}\""))
}

fn edit_http(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    hooks::put_grouped(settings, &EVENTS, &hook(access), is_ours)?;
    hooks::put_grouped(settings, &START, &command(access), is_ours)
}

fn edit_commands(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    hooks::put_grouped(settings, &EVENTS, &command(access), is_ours)?;
    hooks::put_grouped(settings, &START, &command(access), is_ours)
}

fn command(access: &Access<'_>) -> Json {
    Json::object([
        ("type", Json::text("command")),
        ("command", Json::text(&access.guarded_command(COMMAND))),
        ("timeout", Json::number(COMMAND_PATIENCE)),
        // Versions that know it also block when the time is over.
        ("onFailure", Json::text("block")),
    ])
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
    Json::owned(members)
}

fn is_ours(hook: &Value) -> bool {
    let url = hook.get("url").and_then(Value::as_str);
    url.is_some_and(|url| url.ends_with(DOOR)) || hooks::runs(hook, COMMAND)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn own() -> KeyPlace {
        KeyPlace::SettingsAndFile("/d/c.key".into())
    }

    fn connected(before: &str, place: KeyPlace, url: &str) -> Option<String> {
        drafted(before, place, url, edit_http)
    }

    fn drafted(
        before: &str,
        place: KeyPlace,
        url: &str,
        edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
    ) -> Option<String> {
        let plan = Plan {
            agent: AGENT,
            name: AGENT.to_owned(),
            settings: "settings.json".into(),
            place,
            program: NAME.to_owned(),
            data: None,
            unreachable: Unreachable::Deny,
            edit,
            is_shared: false,
            asks: |_| true,
            next: None,
            beside: None,
        };
        plan.draft(Some(before), url, "pvk_1").unwrap()
    }

    #[test]
    fn the_start_of_a_session_is_told_by_a_command_and_so_is_all_where_it_must() {
        let place = || KeyPlace::SettingsAndFile("/d/c.key".into());
        let first = connected("{}", place(), "http://gate").unwrap();
        let after: Value = serde_json::from_str(&first).unwrap();
        let command = json!({
            "type": "command",
            "command": "provost hook claude-code --key-file /d/c.key --url http://gate || exit 2",
            "timeout": 86_400, "onFailure": "block",
        });
        let start = json!([{"hooks": [command]}]);
        assert_eq!(after["hooks"]["SessionStart"], start);

        // After a change of the way, none of the other is left.
        let place = KeyPlace::File("/d/c.key".into());
        let after = drafted(&first, place, "http://gate", edit_commands).unwrap();
        assert!(!after.contains(DOOR) && !after.contains("pvk_1"), "{after}");
        let after: Value = serde_json::from_str(&after).unwrap();
        let group = json!([{"matcher": "*", "hooks": [command]}]);
        assert_eq!(after["hooks"]["PreToolUse"], group);
        assert_eq!(after["hooks"]["SessionStart"], start);
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
        let own = connected("", own(), "http://gate").unwrap();
        assert!(own.contains("Bearer pvk_1") && !own.contains("allowedEnvVars"));
    }

    #[test]
    fn connecting_again_changes_nothing_and_moving_changes_the_address() {
        let first = connected("{\"model\": \"opus\"}", own(), "http://a").unwrap();
        assert_eq!(connected(&first, own(), "http://a"), None);
        let moved = connected(&first, own(), "http://b").unwrap();
        assert_eq!(moved, first.replace("http://a", "http://b"));
    }

    #[test]
    fn all_else_keeps_its_place() {
        let before = "{\n  \"z\": 1.50,\n  \"hooks\": {\n    \"Stop\": [ ]\n  },\n  \"a\": {\"y\":1,\"x\":2}\n}\n";
        let after = connected(before, own(), "http://a").unwrap();
        assert!(after.starts_with("{\n  \"z\": 1.50,\n  \"hooks\": {\n    \"Stop\": [ ],\n"));
        assert!(after.ends_with("  },\n  \"a\": {\"y\":1,\"x\":2}\n}\n"));
    }
}
