//! `provost hook`, as a coding agent runs it.

use std::{fs, net::TcpListener, process::Output, thread};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{AGENT, ALICE, PROVOST, Site, eventually},
};

const POLICY: &str = "policies:
  - name: hooks
    agent: '*'
    rules:
      - {tools: ['claude.Bash'], when: 'params.command STARTS_WITH \"ls\"', action: allow}
      - {tools: ['claude.Bash'], when: 'params.command STARTS_WITH \"git\"', action: human_approval}
      - {tools: ['codex.*', 'cursor.Read'], action: allow}
";

fn bash(command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s1", "tool_name": "Bash",
        "tool_use_id": command, "tool_input": {"command": command, "description": "harmless"}})
}

fn hook(site: &Site, url: &str, arguments: &[&str], said: &str) -> Output {
    let mut all = vec!["hook"];
    all.extend(arguments);
    all.extend(["--url", url]);
    site.provost_reading(&all, said)
}

#[track_caller]
fn answer(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn decision(output: &Output) -> String {
    let answer = answer(output);
    let decision = &answer["hookSpecificOutput"]["permissionDecision"];
    decision
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned()
}

#[test]
fn the_gateway_decides_and_a_person_where_it_must() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let url = gateway.url();
    let ask = |command: &str| hook(&site, &url, &["claude-code"], &bash(command).to_string());
    assert_eq!(decision(&ask("ls -l")), "allow");
    assert_eq!(decision(&ask("rm -rf /")), "deny");

    let allowed = thread::scope(|scope| {
        let waiting = scope.spawn(|| ask("git push"));
        let pending = gateway.one_pending();
        assert_eq!(pending["tool"], "claude.Bash");
        assert_eq!(pending["session_id"], "s1");
        let path = format!("/approvals/{}/approve", pending["id"].as_str().unwrap());
        gateway.alice().post(&path, &json!({})).ok();
        waiting.join().unwrap()
    });
    assert_eq!(decision(&allowed), "allow");

    // By a key of its own, from a file: the agent is the key's.
    let file = site.path("agent.key");
    fs::write(&file, AGENT).unwrap();
    let keyed = ["claude-code", "--key-file", file.to_str().unwrap()];
    let output = hook(&site, &url, &keyed, &bash("ls").to_string());
    assert_eq!(decision(&output), "allow");
    assert_eq!(gateway.traces()[0]["agent_id"], "keyed");
    // A person's own key, which may stand in the environment, does not take its place.
    let beside = [&keyed[..], &["--key", ALICE]].concat();
    let output = hook(&site, &url, &beside, &bash("ls").to_string());
    assert_eq!(decision(&output), "allow");

    let read = json!({"hook_event_name": "beforeReadFile", "file_path": "/p", "content": "x"});
    let output = hook(&site, &url, &["cursor"], &read.to_string());
    assert_eq!(answer(&output), json!({"permission": "allow"}));
    let patch = json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch",
        "tool_input": "*** Begin Patch"});
    let output = hook(&site, &url, &["codex"], &patch.to_string());
    assert_eq!(decision(&output), "allow");
    site.verify_chain(Some(&gateway));
}

/// What a project's settings set since the agent was connected reaches the hook as its environment.
#[test]
fn p06_variables_planted_after_connecting_are_a_no() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let url = gateway.url();
    fs::create_dir_all(site.path("repo/.claude")).unwrap();
    let mut said = bash("ls");
    said["cwd"] = json!(site.path("repo"));
    let ask = || hook(&site, &url, &["claude-code"], &said.to_string());
    let plant = |file: &str, env: Value| {
        let settings = json!({"env": env}).to_string();
        fs::write(site.path("repo/.claude").join(file), settings).unwrap();
    };
    for file in ["settings.json", "settings.local.json"] {
        plant(file, json!({"PATH": "/tmp"}));
        let refused = ask();
        assert_eq!(refused.status.code(), Some(2));
        let err = String::from_utf8_lossy(&refused.stderr);
        assert!(err.contains("`env` sets `PATH`"), "{err}");
        plant(file, json!({"MODEL": "x"}));
        assert_eq!(decision(&ask()), "allow");
    }
}

