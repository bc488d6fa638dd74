//! Agents connected by the real binary: the settings change as shown, the key works, and undoing brings
//! everything back.

mod planted;

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::harness::{Gateway, PROVOST, Site};

const SETTINGS: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]},\n    \"env\": {\"B\": \"1\", \"A\": \"2\"}\n}";

/// Somebody with a home of their own, beside a gateway.
struct Person {
    site: Site,
    gateway: Gateway,
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Person {
    fn new() -> Self {
        let site = Site::empty();
        fs::create_dir(site.path("bin")).unwrap();
        std::os::unix::fs::symlink(PROVOST, site.path("bin/provost")).unwrap();
        let gateway = site.start_with(&["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
        Self { site, gateway }
    }

    fn connect(&self, arguments: &[&str]) -> Said {
        let url = self.gateway.url();
        let common = ["--url", &url, "--data", "data"];
        let arguments = [&["connect"], arguments, &common].concat();
        let output = self.site.provost_of_owner(&arguments);
        Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.site.path(name)
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path(name)).unwrap()).unwrap()
    }

    fn put(&self, name: &str, text: &str, mode: u32) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }

    fn key_names(&self) -> Vec<String> {
        let keys = self.gateway.admin().get("/keys").ok().json();
        let names = keys.as_array().unwrap().iter();
        let names = names.map(|key| key["name"].as_str().unwrap().to_owned());
        names.filter(|name| !name.starts_with("local-")).collect()
    }

    /// The agent as which a key comes in, which then asks.
    #[track_caller]
    fn agent_of(&self, key: &str) -> Value {
        let agent = self.gateway.client().key(key);
        let asked = agent.decide_async("shell.exec", json!({"cmd": "ls"}));
        let id = asked.is(202).approval_id();
        let shown = self.gateway.admin().get(&format!("/approvals/{id}"));
        shown.ok().json()["agent_id"].clone()
    }
}

