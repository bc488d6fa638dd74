//! `provost connect mcp`: the gateway as one of an MCP client's servers, or in front of those it starts.

mod entry;

use std::path::Path;

use serde_json::Value;

use super::{
    GatewayPlace, Options,
    hooks::Misfit,
    json::Json,
    plan::{Access, KeyPlace, NAME, Plan, Reach, is_ours, key_file, program},
    repository::is_in_repository,
};
use crate::{commands::mcp::unusable, config::Unreachable, exit::usage};

const AGENT: &str = "mcp";
const SERVERS: &str = "mcpServers";
/// What VS Code calls them.
const OTHER_SERVERS: &str = "servers";
const ONLY_OURS: &str = "`mcpServers`, whose servers are wrapped (in a file of VS Code, put `provost mcp --name NAME \
     --` before each command)";
const ONLY_ENV: &str = "allowed in a wrapped server, because its variables would also reach the gate: write them into \
     `env`";
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
    /// The key lies in a file of its own, never in the client's, which teams commit.
    pub(super) fn plan(&self, gateway: &GatewayPlace<'_>) -> anyhow::Result<Plan> {
        let unnamed = || Err(usage("name the client's file with --settings"));
        let name = self.options.name(AGENT);
        let settings = self.options.settings_or(unnamed)?;
        let is_shared = is_in_repository(&settings);
        Ok(Plan {
            agent: AGENT,
            is_shared,
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
            unreachable: Unreachable::default(),
            edit: if self.wrap { wrap } else { add },
            asks,
            next: None,
            beside: None,
        })
    }
}

/// A client that knows our server from before is given the key that is good now.
fn add(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let server = servers(settings)?
        .member(OURS, Json::object([]))
        .ok_or_else(|| Misfit::new(SERVERS, "an object"))?;
    add_server(server, access).ok_or_else(|| misshapen(OURS))
}

fn misshapen(name: &str) -> Misfit {
    let expected = "a server with `args` a list of texts and `env` an object of texts";
    Misfit::new(format!("{SERVERS}.{name}"), expected)
}

/// Our own server, with nothing behind it. Of what the entry held, only what leads nowhere else stays.
fn add_server(server: &mut Json, access: &Access<'_>) -> Option<()> {
    entry::keep(server, &entry::OWN)?;
    start(server, &own_words(access), access)
}

/// Sets what starts `provost`, and where its gateway is, if only its address is known.
fn start(server: &mut Json, words: &[String], access: &Access<'_>) -> Option<()> {
    server.set("command", Json::text(access.program))?;
    server.set("args", Json::texts(words.iter().map(String::as_str)))?;
    match access.reach() {
        Reach::Url(url) => {
            let env = server.member("env", Json::object([]))?;
            env.set("PROVOST_URL", Json::text(url))
        }
        Reach::Data(_) | Reach::Registry => Some(()),
    }
}

fn wrap(settings: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let was = settings.value();
    if was.is_object() && was.get(SERVERS).is_none() {
        // Nothing is behind the gate, and must not be told so.
        return match was.get(OTHER_SERVERS) {
            Some(_) => Err(Misfit::new(OTHER_SERVERS, ONLY_OURS)),
            None => Ok(()),
        };
    }
    let servers = servers(settings)?
        .members()
        .ok_or_else(|| Misfit::new(SERVERS, "an object"))?;
    for (name, server) in servers {
        if is_started(server) && unusable(name).is_some() {
            let expected = "a name that is printable, without a dot and not the prefix of others' tools \
                            (mesh, grant, approval, claude, codex, cursor): rename the server";
            return Err(Misfit::new(format!("{SERVERS}.{name}"), expected));
        }
        wrap_server(name, server, access)?;
    }
    Ok(())
}

/// By a command that is not ours already.
fn is_started(server: &Json) -> bool {
    let server = server.value();
    let command = server.get("command").and_then(Value::as_str);
    command.is_some_and(|command| !is_ours(command))
}

