//! `provost connect mcp`: the gateway as one of an MCP client's servers, or in front of those it starts.

use serde_json::Value;

use super::{
    Options,
    hooks::Misfit,
    json::Json,
    plan::{Access, KeyPlace, Plan, is_ours, program},
};
use crate::{commands::mcp::unusable, config::Unreachable, exit::usage};

const AGENT: &str = "mcp";
const SERVERS: &str = "mcpServers";
/// What the gateway is called among a client's servers.
const OURS: &str = "provost";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost connect mcp --settings .mcp.json           the gateway's tools, as one server more
  provost connect mcp --settings .mcp.json --wrap    every server there goes through the gateway
  provost connect mcp --settings .mcp.json --undo    as it was before")]
pub(crate) struct Args {
    /// Put the gate in front of each server that the file starts, instead of adding the gateway as one
    #[arg(long)]
    wrap: bool,
    #[command(flatten)]
    pub(super) options: Options,
}

impl Args {
    pub(super) fn plan(&self) -> anyhow::Result<Plan> {
        let unnamed = || Err(usage("name the client's file with --settings"));
        Ok(Plan {
            agent: AGENT,
            name: self.options.name(AGENT),
            settings: self.options.settings_or(unnamed)?,
            place: KeyPlace::Settings,
            program: program()?,
            unreachable: Unreachable::default(),
            edit: if self.wrap { wrap } else { add },
            next: None,
            beside: None,
        })
    }
}

/// A client that knows our server from before is given the key that is good now.
fn add(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let misfit = || {
        let expected = "a server with `args` a list of texts and `env` an object";
        Misfit::new(format!("{SERVERS}.{OURS}"), expected)
    };
    let server = servers(settings)?
        .member(OURS, Json::object([]))
        .ok_or_else(|| Misfit::new(SERVERS, "an object"))?;
    server
        .set("command", Json::text(access.program))
        .ok_or_else(misfit)?;
    server
        .set("args", Json::texts(["mcp"]))
        .ok_or_else(misfit)?;
    let env = server.member("env", Json::object([])).ok_or_else(misfit)?;
    for (name, value) in environment(access) {
        env.set(name, value).ok_or_else(misfit)?;
    }
    Ok(())
}

fn wrap(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let servers = servers(settings)?
        .members()
        .ok_or_else(|| Misfit::new(SERVERS, "an object"))?;
    for (name, server) in servers {
        if is_started(server) && unusable(name).is_some() {
            let expected = "a name that is printable, without a dot and not the prefix of others' tools \
                            (mesh, grant, approval, claude, codex, cursor): rename the server";
            return Err(Misfit::new(format!("{SERVERS}.{name}"), expected));
        }
        wrap_server(name, server, access).ok_or_else(|| {
            Misfit::new(
                format!("{SERVERS}.{name}"),
                "a server with `args` a list of texts and `env` an object",
            )
        })?;
    }
    Ok(())
}

/// By a command that is not ours already.
fn is_started(server: &Json) -> bool {
    let server = server.value();
    let command = server.get("command").and_then(Value::as_str);
    command.is_some_and(|command| command != "provost")
}

/// Servers that are reached and not started are left alone. `None`: it is of no known shape.
fn wrap_server(name: &str, server: &mut Json, access: &Access<'_>) -> Option<()> {
    let before = server.value();
    let Some(command) = before.get("command").and_then(Value::as_str) else {
        return Some(());
    };
    if is_ours(command) {
        server.set("command", Json::text(access.program))?;
    } else {
        let mut words = vec!["mcp", "--name", name, "--", command];
        if let Some(args) = before.get("args") {
            for arg in args.as_array()? {
                words.push(arg.as_str()?);
            }
        }
        server.set("command", Json::text(access.program))?;
        server.set("args", Json::texts(words))?;
    }
    let env = server.member("env", Json::object([]))?;
    for (name, value) in environment(access) {
        env.set(name, value)?;
    }
    Some(())
}

fn environment(access: &Access<'_>) -> [(&'static str, Json); 2] {
    [
        ("PROVOST_URL", Json::text(access.url)),
        ("PROVOST_KEY", Json::text(access.key)),
    ]
}

fn servers(settings: &mut Json) -> Result<&mut Json, Misfit> {
    settings
        .member(SERVERS, Json::object([]))
        .ok_or_else(|| Misfit::new("the whole file", "an object"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(before: &Value) -> Result<Value, Misfit> {
        edited_by(wrap, before)
    }

    fn edited_by(
        edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
        before: &Value,
    ) -> Result<Value, Misfit> {
        let mut settings = Json::parse(&before.to_string()).unwrap();
        let access = Access {
            url: "http://gate",
            key: "pvk_1",
            place: &KeyPlace::Settings,
            program: "provost",
            unreachable: Unreachable::Deny,
        };
        edit(&mut settings, &access)?;
        Ok(settings.value())
    }

    #[test]
    fn servers_that_are_started_are_wrapped_once() {
        let remote = json!({"url": "https://x"});
        let before = json!({"mcpServers": {
            "fs": {"command": "npx", "args": ["-y", "fs"], "env": {"A": "b"}}, "remote": remote}});
        let after = edited(&before).unwrap();
        let env = json!({"A": "b", "PROVOST_URL": "http://gate", "PROVOST_KEY": "pvk_1"});
        let fs = json!({"command": "provost", "args": ["mcp", "--name", "fs", "--", "npx", "-y", "fs"],
                "env": env});
        let servers = json!({"mcpServers": {"fs": fs, "remote": remote}});
        assert_eq!(after, servers);
        assert_eq!(edited(&after).unwrap(), servers);
    }

    #[test]
    fn the_gateway_is_one_server_more() {
        let other = json!({"command": "npx", "args": ["fs"]});
        let env = json!({"PROVOST_URL": "http://gate", "PROVOST_KEY": "pvk_1"});
        let ours = json!({"command": "provost", "args": ["mcp"], "env": env});
        for (before, after) in [
            (json!({}), json!({"mcpServers": {"provost": ours}})),
            (
                json!({"mcpServers": {"fs": other, "provost": {"env": {"PROVOST_KEY": "old"}}}}),
                json!({"mcpServers": {"fs": other, "provost": ours}}),
            ),
        ] {
            let added = edited_by(add, &before).unwrap();
            assert_eq!(added, after);
            assert_eq!(edited_by(add, &added).unwrap(), after);
        }
        assert!(edited_by(add, &json!({"mcpServers": {"provost": 7}})).is_err());
        // In front of our own server there is nothing to put.
        let wrapped = edited(&json!({"mcpServers": {"provost": ours}})).unwrap();
        assert_eq!(wrapped["mcpServers"]["provost"]["args"], json!(["mcp"]));
    }

    #[test]
    fn servers_of_another_shape_are_refused() {
        for before in [
            json!({"mcpServers": []}),
            json!({"mcpServers": {"a": {"command": "npx", "args": "fs"}}}),
            json!({"mcpServers": {"a": {"command": "npx", "args": [1]}}}),
            json!({"mcpServers": {"mesh": {"command": "npx"}}}),
            json!({"mcpServers": {"a.b": {"command": "npx"}}}),
        ] {
            assert!(edited(&before).is_err(), "{before}");
        }
    }
}