impl Said {
    #[track_caller]
    fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn claude_code_is_connected_and_disconnected() {
    let person = Person::new();
    let settings = person.path(".claude/settings.json");
    person.put(".claude/settings.json", SETTINGS, 0o644);

    let http = ["claude-code", "--hooks", "http"];
    let agreed = [&http[..], &["--yes"]].concat();
    let shown = person.connect(&http).is(1);
    assert!(shown.out.contains("+++ ") && shown.out.contains("\"Bearer pvk_(new)\""));
    assert!(shown.err.contains("--yes"), "{}", shown.err);
    assert_eq!(fs::read_to_string(&settings).unwrap(), SETTINGS);
    assert!(person.key_names().is_empty());

    let made = person.connect(&agreed).is(0);
    assert!(made.err.contains("--hooks command"), "{}", made.err);
    assert!(!made.out.contains("\u{1b}["), "colours outside a terminal");
    let written = person.json(".claude/settings.json");
    let hook = &written["hooks"]["PreToolUse"][1]["hooks"][0];
    let url = format!("{}/hooks/claude-code", person.gateway.url());
    assert_eq!(hook["url"], url);
    assert_eq!(mode(&settings), 0o600);
    let header = hook["headers"]["Authorization"].as_str().unwrap();
    let key = header.strip_prefix("Bearer ").unwrap();
    assert!(!made.out.contains(key) && !made.err.contains(key));
    assert_eq!(person.agent_of(key), "claude-code");

    let again = person.connect(&agreed).is(0);
    assert!(again.out.contains("nothing to change"), "{}", again.out);

    person.connect(&["claude-code", "--undo", "--yes"]).is(0);
    assert_eq!(fs::read_to_string(&settings).unwrap(), SETTINGS);
    assert_eq!(mode(&settings), 0o644);
    assert_eq!(fs::read_dir(person.path(".claude")).unwrap().count(), 1);
    assert!(person.key_names().is_empty());
    let nothing = person.connect(&["claude-code", "--undo", "--yes"]).is(1);
    assert!(nothing.err.contains("nothing to undo"), "{}", nothing.err);
}

#[test]
fn a_claude_code_that_is_not_there_is_connected_by_commands() {
    let person = Person::new();
    let made = person.connect(&["claude-code", "--yes"]).is(0);
    assert!(made.err.contains("no `claude` here"), "{}", made.err);
    let written = person.json(".claude/settings.json");
    for event in ["PreToolUse", "SessionStart"] {
        assert_eq!(written["hooks"][event][0]["hooks"][0]["type"], "command");
    }
    let shared = person.path("shared.json");
    let project = ["claude-code", "--project", "--name", "p", "--yes"];
    let project = [&project[..], &["--settings", shared.to_str().unwrap()]].concat();
    person.connect(&project).is(0);
    let text = fs::read_to_string(&shared).unwrap();
    assert!(
        text.contains("\"provost hook claude-code || exit 2\""),
        "{text}"
    );
    assert!(
        !text.contains("pvk_") && !text.contains("--key-file"),
        "{text}"
    );
}

#[test]
fn an_older_claude_code_is_connected_by_commands() {
    let person = Person::new();
    person.put(
        "bin/claude",
        "#!/bin/sh\necho '2.1.185 (Claude Code)'\n",
        0o755,
    );
    let refused = person.connect(&["claude-code", "--hooks", "http", "--yes"]);
    assert!(refused.is(1).err.contains("2.1.295"));
    let made = person.connect(&["claude-code", "--yes"]).is(0);
    assert!(made.err.contains("before 2.1.295"), "{}", made.err);
    let text = fs::read_to_string(person.path(".claude/settings.json")).unwrap();
    assert!(!text.contains("pvk_") && !text.contains("http\""), "{text}");
    let written = person.json(".claude/settings.json");
    let command = &written["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let command = command.as_str().unwrap();
    // A project's `env.PATH` leads to no other program.
    let begin = format!(
        "{} hook claude-code --key-file ",
        person.path("bin/provost").display()
    );
    assert!(command.starts_with(&begin), "{command}");
    person.connect(&["claude-code", "--undo", "--yes"]).is(0);
    assert_eq!(fs::read_dir(person.path(".claude")).unwrap().count(), 0);
    person.connect(&["claude-code", "--yes"]).is(0);
    let key = fs::read_to_string(person.path("data/agents/claude-code.key")).unwrap();
    assert_eq!(person.agent_of(key.trim()), "claude-code");

    // After an update, the same key goes where the new way has it.
    person.put(
        "bin/claude",
        "#!/bin/sh\necho '2.1.312 (Claude Code)'\n",
        0o755,
    );
    person.connect(&["claude-code", "--yes"]).is(0);
    let written = person.json(".claude/settings.json");
    let hook = &written["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(
        hook["headers"]["Authorization"],
        format!("Bearer {}", key.trim())
    );
    // If it is put back to what it was, somebody should know.
    let doctor = || {
        let url = person.gateway.url();
        let doctor = ["doctor", "--url", &url, "--data", "data"];
        String::from_utf8(person.site.provost_of_owner(&doctor).stdout).unwrap()
    };
    assert!(doctor().contains("asks before it acts"), "{}", doctor());
    person.put("bin/claude", "#!/bin/sh\necho 2.1.294\n", 0o755);
    assert!(
        doctor().contains("it goes on when the gateway"),
        "{}",
        doctor()
    );
    person.connect(&["claude-code", "--undo", "--yes"]).is(0);
    assert!(!person.path(".claude/settings.json").exists());
    assert!(!person.path("data/agents/claude-code.key").exists());
}

#[test]
fn codex_runs_hooks_again_and_keeps_what_it_wrote_itself() {
    let person = Person::new();
    let config = ".codex/config.toml";
    let before = "model = \"m\" # mine\n\n[features]\ncodex_hooks = false\n";
    person.put(config, before, 0o600);
    let made = person.connect(&["codex", "--yes"]).is(0);
    assert!(
        made.out
            .contains("-codex_hooks = false\n+codex_hooks = true"),
        "{}",
        made.out
    );
    let after = before.replace("false", "true");
    assert_eq!(fs::read_to_string(person.path(config)).unwrap(), after);
    person.connect(&["codex", "--undo", "--yes"]).is(0);
    assert_eq!(fs::read_to_string(person.path(config)).unwrap(), before);

    person.connect(&["codex", "--yes"]).is(0);
    let trusted = format!("{after}\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n");
    person.put(config, &trusted, 0o600);
    let undone = person.connect(&["codex", "--undo", "--yes"]).is(0);
    assert!(undone.err.contains("stays as it is"), "{}", undone.err);
    assert_eq!(fs::read_to_string(person.path(config)).unwrap(), trusted);
    assert_eq!(fs::read_dir(person.path(".codex")).unwrap().count(), 1);

    person.put(config, "features = 1\n", 0o600);
    let refused = person.connect(&["codex", "--yes"]).is(1);
    assert!(
        refused.err.contains("`features` is not a table"),
        "{}",
        refused.err
    );
    assert!(!person.path(".codex/hooks.json").exists());
}

#[test]
fn a_shared_file_holds_no_key() {
    let person = Person::new();
    let project = ["claude-code", "--project", "--hooks", "http"];
    let made = person.connect(&[&project[..], &["--yes"]].concat()).is(0);
    let export = made
        .out
        .lines()
        .find_map(|line| line.strip_prefix("export PROVOST_KEY="));
    assert_eq!(person.agent_of(export.unwrap()), "claude-code");
    let text = fs::read_to_string(person.path(".claude/settings.json")).unwrap();
    assert!(
        text.contains("Bearer $PROVOST_KEY") && !text.contains("pvk_"),
        "{text}"
    );

    // Also for somebody who did as they were told.
    let again = person.connect(&[&project[..], &["--key", export.unwrap()]].concat());
    assert!(again.is(0).out.contains("nothing to change"));
    person
        .connect(&["claude-code", "--project", "--undo", "--yes"])
        .is(0);
    assert!(!person.path(".claude/settings.json").exists());
}

#[test]
fn what_was_written_after_connecting_is_not_lost() {
    let person = Person::new();
    let settings = ".claude/settings.json";
    person.put(settings, SETTINGS, 0o644);
    person.connect(&["claude-code", "--yes"]).is(0);
    let later = fs::read_to_string(person.path(settings)).unwrap() + "\n";
    person.put(settings, &later, 0o600);
    let undone = person.connect(&["claude-code", "--undo", "--yes"]).is(0);
    let mut paths = undone.err.split('`');
    let kept = paths.find(|path| path.ends_with("provost-undone")).unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), later);
    let left = fs::read_dir(person.path(".claude")).unwrap().count();
    assert_eq!(left, 1, "nothing but the settings");
    assert_eq!(fs::read_to_string(person.path(settings)).unwrap(), SETTINGS);
}