/// Servers that are reached and not started are left alone.
fn wrap_server(name: &str, server: &mut Json, access: &Access<'_>) -> Result<(), Misfit> {
    let before = server.value();
    let misshapen = || misshapen(name);
    let Some(command) = before.get("command").and_then(Value::as_str) else {
        return Ok(());
    };
    let args = texts(before.get("args")).ok_or_else(misshapen)?;
    let is_ours = is_ours(command);
    let (own_name, behind) = if is_ours {
        behind_ours(args)
    } else {
        let behind = std::iter::once(command.to_owned()).chain(args);
        (Some(name.to_owned()), behind.collect())
    };
    if behind.is_empty() {
        return add_server(server, access).ok_or_else(misshapen);
    }
    if let Some(member) = entry::other_variables(&before) {
        let place = format!("{SERVERS}.{name}.{member}");
        return Err(Misfit::new(place, ONLY_ENV));
    }
    let mut words = own_words(access);
    if let Some(name) = own_name {
        words.extend(["--name".to_owned(), name]);
    }
    words.push("--".to_owned());
    words.extend(behind);
    entry::keep(server, &entry::WRAPPED)
        .and_then(|()| entry::pass_variables(server, is_ours))
        .and_then(|()| start(server, &words, access))
        .ok_or_else(misshapen)
}

