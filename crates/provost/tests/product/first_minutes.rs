//! What newcomers run into in their first minutes, and what the commands say then.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, POLICY, Site, eventually},
};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn stop(mut gateway: Gateway) {
    gateway.terminate();
    assert!(gateway.ended().success());
}

fn readme() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join("README.md")).unwrap()
}

#[test]
fn p17_the_policy_of_the_readme_passes_check_without_its_secrets() {
    let readme = readme();
    let (_, policy) = readme.split_once("```yaml\n").unwrap();
    let (policy, _) = policy.split_once("```").unwrap();
    assert!(policy.contains("env:"), "{policy}");
    let site = Site::empty();
    site.configure(policy);
    let checked = site.provost(&["check"]);
    let said = text(&checked.stdout);
    assert!(checked.status.success(), "{said}");
    assert!(
        said.contains("warning") && said.contains("which is not set"),
        "{said}"
    );

    let strict = site.provost(&["check", "--strict"]);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict.stdout));
    let Err((status, log)) = site.try_start() else {
        panic!("a gateway started without its secrets");
    };
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(log.contains("which is not set"), "{log}");
}

#[test]
fn p17_secrets_that_are_not_here_hide_no_other_problem() {
    let site = Site::empty();
    site.configure(
        "hosts: [gate.example.org]\npublic_url: https://gate.example.org\ndatabase: env:P17_DATABASE\n\
         auth: {keys: [{name: a, role: agent, key: env:P17_A}, {name: b, role: human, key: file:p17.key}]}\n\
         channels:\n  telegram: {token: env:P17_TOKEN, allow: [1]}\n  \
         email: {smtp: env:P17_SMTP, imap: env:P17_IMAP, from: gate@example.org}\n  \
         webhooks: [{url: env:P17_HOOK, secret: env:P17_SECRET}]\n\
         people: [{name: carol, channels: {email: carol@example.org}}]\n\
         mcp_servers: [{name: far, transport: http, url: env:P17_URL, headers: {Authorization: env:P17_HEADER}}]\n\
         telemetry: {otlp: env:P17_OTLP}\n",
    );
    let checked = site.provost(&["check", "--json"]);
    assert!(checked.status.success(), "{}", text(&checked.stdout));
    let found: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let problems = found["problems"].as_array().unwrap();
    assert!(
        problems
            .iter()
            .all(|problem| problem["severity"] == "warning"),
        "{found}"
    );
    assert!(problems.len() >= 11, "{found}");

    site.configure("auth: {keys: [{name: a, role: agent, key: env:P17_A}, {name: b, role: agent, key: env:P17_A}]}\n");
    let same = site.provost(&["check"]);
    assert_eq!(
        same.status.code(),
        Some(1),
        "one secret for two: {}",
        text(&same.stdout)
    );
}

#[test]
fn p18_a_key_that_begins_with_agent_is_refused() {
    for config in [
        "auth: {keys: [{name: bot, role: human, key: 'agent:bot'}]}\n",
        "auth: {keys: [{name: bot, role: agent, key: env:P18_KEY}]}\n",
        "auth: {admin_token: 'agent:root'}\n",
    ] {
        let site = Site::empty();
        site.configure(config);
        let checked = site.shell(&format!(
            "P18_KEY=agent:bot {} check",
            crate::harness::PROVOST
        ));
        let said = text(&checked.stdout);
        assert_eq!(checked.status.code(), Some(1), "{said}");
        assert!(
            said.contains("a key cannot begin with `agent:`") && said.contains("provost keys"),
            "{said}"
        );
    }
}

#[test]
fn p18_the_ancestors_otel_endpoints_load() {
    for value in ["stdout", "file"] {
        let site = Site::empty();
        site.configure(&format!("otel_endpoint: {value}\n"));
        let checked = site.provost(&["check", "--strict"]);
        let said = text(&checked.stdout);
        assert!(checked.status.success(), "{said}");
        assert!(
            said.contains("has no effect") && said.contains("OTLP"),
            "{said}"
        );
    }
}

#[test]
fn p17_durations_need_a_unit() {
    for config in [
        "retention: {traces: 90}\n",
        "retention: {traces: '90'}\n",
        "retention: {traces: 1.5}\n",
        "people: [{name: a, channels: {}}]\nroutes: [{name: r, ask: a, remind: 10, timeout: 1h}]\n",
    ] {
        let site = Site::empty();
        site.configure(config);
        let said = text(&site.provost(&["check"]).stdout);
        assert!(
            said.contains("needs a unit") && said.contains('d'),
            "{config}{said}"
        );
    }
}

#[test]
fn p17_a_condition_that_never_matches_is_an_error() {
    for rule in [
        "when: 'agent.name == \"claude\"'",
        "when: 'params.x == 1 AND session.id IS SET'",
        "when: 'NOT (tool.x == \"a\")'",
        "when: 'tool[0] == \"a\"'",
        "when: '(agent).name == \"claude\"'",
        "when: 'now.hour > 8'",
        "condition: {field: agent.name, operator: '==', value: claude}",
        "condition: {field: session.id, operator: '==', value: s}",
    ] {
        let site = Site::empty();
        site.configure(&format!(
            "policies: [{{name: p, agent: '*', rules: [{{tools: ['*'], action: allow, {rule}}}]}}]\n"
        ));
        let checked = site.provost(&["check"]);
        let said = text(&checked.stdout);
        assert_eq!(checked.status.code(), Some(1), "{rule}\n{said}");
        assert!(said.contains("never"), "{rule}\n{said}");
    }
}