#[test]
fn p17_what_was_written_between_two_connections_is_not_lost() {
    let person = Person::new();
    person.put(".claude/settings.json", SETTINGS, 0o644);
    let again = ["claude-code", "--hooks", "http", "--yes"];
    person
        .connect(&["claude-code", "--hooks", "command", "--yes"])
        .is(0);
    let mut settings = person.json(".claude/settings.json");
    settings["permissions"] = json!({"deny": ["Bash(rm:*)"]});
    person.put(".claude/settings.json", &settings.to_string(), 0o600);
    person.connect(&again).is(0);
    let undone = person.connect(&["claude-code", "--undo", "--yes"]).is(0);
    let path = undone.err.split('`').find(|part| part.contains("undone"));
    let kept = fs::read_to_string(path.unwrap()).unwrap();
    assert!(kept.contains("Bash(rm:*)"), "{kept}");
    let settings = fs::read_to_string(person.path(".claude/settings.json")).unwrap();
    assert_eq!(settings, SETTINGS);
}

#[test]
fn p07_a_connection_that_fails_makes_no_key() {
    let person = Person::new();
    let said = person
        .connect(&["mcp", "--settings", "/proc/x.json", "--yes"])
        .is(1);
    assert!(said.err.contains("/proc/x.json"), "{}", said.err);
    let agent = person.gateway.client().key("agent:demo");
    agent.decide_async("shell.exec", json!({})).is(202);
    assert!(!person.path("data/agents/mcp.key").exists());
}