/// Two agents' windows of one session, in two folders, ask for the same command at once.
#[test]
fn p03_a_yes_for_one_folder_answers_no_other() {
    let echo = Echo::start();
    let policy =
        "policies:\n  - {name: p, agent: '*', rules: [{tools: ['*'], action: human_approval}]}\n";
    let site = Site::new(&echo, policy);
    let gateway = site.start();
    let ask = |cwd: &str| {
        let mut said = bash("rm -rf build");
        said["cwd"] = json!(cwd);
        let answer = gateway
            .agent()
            .post("/hooks/claude-code", &said)
            .ok()
            .json();
        answer["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let pending = |count: usize| {
        eventually("the questions", || {
            let pending = gateway.alice().pending();
            (pending.len() == count).then_some(pending)
        })
    };
    let id_of = |pending: &[Value], cwd: &str| {
        let found = pending.iter().find(|one| one["works_in"] == cwd);
        let found = found.unwrap_or_else(|| panic!("{cwd}: {pending:?}"));
        assert_eq!(found.get("asked"), None, "asked once: {found}");
        found["id"].as_str().unwrap().to_owned()
    };
    thread::scope(|scope| {
        let here = scope.spawn(|| ask("/srv/k"));
        let victim = scope.spawn(|| ask("/home/victim"));
        let asked = pending(2);
        let path = format!("/approvals/{}/approve", id_of(&asked, "/srv/k"));
        gateway
            .alice()
            .post(&path, &json!({"remember": "session"}))
            .ok();
        assert_eq!(here.join().unwrap(), "allow");
        let left = pending(1);
        gateway.alice().deny(&id_of(&left, "/home/victim")).ok();
        assert_eq!(victim.join().unwrap(), "deny");
    });
    assert_eq!(ask("/srv/k"), "allow");
}

#[test]
fn without_a_gateway_the_answer_is_no() {
    let site = Site::empty();
    // A port that nobody listens on.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{port}");
    let said = bash("ls").to_string();
    let output = hook(&site, &url, &["claude-code"], &said);
    assert_eq!(decision(&output), "deny");
    let output = hook(&site, &url, &["claude-code", "--unreachable", "ask"], &said);
    assert_eq!(decision(&output), "ask");
    let shell = json!({"hook_event_name": "beforeShellExecution", "command": "ls"});
    let output = hook(&site, &url, &["cursor"], &shell.to_string());
    assert_eq!(answer(&output)["permission"], "deny");
    // As a configuration says that was named; a flag says it louder, and what cannot be read says no.
    site.configure("hooks: {unreachable: ask}\n");
    let named = ["claude-code", "--config", "provost.yaml"];
    let output = hook(&site, &url, &named, &said);
    assert_eq!(decision(&output), "ask");
    let cursor = ["cursor", "--config", "provost.yaml"];
    let output = hook(&site, &url, &cursor, &shell.to_string());
    assert_eq!(answer(&output)["permission"], "ask");
    let deny = [&named[..], &["--unreachable", "deny"]].concat();
    assert_eq!(decision(&hook(&site, &url, &deny, &said)), "deny");
    for broken in ["hooks: {unreachable: allow}\n", "hooks: [", "hooks: ask\n"] {
        site.configure(broken);
        let output = hook(&site, &url, &named, &said);
        assert_eq!(decision(&output), "deny", "{broken}");
    }
    let start = json!({"hook_event_name": "SessionStart"});
    let output = hook(&site, &url, &["codex"], &start.to_string());
    assert_eq!(answer(&output), json!({}));
}

#[test]
fn what_cannot_be_read_or_is_no_gateway_is_never_a_yes() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let url = gateway.url();
    for broken in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"hook_event_name\":7}",
        "\u{feff}",
    ] {
        for agent in ["claude-code", "codex", "cursor"] {
            let output = hook(&site, &url, &[agent], broken);
            assert_eq!(output.status.code(), Some(2), "{broken:?}");
            assert_eq!(output.stdout, b"", "{broken:?}");
            assert!(!output.stderr.is_empty(), "{broken:?}");
        }
    }
    // The backend answers 200 to everything, with JSON of its own.
    let said = bash("ls").to_string();
    let output = hook(
        &site,
        &format!("http://{}", echo.addr),
        &["claude-code"],
        &said,
    );
    assert_eq!(decision(&output), "deny");
    // A key that is not known.
    let file = site.path("wrong.key");
    fs::write(&file, "pvk_unknown").unwrap();
    let wrong = ["claude-code", "--key-file", file.to_str().unwrap()];
    assert_eq!(decision(&hook(&site, &url, &wrong, &said)), "deny");
}

#[test]
fn an_answer_that_nobody_gets_is_a_no() {
    let site = Site::empty();
    let event = json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {}});
    fs::write(site.path("cursor"), event.to_string()).unwrap();
    fs::write(site.path("claude-code"), bash("ls").to_string()).unwrap();
    for agent in ["claude-code", "cursor"] {
        let hook = format!("{PROVOST} hook {agent} --url http://127.0.0.1:1 <{agent}");
        for line in [
            format!("{hook} >&-"),
            format!("{hook} >/dev/full"),
            format!("{hook} >/dev/null"),
            // Who was to read it is gone.
            format!(
                "mkfifo p; exec 4<>p; exec 5>p; exec 4<&-; {hook} >&5; code=$?; rm p; exit $code"
            ),
        ] {
            let output = site.shell(&line);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{line}: {said}");
            assert!(said.contains("cannot be written"), "{line}: {said}");
        }
    }
}

#[test]
fn a_gateway_that_refuses_is_not_unreachable() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let url = gateway.url();
    let file = site.path("wrong.key");
    fs::write(&file, "pvk_revoked").unwrap();
    let wrong = ["claude-code", "--unreachable", "ask", "--key-file"];
    let wrong = [&wrong[..], &[file.to_str().unwrap()]].concat();
    let output = hook(&site, &url, &wrong, &bash("ls").to_string());
    assert_eq!(decision(&output), "deny");

    let ask = ["claude-code", "--unreachable", "ask"];
    let missing = [&ask[..], &["--key-file", "/nowhere"]].concat();
    let output = hook(&site, &url, &missing, &bash("ls").to_string());
    assert_eq!(decision(&output), "deny");

    // Not much more than the gateway takes, and so much that it hangs up meanwhile.
    for size in [4 << 20, 24 << 20] {
        let large = bash(&format!("ls {}", "x".repeat(size)));
        let output = hook(&site, &url, &ask, &large.to_string());
        assert_eq!(decision(&output), "deny", "{size}");
        let answer = answer(&output).to_string();
        assert!(answer.contains("limits.body_bytes"), "{answer}");
    }
    // More than the hook itself takes: it lets the agent finish.
    let large = bash(&"x".repeat(40 << 20)).to_string();
    let output = hook(&site, &url, &ask, &large);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than"));
}
