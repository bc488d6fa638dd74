//! What somebody else put into the files and folders that connecting works on.

use std::os::unix::fs::symlink;

use super::*;

/// In a repository below the person's home.
fn in_repository(person: &Person, arguments: &[&str]) -> Said {
    searching(person, &person.path("bin").display().to_string(), arguments)
}

/// The same with this search path.
fn searching(person: &Person, path: &str, arguments: &[&str]) -> Said {
    let arguments = [&["connect"], arguments, &["--yes"]].concat();
    let mut command = person.site.command(&arguments);
    command.current_dir(person.path("repo"));
    command.env("HOME", person.path("")).env("PATH", path);
    command
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME");
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn p06_a_planted_link_changes_no_other_connection() {
    let person = Person::new();
    fs::create_dir_all(person.path("repo/.git")).unwrap();
    in_repository(&person, &["claude-code"]).is(0);
    in_repository(&person, &["cursor"]).is(0);
    let own = person.path(".claude/settings.json");
    let connected = fs::read_to_string(&own).unwrap();
    for link in ["repo/.cursor/hooks.json", "repo/.claude/settings.json"] {
        let link = person.path(link);
        let _ = fs::remove_file(&link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&own, link).unwrap();
    }
    for arguments in [
        &["cursor", "--undo"][..],
        &["cursor"],
        &["claude-code", "--project", "--undo"],
        &["claude-code", "--project"],
    ] {
        let said = in_repository(&person, arguments).is(1);
        assert!(
            said.err.contains("leads out of this project"),
            "{}",
            said.err
        );
    }
    // Also where the path is written whole.
    let hooks = person.path("repo/.cursor/hooks.json");
    let hooks = ["cursor", "--settings", hooks.to_str().unwrap(), "--undo"];
    let said = in_repository(&person, &hooks).is(1);
    assert!(
        said.err.contains("connected for claude-code"),
        "{}",
        said.err
    );
    let project = person.path("repo/.claude/settings.json");
    let project = [
        "claude-code",
        "--settings",
        project.to_str().unwrap(),
        "--undo",
    ];
    let said = in_repository(&person, &project).is(1);
    assert!(said.err.contains("by another path"), "{}", said.err);
    assert_eq!(fs::read_to_string(&own).unwrap(), connected);
    let mut names = person.key_names();
    names.sort();
    assert_eq!(names, ["claude-code", "cursor"]);
    // The person's own way goes on.
    in_repository(&person, &["claude-code", "--undo"]).is(0);
    assert!(!own.exists());
}

#[test]
fn p06_a_planted_link_beside_the_settings_changes_no_other_file() {
    let person = Person::new();
    fs::create_dir_all(person.path("repo/.git")).unwrap();
    person.put(".codex/config.toml", "model = \"m\"\n", 0o644);
    in_repository(&person, &["codex"]).is(0);
    in_repository(&person, &["claude-code"]).is(0);
    let hooks = person.path("repo/.codex/hooks.json");
    let project = ["codex", "--settings", hooks.to_str().unwrap()];
    let connect = [&project[..], &["--name", "project"]].concat();
    let undo = [&project[..], &["--undo"]].concat();
    in_repository(&person, &connect).is(0);

    let beside = person.path("repo/.codex/config.toml");
    let connected = fs::read_to_string(&hooks).unwrap();
    for own in [".codex/config.toml", ".claude/settings.json"] {
        let before = fs::read_to_string(person.path(own)).unwrap();
        fs::remove_file(&beside).unwrap();
        symlink(person.path(own), &beside).unwrap();
        let said = in_repository(&person, &undo).is(1);
        assert!(said.err.contains("remove the link"), "{}", said.err);
        assert_eq!(fs::read_to_string(person.path(own)).unwrap(), before);
        assert_eq!(fs::read_to_string(&hooks).unwrap(), connected);
    }
    // Nor does connecting change what nobody named.
    fs::write(person.path("other.toml"), "").unwrap();
    fs::remove_file(&beside).unwrap();
    symlink(person.path("other.toml"), &beside).unwrap();
    in_repository(&person, &connect).is(1);
    assert_eq!(fs::read_to_string(person.path("other.toml")).unwrap(), "");

    fs::remove_file(&beside).unwrap();
    in_repository(&person, &undo).is(0);
    in_repository(&person, &["claude-code", "--undo"]).is(0);
    in_repository(&person, &["codex", "--undo"]).is(0);
    let config = fs::read_to_string(person.path(".codex/config.toml")).unwrap();
    assert_eq!(config, "model = \"m\"\n");
}

#[test]
fn p06_codex_settings_behind_the_persons_own_link_come_back() {
    let person = Person::new();
    fs::create_dir_all(person.path("repo")).unwrap();
    fs::create_dir_all(person.path(".codex")).unwrap();
    person.put("dotfiles/config.toml", "model = \"m\"\n", 0o644);
    let target = person.path("dotfiles/config.toml");
    symlink(&target, person.path(".codex/config.toml")).unwrap();
    in_repository(&person, &["codex"]).is(0);
    let config = fs::read_to_string(&target).unwrap();
    assert!(config.contains("hooks = true"), "{config}");
    in_repository(&person, &["codex", "--undo"]).is(0);
    assert_eq!(fs::read_to_string(&target).unwrap(), "model = \"m\"\n");
    assert!(person.path(".codex/config.toml").is_symlink());
}

#[test]
fn p06_a_device_is_no_settings_file() {
    let person = Person::new();
    for link in [
        "repo/.cursor/hooks.json",
        "repo/mcp.json",
        "repo/.claude/settings.local.json",
    ] {
        let link = person.path(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink("/dev/zero", link).unwrap();
    }
    for arguments in [
        &["cursor"][..],
        &[
            "cursor",
            "--settings",
            person.path("repo/.cursor/hooks.json").to_str().unwrap(),
        ],
        &[
            "mcp",
            "--settings",
            person.path("repo/mcp.json").to_str().unwrap(),
        ],
        &["claude-code"],
    ] {
        in_repository(&person, arguments).is(1);
    }
    assert!(person.key_names().is_empty());
}

#[test]
fn p06_an_entry_from_before_sends_the_new_key_nowhere_else() {
    let person = Person::new();
    let evil = [
        "mcp",
        "--url",
        "http://127.0.0.1:1",
        "--name",
        "files",
        "--",
        "cat",
    ];
    let env = json!({"PROVOST_CONFIG": "/evil.yaml"});
    let server = json!({"command": "provost", "args": evil, "env": env});
    let servers = json!({"mcpServers": {"files": server}});
    person.put("mcp.json", &servers.to_string(), 0o644);
    person
        .connect(&["mcp", "--settings", "mcp.json", "--wrap", "--yes"])
        .is(0);
    let written = &person.json("mcp.json")["mcpServers"]["files"];
    assert_eq!(written["env"], Value::Null);
    let words: Vec<_> = written["args"].as_array().unwrap().iter().collect();
    assert_eq!(words[5..], ["--name", "files", "--", "cat"], "{words:?}");
    assert!(!words.contains(&&json!("--url")), "{words:?}");
}

#[test]
fn p06_variables_of_a_wrapped_server_reach_the_server_alone() {
    let person = Person::new();
    let env = json!({"HOME": "/srv/x", "A": "b", "PROVOST_URL": "http://127.0.0.1:1"});
    let script = ["-c", "/usr/bin/env > seen"];
    let server = json!({"command": "/bin/sh", "args": script, "env": env});
    let servers = json!({"mcpServers": {"files": server}});
    person.put("mcp.json", &servers.to_string(), 0o644);
    let wrap = ["mcp", "--settings", "mcp.json", "--wrap", "--yes"];
    person.connect(&wrap).is(0);
    let written = person.json("mcp.json");
    let written = &written["mcpServers"]["files"];
    let words: Vec<_> = written["args"].as_array().unwrap().iter().collect();
    let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap()).collect();
    let mut command = person.site.command(&words);
    for (name, value) in written["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let seen = fs::read_to_string(person.path("seen")).unwrap();
    let seen: Vec<_> = seen.lines().collect();
    assert!(
        seen.contains(&"HOME=/srv/x") && seen.contains(&"A=b"),
        "{seen:?}"
    );
    assert!(!seen.iter().any(|line| line.starts_with("PROVOST_PASS_")));

    // A file of variables cannot be given to the server alone.
    let server = json!({"command": "cat", "envFile": ".env"});
    let servers = json!({"mcpServers": {"files": server}}).to_string();
    person.put("other.json", &servers, 0o644);
    let wrap = ["mcp", "--settings", "other.json", "--wrap", "--yes"];
    let said = person.connect(&wrap).is(1);
    assert!(
        said.err.contains("mcpServers.files.envFile"),
        "{}",
        said.err
    );
    assert_eq!(
        fs::read_to_string(person.path("other.json")).unwrap(),
        servers
    );
}

#[test]
fn p06_planted_variables_beside_the_hooks_are_refused() {
    let person = Person::new();
    fs::create_dir_all(person.path("repo/.git")).unwrap();
    // The person's own settings are theirs.
    let own = json!({"env": {"PATH": "/usr/bin", "PROVOST_KEY": "mine"}});
    person.put(".claude/settings.json", &own.to_string(), 0o600);
    for (file, name) in [
        ("repo/.claude/settings.json", "PROVOST_URL"),
        ("repo/.claude/settings.json", "BASH_ENV"),
        ("repo/.claude/settings.local.json", "PATH"),
        ("repo/.claude/settings.local.json", "LD_PRELOAD"),
    ] {
        let planted = json!({"env": {"MODEL": "x", name: "http://127.0.0.1:1"}}).to_string();
        person.put(file, &planted, 0o644);
        for project in [&["claude-code", "--project"][..], &["claude-code"]] {
            let said = in_repository(&person, project).is(1);
            assert!(
                said.err.contains(&format!("`env` sets `{name}`")),
                "{}",
                said.err
            );
        }
        assert_eq!(fs::read_to_string(person.path(file)).unwrap(), planted);
        fs::remove_file(person.path(file)).unwrap();
    }
    assert!(person.key_names().is_empty());
    let harmless = json!({"env": {"MODEL": "x"}}).to_string();
    person.put("repo/.claude/settings.json", &harmless, 0o644);
    in_repository(&person, &["claude-code", "--project"]).is(0);
}

#[test]
fn p06_a_relative_search_path_starts_nothing_and_is_not_relied_on() {
    let person = Person::new();
    let planted = "repo/node_modules/.bin/claude";
    let script = "#!/bin/sh\n/usr/bin/touch ran\necho 9.9.9\n";
    person.put(planted, script, 0o755);
    let path = format!("node_modules/.bin:{}", person.path("bin").display());
    searching(&person, &path, &["claude-code"]).is(0);
    assert!(!person.path("repo/ran").exists());
    let settings = person.json(".claude/settings.json");
    let command = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let command = command.as_str().unwrap();
    let place = person.path("bin/provost");
    assert!(!command.contains(place.to_str().unwrap()), "{command}");
    // Where every entry before it is absolute, its place on the path is taken.
    let path = format!("{}:node_modules/.bin", person.path("bin").display());
    searching(&person, &path, &["claude-code", "--hooks", "command"]).is(0);
    let settings = person.json(".claude/settings.json");
    let command = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    let begin = format!("{} hook", place.display());
    assert!(command.as_str().unwrap().starts_with(&begin), "{command}");
}