#[test]
fn p17_what_starts_no_servers_is_not_called_connected() {
    let person = Person::new();
    for (text, code, words) in [
        (r#"{"servers": {"files": {"command": "x"}}}"#, 1, "VS Code"),
        ("{}", 0, "starts no servers"),
        ("", 0, "starts no servers"),
    ] {
        person.put("mcp.json", text, 0o644);
        let file = person.path("mcp.json");
        let file = file.to_str().unwrap();
        let said = person
            .connect(&["mcp", "--settings", file, "--wrap", "--yes"])
            .is(code);
        assert!(said.out.contains(words) || said.err.contains(words));
        assert_eq!(fs::read_to_string(file).unwrap(), text);
        assert!(person.key_names().is_empty());
    }
}

/// Which a repository may bring along.
#[test]
fn p06_undoing_believes_nothing_that_lies_beside_the_settings() {
    let person = Person::new();
    let own = r#"{"version": 1, "hooks": {"stop": [{"command": "my-own-guard"}]}}"#;
    person.put(".cursor/hooks.json", own, 0o644);
    let planted = r#"{"hooks": {"stop": [{"command": "evil"}]}}"#;
    person.put(".cursor/hooks.json.provost-backup", planted, 0o644);
    person.put(".cursor/hooks.json.provost-made", "", 0o644);
    let nothing = person.connect(&["cursor", "--undo", "--yes"]).is(1);
    assert!(nothing.err.contains("nothing to undo"), "{}", nothing.err);
    person.connect(&["cursor", "--yes"]).is(0);
    person.connect(&["cursor", "--undo", "--yes"]).is(0);
    let text = fs::read_to_string(person.path(".cursor/hooks.json")).unwrap();
    assert_eq!(text, own);

    let mut homeless = person.site.command(&["connect", "cursor", "--yes"]);
    homeless.env("PROVOST_STATE", "").env("HOME", "");
    let homeless =
        homeless
            .env("XDG_STATE_HOME", "")
            .args(["--url", &person.gateway.url(), "--data", "data"]);
    let output = homeless.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("set HOME or PROVOST_STATE"), "{said}");
    let text = fs::read_to_string(person.path(".cursor/hooks.json")).unwrap();
    assert_eq!(text, own);
}

#[test]
fn p17_undoing_removes_every_key_that_a_file_was_connected_with() {
    let person = Person::new();
    let servers = r#"{"mcpServers": {"fs": {"command": "npx"}}}"#;
    person.put("mcp.json", servers, 0o644);
    let mcp = ["mcp", "--settings", "mcp.json", "--yes"];
    let wrapped = [&mcp[..], &["--name", "wrapped", "--wrap"]].concat();
    let made = person.connect(&mcp).is(0);
    let told = made.err.split('`').find(|part| part.contains("--undo"));
    let told: Vec<_> = told.unwrap().split(' ').skip(2).collect();
    let told = [&told[..], &["--yes"]].concat();
    // The command that was told, one without the name, and one with it.
    for undo in [
        told,
        [&mcp[..], &["--undo"]].concat(),
        [&wrapped[..], &["--undo"]].concat(),
    ] {
        person.connect(&mcp).is(0);
        let made = person.connect(&wrapped).is(0);
        assert!(
            made.err.contains("connected as `mcp` before"),
            "{}",
            made.err
        );
        let mut names = person.key_names();
        names.sort();
        assert_eq!(names, ["mcp", "wrapped"]);
        person.connect(&undo).is(0);
        assert!(person.key_names().is_empty(), "{undo:?}");
        let left = fs::read_dir(person.path("data/agents")).unwrap().count();
        assert_eq!(left, 0, "{undo:?}");
        let text = fs::read_to_string(person.path("mcp.json")).unwrap();
        assert_eq!(text, servers);
    }
}

