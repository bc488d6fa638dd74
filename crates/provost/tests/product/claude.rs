//! Claude Code itself behind the gate: connected by `provost connect`, with a model that is scripted, and
//! everything on loopback. What counts is which commands ran.

mod acp;

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
    thread,
};

use provost_gateway::hooks::Dialect;
use serde_json::{Value, json};

use self::acp::Claude;
use crate::{
    echo::Echo,
    harness::{Gateway, Site, eventually},
    model::Model,
    peers,
};

const POLICY: &str = "policies:
  - name: claude
    agent: claude-code
    rules:
      - {tools: ['claude.Bash'], when: 'params.command STARTS_WITH \"touch allowed\"', action: allow}
      - {tools: ['claude.Bash'], when: 'params.command STARTS_WITH \"touch denied\"', action: deny}
      - {tools: ['*'], action: human_approval}
";

/// A person with a gateway, and Claude Code connected to it.
struct Desk {
    site: Site,
    gateway: Gateway,
}

impl Desk {
    fn new() -> Self {
        Self::connected(&["--hooks", "http"])
    }

    fn connected(options: &[&str]) -> Self {
        let site = Site::new(&Echo::start(), POLICY);
        fs::create_dir(site.path("work")).unwrap();
        // Connecting asks for its version.
        fs::create_dir(site.path("bin")).unwrap();
        symlink(peers::claude(), site.path("bin/claude")).unwrap();
        let gateway = site.start();
        let connect = ["connect", "claude-code", "--yes", "--url", &gateway.url()];
        let output = site.provost_of_owner(&[&connect, options].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        Self { site, gateway }
    }

    fn has_hooks(&self, kind: &str) -> bool {
        let settings = fs::read_to_string(self.site.path(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        settings["hooks"]["PreToolUse"][0]["hooks"][0]["type"] == kind
    }

    fn exists(&self, file: &str) -> bool {
        self.site.path("work").join(file).exists()
    }

    fn approve(&self, approval: &Value, body: &Value) {
        let path = format!("/approvals/{}/approve", approval["id"].as_str().unwrap());
        self.gateway.alice().post(&path, body).ok();
    }

    /// What is noted about a session, in order.
    fn notes(&self, session: &str) -> Vec<String> {
        let export = self.gateway.alice().get("/traces/export").ok().text();
        let records = export
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let records = records.map(|line: Value| line["record"].clone());
        let of_session = records.filter(|record| record["session_id"] == session);
        let notes = of_session.filter_map(|record| Some(record["note"].as_str()?.to_owned()));
        notes.collect()
    }

    /// The record of the one command.
    #[track_caller]
    fn trace(&self) -> Value {
        let traces = self.gateway.traces();
        let mut calls = traces.iter().filter(|trace| trace["tool"] == "claude.Bash");
        let call = calls.next().unwrap_or_else(|| panic!("{traces:?}"));
        assert!(calls.next().is_none(), "{traces:?}");
        self.gateway.trace(call["trace_id"].as_str().unwrap())
    }
}

#[test]
fn what_policy_allows_is_done_and_what_happens_is_recorded() {
    let desk = Desk::new();
    assert!(desk.has_hooks("http"), "this version stops by itself");
    let model = Model::that_runs("touch allowed && echo it-is-done");
    let mut claude = Claude::start(&desk.site, model.addr);
    claude.prompt();
    assert!(desk.exists("allowed"));
    assert!(
        model.was_told().contains("it-is-done"),
        "{}",
        model.was_told()
    );
    assert_eq!(claude.asked_the_editor, [] as [Value; 0]);
    claude.close();

    let session = claude.session().to_owned();
    let trace = desk.trace();
    assert_eq!(trace["session_id"], session);
    assert_eq!(
        (&trace["verdict"], &trace["outcome"]),
        (&json!("allow"), &json!("done"))
    );
    for event in ["SessionStart", "UserPromptSubmit", "SessionEnd"] {
        let note = format!("claude-code {event}");
        eventually(&note, || desk.notes(&session).contains(&note).then_some(()));
    }
    let sessions = desk.gateway.alice().get("/sessions").ok().json();
    assert_eq!(sessions[0]["session_id"], session);
    assert_eq!(
        (&sessions[0]["calls"], &sessions[1]),
        (&json!(1), &Value::Null)
    );
    desk.site.verify_chain(Some(&desk.gateway));
}

#[test]
fn what_policy_denies_is_not_done_and_the_model_hears_why() {
    let desk = Desk::new();
    let model = Model::that_runs("touch denied");
    let mut claude = Claude::start(&desk.site, model.addr);
    claude.prompt();
    assert!(!desk.exists("denied"));
    let told = model.was_told();
    assert!(
        told.contains("not permitted") && told.contains("claude:rule-2"),
        "{told}"
    );
    assert_eq!(desk.trace()["verdict"], "deny");
}

#[test]
fn a_person_is_waited_for() {
    let desk = Desk::new();
    let model = Model::that_runs("touch asked");
    let mut claude = Claude::start(&desk.site, model.addr);
    let session = claude.session().to_owned();
    thread::scope(|scope| {
        let turn = scope.spawn(|| claude.prompt());
        let pending = desk.gateway.one_pending();
        assert_eq!(pending["tool"], "claude.Bash");
        assert_eq!(pending["session_id"], session);
        desk.gateway.until_waiting(1);
        assert!(!desk.exists("asked") && !turn.is_finished());
        desk.approve(&pending, &json!({}));
        turn.join().unwrap();
    });
    assert!(desk.exists("asked"));
}

#[test]
fn what_a_person_changes_is_done_instead() {
    let desk = Desk::new();
    let model = Model::that_runs("touch original");
    let mut claude = Claude::start(&desk.site, model.addr);
    thread::scope(|scope| {
        let turn = scope.spawn(|| claude.prompt());
        let pending = desk.gateway.one_pending();
        let arguments = json!({"command": "touch changed", "description": "Do other work"});
        desk.approve(&pending, &json!({"arguments": arguments}));
        turn.join().unwrap();
    });
    assert!(desk.exists("changed") && !desk.exists("original"));
}

#[test]
fn without_a_gateway_nothing_is_done() {
    let Desk { site, gateway } = Desk::new();
    let model = Model::that_runs("touch allowed");
    let mut claude = Claude::start(&site, model.addr);
    let held = model.hold();
    thread::scope(|scope| {
        let turn = scope.spawn(|| claude.prompt());
        held.until_asked();
        gateway.kill();
        held.release();
        turn.join().unwrap();
    });
    assert!(!site.path("work/allowed").exists());
    let told = model.was_told();
    assert!(told.contains("onFailure"), "{told}");
}

#[test]
fn by_commands_the_answers_are_the_same() {
    let desk = Desk::connected(&["--hooks", "command"]);
    assert!(desk.has_hooks("command"));
    let run = |command: &str| {
        let model = Model::that_runs(command);
        let mut claude = Claude::start(&desk.site, model.addr);
        claude.prompt();
        model.was_told()
    };
    run("touch allowed");
    assert!(desk.exists("allowed"));
    let told = run("touch denied");
    assert!(
        !desk.exists("denied") && told.contains("claude:rule-2"),
        "{told}"
    );
    let Desk { site, gateway } = desk;
    gateway.kill();
    let model = Model::that_runs("touch allowed-once-more");
    Claude::start(&site, model.addr).prompt();
    let told = model.was_told();
    assert!(told.contains("the gateway did not decide"), "{told}");
    assert!(!site.path("work/allowed-once-more").exists());
}

#[test]
fn p17_the_table_of_tools_is_that_of_the_real_agent() {
    let site = Site::empty();
    fs::create_dir(site.path("work")).unwrap();
    let model = Model::that_runs("true");
    let mut command = Command::new(peers::claude());
    command
        .args(["-p", "hi", "--output-format", "stream-json", "--verbose"])
        .current_dir(site.path("work"))
        .env_clear()
        .env("PATH", Site::search_path())
        .env("HOME", site.path("."))
        .env("ANTHROPIC_BASE_URL", format!("http://{}", model.addr))
        .env("ANTHROPIC_API_KEY", "x")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .stdin(Stdio::null());
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let begun = said.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut begun = begun.filter(|line: &Value| line["subtype"] == "init");
    let begun = begun.next().unwrap_or_else(|| panic!("{said}"));

    let known = Dialect::ClaudeCode.tools();
    let tool_of = |name: &str| known.iter().find(|tool| tool.name == name);
    let names = begun["tools"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|name| name.as_str().unwrap()).collect();
    for name in &names {
        assert!(tool_of(name).is_some(), "`{name}` is not in the table");
    }
    for name in ["Bash", "Read", "Write", "Edit", "WebFetch", "Monitor"] {
        assert!(
            names.contains(&name),
            "there is no `{name}` any more: {names:?}"
        );
    }
    let mut compared = 0;
    for offered in model.offered() {
        let name = offered["name"].as_str().unwrap();
        let Some(properties) = offered["input_schema"]["properties"].as_object() else {
            continue;
        };
        // A stand-in for those that are loaded later.
        if name == "DeferredToolPlaceholder" {
            continue;
        }
        let tool = tool_of(name).unwrap_or_else(|| panic!("`{name}` is not in the table"));
        for argument in properties.keys() {
            assert!(
                tool.arguments.contains(&argument.as_str()),
                "{name}: {argument}"
            );
        }
        if ["Bash", "Read", "Write", "Edit"].contains(&name) {
            assert_eq!(tool.arguments.len(), properties.len(), "{name}");
            compared += 1;
        }
    }
    assert!(compared >= 4, "{:?}", model.offered());
}