#[test]
fn p17_a_file_written_after_the_start_is_named() {
    let site = Site::empty();
    let gateway = site.start_with(&["serve", "--listen", "127.0.0.1:0", "--data", "data"]);
    site.configure(
        "policies: [{name: open, agent: '*', rules: [{tools: ['*'], action: allow}]}]\n",
    );
    let error = eventually("the file's being named", || {
        gateway.health()["policy"]["error"]
            .as_str()
            .map(str::to_owned)
    });
    assert!(
        error.contains("provost.yaml") && error.contains("restart"),
        "{error}"
    );
    assert!(gateway.log().contains("not in force"), "{}", gateway.log());
    let asked = gateway
        .agent()
        .decide_async("shell.exec", json!({"cmd": "ls"}));
    asked.is(202);
    let doctor = site.provost(&["doctor", "--url", &gateway.url(), "--data", "data"]);
    assert!(
        text(&doctor.stdout).contains("was written after the start"),
        "{}",
        text(&doctor.stdout)
    );
    fs::remove_file(site.path("provost.yaml")).unwrap();
    eventually("the all-clear", || {
        gateway.health()["policy"]["error"].is_null().then_some(())
    });
}

#[test]
fn p17_doctor_without_a_gateway_exits_3_and_tells_what_it_can() {
    let site = Site::empty();
    site.configure("listen: 127.0.0.1:1\ndata: data\n");
    for (options, told) in [
        (&["doctor"][..], "config"),
        (&["doctor", "--json"], "\"findings\""),
    ] {
        let output = site.provost(options);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains(told) && said.contains("gateway"), "{said}");
    }
}

#[test]
fn p17_a_stop_says_how_it_is_lifted() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let stopped = site.provost(&["stop", "--agent", "claude", "--url", &gateway.url()]);
    let said = text(&stopped.stderr);
    assert!(said.contains("provost resume --agent claude"), "{said}");
    let lifted = site.provost(&["resume", "--agent", "claude", "--url", &gateway.url()]);
    assert!(lifted.status.success());
    gateway.agent().tool("notes.add", json!({})).ok();
}

#[test]
fn p17_the_demo_is_told_as_json() {
    let site = Site::empty();
    let output = site.provost(&["demo", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["verification"]["intact"], true, "{told}");
    let verdicts: Vec<_> = told["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["allow", "deny", "allow", "deny", "allow"]);
}

#[test]
fn p17_tables_fit_80_columns() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let long = format!("an-agent-with-a-name-{}", "x".repeat(60));
    let agent = gateway.client().agent(&long);
    agent
        .tool("notes.add", json!({"text": "y".repeat(500)}))
        .ok();
    agent
        .decide_async(
            "a.tool.with.a.long.name.indeed",
            json!({"text": "z".repeat(500)}),
        )
        .is(202);
    let url = gateway.url();
    for command in [
        ["traces", "list"],
        ["approvals", "list"],
        ["traces", "verify"],
        ["grants", "list"],
        ["keys", "list"],
    ] {
        let output = site.provost(&[command[0], command[1], "--url", &url]);
        for line in text(&output.stdout).lines() {
            assert!(line.chars().count() <= 80, "{command:?}: {line}");
        }
    }
    let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    let listed = text(&site.provost(&["approvals", "list", "--url", &url]).stdout);
    assert!(listed.contains(&id), "ids stay whole: {listed}");
    let trace = gateway.traces()[0]["trace_id"].as_str().unwrap().to_owned();
    let listed = text(&site.provost(&["traces", "list", "--url", &url]).stdout);
    assert!(listed.contains(&trace), "ids stay whole: {listed}");
}

#[test]
fn p18_traces_are_exported_without_a_gateway() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    gateway
        .agent()
        .tool("notes.add", json!({"text": "kept"}))
        .ok();
    let online = site.provost(&["traces", "export", "--url", &gateway.url()]);
    stop(gateway);
    let offline = site.provost(&["traces", "export", "--data", "data"]);
    assert!(offline.status.success(), "{}", text(&offline.stderr));
    let (online, offline) = (text(&online.stdout), text(&offline.stdout));
    assert!(
        offline.contains("kept") && offline.lines().count() >= online.lines().count(),
        "{offline}"
    );
    let to_file = site.provost(&[
        "traces",
        "export",
        "--data",
        "data",
        "--out",
        "export.jsonl",
    ]);
    assert!(to_file.status.success(), "{}", text(&to_file.stderr));
    let proved = site.provost(&["traces", "verify", "export.jsonl"]);
    assert!(proved.status.success(), "{}", text(&proved.stdout));
    // Nothing was changed by reading, and there is nothing to read elsewhere.
    stop(site.start());
    let elsewhere = Site::empty();
    assert_eq!(
        elsewhere.provost(&["traces", "export"]).status.code(),
        Some(3)
    );
}

#[test]
fn p16_every_page_says_how_provost_comes_onto_the_path() {
    let install = "cargo install --path crates/provost --locked";
    assert!(readme().contains(install));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for page in fs::read_dir(docs).unwrap() {
        let path = page.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let named = page.contains(install) || !page.contains("\nprovost ");
        assert!(
            named,
            "{} has commands and does not say where `provost` is from",
            path.display()
        );
    }
}