#[test]
fn p17_undoing_without_a_gateway_claims_no_change() {
    let person = Person::new();
    person.put(".claude/settings.json", SETTINGS, 0o644);
    person.connect(&["claude-code", "--yes"]).is(0);
    let Person { site, gateway } = person;
    gateway.kill();
    let output = site.provost_of_owner(&["connect", "claude-code", "--undo", "--yes"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("changed after connecting"), "{said}");
    let left = fs::read_dir(site.path(".claude")).unwrap().count();
    assert_eq!(left, 1, "nothing but the settings");
    assert!(!site.path("data/agents/claude-code.key").exists());
}

#[test]
fn p17_a_repository_gets_no_paths_of_this_machine_from_cursor() {
    let person = Person::new();
    fs::create_dir(person.path(".git")).unwrap();
    person.connect(&["cursor", "--yes"]).is(0);
    let text = fs::read_to_string(person.path(".cursor/hooks.json")).unwrap();
    assert!(
        text.contains("\"provost hook cursor --name cursor || exit 2\""),
        "{text}"
    );
    assert!(!text.contains(person.path("").to_str().unwrap()), "{text}");
    assert_eq!(fs::read_dir(person.path(".cursor")).unwrap().count(), 1);
}

#[test]
fn without_a_gateway_nothing_is_connected_and_settings_still_go_back() {
    let person = Person::new();
    person.connect(&["codex", "--yes"]).is(0);
    let url = person.gateway.url();
    let Person { site, gateway } = person;
    gateway.kill();
    let run = |arguments: &[&str]| {
        let common = ["--yes", "--url", &url, "--data", "data"];
        let output = site.provost_of_owner(&[&["connect"], arguments, &common].concat());
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said) = run(&["cursor"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(!site.path(".cursor").exists());
    let (code, said) = run(&["codex", "--undo"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("provost keys remove codex"), "{said}");
    assert!(!site.path(".codex/hooks.json").exists());
}

#[test]
fn codex_and_cursor_find_their_keys_in_files() {
    let person = Person::new();
    for (agent, settings, event) in [
        (
            "codex",
            ".codex/hooks.json",
            "/hooks/PreToolUse/0/hooks/0/command",
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            "/hooks/beforeShellExecution/0/command",
        ),
    ] {
        let made = person.connect(&[agent, "--yes", "--json"]).is(0);
        let report: Value = serde_json::from_str(&made.out).unwrap();
        assert_eq!(report["changed"], true);
        let file = person.path(&format!("data/agents/{agent}.key"));
        let command = person.json(settings).pointer(event).unwrap().clone();
        let program = person.path("bin/provost");
        let begin = format!("{} hook {agent} --key-file ", program.display());
        let command = command.as_str().unwrap().strip_prefix(&begin).unwrap();
        let named = command.split(' ').next().unwrap();
        assert_eq!(
            fs::canonicalize(named).unwrap(),
            fs::canonicalize(&file).unwrap()
        );
        assert_eq!(mode(&file), 0o600);
        assert_eq!(
            person.agent_of(fs::read_to_string(&file).unwrap().trim()),
            agent
        );
        person.connect(&[agent, "--undo", "--yes"]).is(0);
        assert!(!person.path(settings).exists() && !file.exists());
    }
    assert!(person.key_names().is_empty());
}

#[test]
fn the_servers_of_an_mcp_client_are_wrapped() {
    let person = Person::new();
    person.connect(&["mcp"]).is(2);
    person.put(
        "remote.json",
        r#"{"mcpServers": {"x": {"url": "https://x"}}}"#,
        0o644,
    );
    let remote = [
        "mcp",
        "--settings",
        "remote.json",
        "--wrap",
        "--name",
        "remote",
    ];
    let nothing = person.connect(&remote).is(0);
    assert!(nothing.out.contains("starts no servers"), "{}", nothing.out);
    assert!(person.key_names().is_empty());

    let servers = json!({"mcpServers": {"fs": {"command": "npx", "args": ["fs"]}}});
    person.put("mcp.json", &servers.to_string(), 0o644);
    let wrap = ["mcp", "--settings", "mcp.json", "--wrap", "--yes"];
    person.connect(&wrap).is(0);
    let fs_server = &person.json("mcp.json")["mcpServers"]["fs"];
    let file = person.path("data/agents/mcp.key");
    let data = person.path("data");
    let data = ["mcp", "--data", data.to_str().unwrap()];
    let key_file = [&data[..], &["--key-file", file.to_str().unwrap()]].concat();
    let words = [&key_file[..], &["--name", "fs", "--", "npx", "fs"]].concat();
    assert_eq!(fs_server["args"], json!(words));
    assert!(!fs_server.to_string().contains("pvk_"), "{fs_server}");
    let key = fs::read_to_string(&file).unwrap();
    assert_eq!(mode(&file), 0o600);
    assert_eq!(person.agent_of(key.trim()), "mcp");
}

#[test]
fn p17_no_key_is_written_into_a_repository() {
    let person = Person::new();
    fs::create_dir_all(person.path("repo/.git")).unwrap();
    let servers = json!({"mcpServers": {"fs": {"command": "npx", "args": ["fs"]}}}).to_string();
    for (name, extra) in [("one", &[][..]), ("two", &["--wrap"])] {
        person.put("repo/.mcp.json", &servers, 0o644);
        let connect = [
            "mcp",
            "--settings",
            "repo/.mcp.json",
            "--yes",
            "--name",
            name,
        ];
        person.connect(&[&connect[..], extra].concat()).is(0);
        let text = fs::read_to_string(person.path("repo/.mcp.json")).unwrap();
        assert!(!text.contains("pvk_"), "{text}");
        assert!(
            !text.contains(person.path("data").to_str().unwrap()),
            "{text}"
        );
        assert!(text.contains("--agent") && text.contains(name), "{text}");
        let again = person.connect(&[&connect[..], extra].concat()).is(0);
        assert!(again.out.contains("nothing to change"), "{}", again.out);
    }
    // The words lead to the key, also in another folder.
    let mut command = person.site.command(&["mcp", "--agent", "one"]);
    let command = command.env("PROVOST_URL", person.gateway.url());
    let output = command.current_dir("/").output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let settings = ["--settings", "repo/.claude/settings.json", "--yes"];
    let http = [&["claude-code", "--hooks", "http"][..], &settings].concat();
    let refused = person.connect(&http).is(1);
    assert!(refused.err.contains("--project"), "{}", refused.err);
    let command = [&["claude-code"][..], &settings].concat();
    person.connect(&command).is(0);
    let text = fs::read_to_string(person.path("repo/.claude/settings.json")).unwrap();
    assert!(!text.contains("pvk_"), "{text}");
}

#[test]
fn p17_connecting_finds_the_gateway_from_any_folder() {
    let person = Person::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = person.site.command(&["connect", "codex", "--yes"]);
    let command = command
        .current_dir(elsewhere.path())
        .env("HOME", elsewhere.path())
        .env_remove("CODEX_HOME");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("provost policy example coding-agent"),
        "{said}"
    );
    let hooks = fs::read_to_string(elsewhere.path().join(".codex/hooks.json")).unwrap();
    let data = person.path("data");
    let reached = format!(" --data {} ||", data.display());
    assert!(hooks.contains(&reached), "{hooks}");
    assert!(!elsewhere.path().join("provost-data").exists());
}

#[test]
fn a_persons_key_is_never_replaced_or_removed() {
    let person = Person::new();
    let alice = json!({"name": "alice", "role": "human"});
    person.gateway.admin().post("/keys", &alice).is(201);
    let named = ["codex", "--yes", "--name", "alice"];
    let refused = person
        .connect(&[&named[..], &["--replace-key"]].concat())
        .is(1);
    assert!(refused.err.contains("role human"), "{}", refused.err);
    person.connect(&["codex", "--yes"]).is(0);
    // What was connected is taken back, whatever the command names.
    person.connect(&[&named[..], &["--undo"]].concat()).is(0);
    assert_eq!(person.key_names(), ["alice"]);
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let person = Person::new();
    for (text, said) in [
        ("{\n  // mine\n}", "line 2, column 3: a comment"),
        ("{\"a\": 1,}", "trailing comma"),
        ("{\"hooks\": []}", "`hooks` is not an object"),
    ] {
        person.put(".claude/settings.json", text, 0o644);
        let refused = person.connect(&["claude-code", "--yes"]).is(1);
        assert!(refused.err.contains(said), "{}", refused.err);
        let left = fs::read_to_string(person.path(".claude/settings.json")).unwrap();
        assert_eq!(left, text);
    }
    assert!(person.key_names().is_empty());
}

#[test]
fn hooks_that_are_switched_off_are_not_called_connected() {
    let person = Person::new();
    let off = "{\"disableAllHooks\": true}";
    for (name, arguments) in [
        (".claude/settings.json", &["claude-code", "--yes"][..]),
        (".claude/settings.local.json", &["claude-code", "--yes"]),
        (
            ".claude/settings.json",
            &["claude-code", "--yes", "--settings", "other.json"],
        ),
    ] {
        person.put(name, off, 0o644);
        let refused = person.connect(arguments).is(1);
        for part in [name, "`disableAllHooks` is not false", "remove it"] {
            assert!(refused.err.contains(part), "{}", refused.err);
        }
        assert_eq!(fs::read_to_string(person.path(name)).unwrap(), off);
        assert_eq!(fs::read_dir(person.path(".claude")).unwrap().count(), 1);
        assert!(!person.path("other.json").exists());
        fs::remove_file(person.path(name)).unwrap();
    }
    // Of a file with a value of another kind Claude Code takes nothing, hooks neither.
    for (settings, member) in [
        (r#"{"disableAllHooks": "true"}"#, "disableAllHooks"),
        (r#"{"model": 5}"#, "`model` is not a text"),
        (
            r#"{"permissions": {"allow": 5}}"#,
            "`permissions.allow` is not a list",
        ),
        (
            r#"{"cleanupPeriodDays": "30"}"#,
            "`cleanupPeriodDays` is not a number",
        ),
    ] {
        person.put(".claude/settings.json", settings, 0o644);
        let refused = person.connect(&["claude-code", "--yes"]).is(1);
        assert!(refused.err.contains(member), "{}", refused.err);
        fs::remove_file(person.path(".claude/settings.json")).unwrap();
    }
    // Some editors begin a file with a mark of the byte order.
    person.put(".claude/settings.json", &format!("\u{feff}{off}"), 0o644);
    person.connect(&["claude-code", "--yes"]).is(1);
    assert!(person.key_names().is_empty());
    person.put(
        ".claude/settings.json",
        "\u{feff}{\"disableAllHooks\": false}",
        0o644,
    );
    person.connect(&["claude-code", "--yes"]).is(0);
    // What was connected before can be taken back.
    person.put(".claude/settings.local.json", off, 0o644);
    person.connect(&["claude-code", "--undo", "--yes"]).is(0);
}

#[test]
fn another_program_of_this_name_is_not_written_down() {
    let person = Person::new();
    fs::remove_file(person.path("bin/provost")).unwrap();
    let command = |settings: &str, place: &str| {
        let settings = person.json(settings);
        let command = settings.pointer(place).unwrap();
        command.as_str().unwrap().to_owned()
    };
    let place = "/hooks/PreToolUse/0/hooks/0/command";
    let this = fs::canonicalize(PROVOST).unwrap();
    for other in [None, Some("#!/bin/sh\nexit 0\n")] {
        if let Some(other) = other {
            person.put("bin/provost", other, 0o755);
        }
        person.connect(&["codex", "--yes"]).is(0);
        let line = command(".codex/hooks.json", place);
        assert!(line.contains(this.to_str().unwrap()), "{line}");
        let again = person.connect(&["codex", "--yes"]).is(0);
        assert!(again.out.contains("nothing to change"), "{}", again.out);
    }
    person.put("mcp.json", "{}", 0o644);
    person
        .connect(&["mcp", "--settings", "mcp.json", "--yes"])
        .is(0);
    let server = command("mcp.json", "/mcpServers/provost/command");
    assert_eq!(Path::new(&server), this);

    // Where the search path leads to this program, that place is written: an update is put there.
    fs::remove_file(person.path("bin/provost")).unwrap();
    std::os::unix::fs::symlink(PROVOST, person.path("bin/provost")).unwrap();
    person.connect(&["codex", "--yes"]).is(0);
    let line = command(".codex/hooks.json", place);
    let begin = format!("{} hook codex ", person.path("bin/provost").display());
    assert!(line.starts_with(&begin), "{line}");
}