/// `None`: it is no list of texts.
fn texts(list: Option<&Value>) -> Option<Vec<String>> {
    let Some(list) = list else {
        return Some(Vec::new());
    };
    let texts = list.as_array()?.iter();
    texts.map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// `provost mcp`, and how it finds its gateway and its key: by the agent's name in a file that others have, too, or else by
/// its path.
fn own_words(access: &Access<'_>) -> Vec<String> {
    let mut words = vec!["mcp".to_owned()];
    if let Reach::Data(data) = access.reach() {
        words.extend(["--data".to_owned(), data.to_string_lossy().into_owned()]);
    }
    match access.place.file() {
        Some(file) if !access.is_shared => {
            words.extend(["--key-file".to_owned(), file.to_string_lossy().into_owned()]);
        }
        _ if access.name == AGENT => {}
        _ => words.extend(["--agent".to_owned(), access.name.to_owned()]),
    }
    words
}

/// Of a server that is ours already: its name in policies, and the command behind it, if there is one. All other
/// options of ours are written anew: whoever wrote the file may have named another gateway.
fn behind_ours(args: Vec<String>) -> (Option<String>, Vec<String>) {
    let mut words = args.into_iter();
    let ours: Vec<_> = words.by_ref().take_while(|word| word != "--").collect();
    let apart = ours.iter().skip_while(|word| *word != "--name").nth(1);
    let joined = || ours.iter().find_map(|word| word.strip_prefix("--name="));
    let name = apart.map(String::as_str).or_else(joined);
    let name = name.filter(|name| !name.starts_with('-') && unusable(name).is_none());
    (name.map(str::to_owned), words.collect())
}

/// Whether any of the client's servers is ours.
fn asks(settings: &str) -> bool {
    let settings = Json::parse(settings).map(|json| json.value());
    let servers = settings.unwrap_or_default();
    let servers = servers.get(SERVERS).and_then(Value::as_object);
    let mut servers = servers.into_iter().flatten();
    servers.any(|(_, server)| {
        let command = server.get("command").and_then(Value::as_str);
        command.is_some_and(is_ours)
    })
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
        edited_by(wrap, before, true)
    }

    fn edited_by(
        edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
        before: &Value,
        is_shared: bool,
    ) -> Result<Value, Misfit> {
        let mut settings = Json::parse(&before.to_string()).unwrap();
        let access = Access {
            url: "http://gate",
            data: None,
            key: "pvk_1",
            place: &KeyPlace::File("/d/agents/a.key".into()),
            program: "provost",
            name: "a",
            is_shared,
            unreachable: Unreachable::Deny,
        };
        edit(&mut settings, &access)?;
        assert!(!settings.value().to_string().contains("pvk_"));
        Ok(settings.value())
    }

    #[test]
    fn p17_servers_that_are_started_are_wrapped_once_and_without_a_key() {
        let remote = json!({"url": "https://x"});
        let before = json!({"mcpServers": {
            "fs": {"command": "npx", "args": ["-y", "fs"], "env": {"A": "b"}}, "remote": remote}});
        let after = edited(&before).unwrap();
        let env = json!({"PROVOST_PASS_A": "b", "PROVOST_URL": "http://gate"});
        let words = [
            "mcp", "--agent", "a", "--name", "fs", "--", "npx", "-y", "fs",
        ];
        let fs = json!({"command": "provost", "args": words, "env": env});
        let servers = json!({"mcpServers": {"fs": fs, "remote": remote}});
        assert_eq!(after, servers);
        assert_eq!(edited(&after).unwrap(), servers);
        // Its own words are left alone, and the key moves where it is found.
        let own = edited_by(wrap, &after, false).unwrap();
        let words = [
            "mcp",
            "--key-file",
            "/d/agents/a.key",
            "--name",
            "fs",
            "--",
            "npx",
            "-y",
            "fs",
        ];
        assert_eq!(own["mcpServers"]["fs"]["args"], json!(words));
        assert_eq!(edited(&own).unwrap(), servers);
        assert!(asks(&after.to_string()) && !asks(&before.to_string()) && !asks(""));
    }

    #[test]
    fn p17_the_gateway_is_one_server_more_and_a_key_from_before_goes() {
        let other = json!({"command": "npx", "args": ["fs"]});
        let env = json!({"PROVOST_URL": "http://gate"});
        let ours = json!({"command": "provost", "args": ["mcp", "--agent", "a"], "env": env});
        for (before, after) in [
            (json!({}), json!({"mcpServers": {"provost": ours}})),
            (
                json!({"mcpServers": {"fs": other, "provost": {"env": {"PROVOST_KEY": "pvk_old"}}}}),
                json!({"mcpServers": {"fs": other, "provost": ours}}),
            ),
        ] {
            let added = edited_by(add, &before, true).unwrap();
            assert_eq!(added, after);
            assert_eq!(edited_by(add, &added, true).unwrap(), after);
        }
        assert!(edited_by(add, &json!({"mcpServers": {"provost": 7}}), true).is_err());
        // In front of our own server there is nothing to put.
        let wrapped = edited(&json!({"mcpServers": {"provost": ours}})).unwrap();
        assert_eq!(wrapped["mcpServers"]["provost"]["args"], ours["args"]);
    }

    #[test]
    fn p06_a_gateway_of_this_machine_is_found_by_its_folder() {
        let mut access = Access {
            url: "http://127.0.0.1:9090",
            data: Some(Path::new("/d")),
            key: "pvk_1",
            place: &KeyPlace::File("/d/agents/a.key".into()),
            program: "provost",
            name: "a",
            is_shared: false,
            unreachable: Unreachable::Deny,
        };
        // As it was connected before, when it was found by its address.
        let env = json!({"PROVOST_URL": "http://127.0.0.1:9090", "A": "b"});
        let old = json!({"command": "provost", "args": ["mcp", "--agent", "a"], "env": env});
        let before = json!({"mcpServers": {"provost": old}}).to_string();
        let mut settings = Json::parse(&before).unwrap();
        add(&mut settings, &access).unwrap();
        let words = ["mcp", "--data", "/d", "--key-file", "/d/agents/a.key"];
        let ours = json!({"command": "provost", "args": words});
        assert_eq!(settings.value(), json!({"mcpServers": {"provost": ours}}));
        // In a file that others have, too, they find their own.
        access.is_shared = true;
        let mut settings = Json::parse("{}").unwrap();
        add(&mut settings, &access).unwrap();
        let ours = json!({"command": "provost", "args": ["mcp", "--agent", "a"]});
        assert_eq!(settings.value(), json!({"mcpServers": {"provost": ours}}));
    }

    #[test]
    fn p06_what_a_file_said_of_another_gateway_goes() {
        let evil = "http://127.0.0.1:33792";
        let env = json!({"PROVOST_CONFIG": "/evil.yaml", "PROVOST_STATE": "/s", "PROVOST_KEY": "$K", "A": "b"});
        let own = json!({"PROVOST_URL": "http://gate"});
        let clean = json!({"PROVOST_PASS_A": "b", "PROVOST_URL": "http://gate"});
        let joined = [format!("--url={evil}"), "--key-file=/k".to_owned()];
        let behind = [
            "mcp",
            "--key-file",
            "/d/agents/a.key",
            "--name",
            "files",
            "--",
            "cat",
            "--url",
            "x",
        ];
        let unnamed = [
            "mcp",
            "--key-file",
            "/d/agents/a.key",
            "--",
            "cat",
            "--url",
            "x",
        ];
        let theirs = ["--", "cat", "--url", "x"];
        for (ours, after) in [
            (&["mcp", "--url", evil, "--name", "files"][..], &behind[..]),
            (&["mcp", &joined[0], &joined[1], "--name=files"], &behind),
            (
                &["--config", "/evil.yaml", "mcp", "--name", "files"],
                &behind,
            ),
            (&["mcp", "--listen", "127.0.0.1:1", "--key", "k"], &unnamed),
            (&["mcp", "--name", "--url=http://evil"], &unnamed),
            (&["mcp", "--name", "mesh"], &unnamed),
        ] {
            let args = [ours, &theirs].concat();
            let before = json!({"command": "/x/provost", "args": args, "env": env});
            let before = json!({"mcpServers": {"files": before}});
            let after = json!({"command": "provost", "args": after, "env": clean});
            let expected = json!({"mcpServers": {"files": after}});
            assert_eq!(edited_by(wrap, &before, false).unwrap(), expected);
        }
        let own = json!({"command": "provost", "args": ["mcp", "--key-file", "/d/agents/a.key"],
            "env": own, "timeout": 9});
        let expected = json!({"mcpServers": {"provost": own}});
        let before = json!({"command": "provost", "args": ["serve", "--config", "/evil.yaml"], "url": evil,
            "type": "sse", "envFile": ".env", "cwd": "/x", "timeout": 9,
            "env": {"A": "b", "HOME": "/x", "XDG_STATE_HOME": "/x", "PROVOST_CONFIG": "/evil.yaml"}});
        let before = json!({"mcpServers": {"provost": before}});
        for edit in [wrap, add] {
            assert_eq!(edited_by(edit, &before, false).unwrap(), expected);
        }
    }

    #[test]
    fn p06_a_wrapped_server_brings_nothing_to_the_gate() {
        let env = json!({"HOME": "/srv/x", "PATH": "/x", "LD_PRELOAD": "/x.so", "PROVOST_URL": "http://evil"});
        let fs = json!({"command": "npx", "args": ["fs"], "env": env, "url": "http://evil", "type": "sse",
            "cwd": "/srv", "disabled": false, "autoApprove": ["read"], "headers": {"A": "b"}});
        let after = edited(&json!({"mcpServers": {"fs": fs}})).unwrap();
        let words = ["mcp", "--agent", "a", "--name", "fs", "--", "npx", "fs"];
        let env = json!({"PROVOST_PASS_HOME": "/srv/x", "PROVOST_PASS_PATH": "/x", "PROVOST_PASS_LD_PRELOAD": "/x.so",
            "PROVOST_URL": "http://gate"});
        let fs = json!({"command": "provost", "args": words, "env": env,
            "cwd": "/srv", "disabled": false, "autoApprove": ["read"]});
        assert_eq!(after, json!({"mcpServers": {"fs": fs}}));
        assert_eq!(edited(&after).unwrap(), after);

        for command in ["npx", "provost"] {
            let args = ["mcp", "--", "cat"];
            let fs =
                json!({"command": command, "args": args, "envFile": "${workspaceFolder}/.env"});
            let refused = edited(&json!({"mcpServers": {"fs": fs}})).unwrap_err();
            let refused = refused.to_string();
            assert!(
                refused.contains("`mcpServers.fs.envFile` is not allowed"),
                "{refused}"
            );
        }
    }

    #[test]
    fn servers_of_another_shape_are_refused() {
        for before in [
            json!({"mcpServers": []}),
            json!({"mcpServers": {"a": {"command": "npx", "args": "fs"}}}),
            json!({"mcpServers": {"a": {"command": "npx", "args": [1]}}}),
            json!({"mcpServers": {"a": {"command": "npx", "env": {"HOME": 1}}}}),
            json!({"mcpServers": {"mesh": {"command": "npx"}}}),
            json!({"mcpServers": {"a.b": {"command": "npx"}}}),
            json!({"servers": {"a": {"command": "npx"}}}),
        ] {
            assert!(edited(&before).is_err(), "{before}");
        }
        let without = json!({"other": 1});
        assert_eq!(edited(&without).unwrap(), without);
    }
}
