//! `provost mcp --`: the gate in front of an MCP server, as a client starts it.

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{AGENT, Site, eventually},
};

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:1";
const POLICY: &str = "policies:
  - name: mcp
    agent: '*'
    rules:
      - {tools: ['tools.echo'], when: 'params.text STARTS_WITH \"ask\"', action: human_approval}
      - {tools: ['tools.echo'], when: 'params.text STARTS_WITH \"no\"', action: deny}
      - {tools: ['tools.echo'], action: allow}
      - {tools: ['tools.resources.read'], when: 'params.uri == \"file:///yes\"', action: allow}
      - {tools: ['tools.prompts.get'], when: 'params.name == \"yes\"', action: allow}
      - {tools: ['tools.completion.complete'], when: 'params.argument.value == \"yes\"', action: allow}
";

/// An MCP client that started the server through the gate.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Client {
    fn start(site: &Site, url: &str) -> Self {
        Self::start_with(site, url, &[])
    }

    fn start_with(site: &Site, url: &str, options: &[&str]) -> Self {
        let python = std::env::var("PROVOST_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/mcp_server.py");
        let done = site.path("done");
        let mut words = vec!["mcp", "--name", "tools", "--url", url];
        words.extend(options);
        words.extend(["--", &*python, server, done.to_str().unwrap()]);
        let mut child = site.spawn_provost(&words);
        let stdin = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            child,
            stdin,
            answers,
            id: 0,
        }
    }

    fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.write(&request.to_string());
        self.id
    }

    fn answer(&mut self) -> Value {
        serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    fn echo(&mut self, text: &str) -> Value {
        self.ask("tools/call", &call(text))
    }

    fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

fn call(text: &str) -> Value {
    json!({"name": "echo", "arguments": {"text": text}})
}

fn said(result: &Value) -> (&str, bool) {
    let text = result["content"][0]["text"].as_str();
    (
        text.unwrap_or_else(|| panic!("{result}")),
        result["isError"] == true,
    )
}

fn executed(site: &Site) -> String {
    fs::read_to_string(site.path("done")).unwrap()
}

#[test]
fn calls_are_decided_and_all_else_passes() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    let version = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    let hello = client.ask("initialize", &version);
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    let tools = client.ask("tools/list", &json!({}));
    assert_eq!(tools["tools"][0]["name"], "echo");
    assert_eq!(
        said(&client.echo("hello")),
        ("hello", false),
        "without a key"
    );
    let denied = client.echo("no way");
    let (reason, failed) = said(&denied);
    assert!(failed);
    for words in [
        "Not permitted: policy denies `echo`",
        "mcp:rule-2",
        "It was not run. Do not make this call again",
        "(trace ",
    ] {
        assert!(reason.contains(words), "{reason}");
    }

    // Others are answered while one waits, and what a person changes is what is done.
    let waiting = client.send("tools/call", &call("ask first"));
    let pending = gateway.one_pending();
    assert_eq!(said(&client.echo("meanwhile")), ("meanwhile", false));
    let path = format!("/approvals/{}/approve", pending["id"].as_str().unwrap());
    let changed = json!({"arguments": {"text": "ask changed"}});
    gateway.alice().post(&path, &changed).ok();
    let answer = client.answer();
    assert_eq!(answer["id"], waiting);
    assert_eq!(said(&answer["result"]), ("ask changed", false));

    client.send("tools/call", &call("ask and be denied"));
    let pending = gateway.one_pending();
    let id = pending["id"].as_str().unwrap();
    gateway
        .alice()
        .post(&format!("/approvals/{id}/deny"), &json!({}))
        .ok();
    let answer = client.answer();
    let (reason, failed) = said(&answer["result"]);
    assert!(
        failed && reason.contains(&format!("(approval {id}, trace ")),
        "{reason}"
    );

    // A call that is cancelled while it waits never reaches the server.
    let cancelled = client.send("tools/call", &call("ask in vain"));
    let pending = gateway.one_pending();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": cancelled}});
    client.write(&cancel.to_string());
    assert_eq!(said(&client.echo("after")), ("after", false));
    let path = format!("/approvals/{}/approve", pending["id"].as_str().unwrap());
    gateway.alice().post(&path, &json!({})).ok();
    assert_eq!(said(&client.echo("last")), ("last", false));
    client.end();
    assert_eq!(
        executed(&site),
        "hello\nmeanwhile\nask changed\nafter\nlast\n"
    );
    let session = gateway.traces()[0]["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(session.starts_with("mcp-"), "{session}");
}

#[test]
fn without_a_gateway_or_in_broken_lines_nothing_is_called() {
    let site = Site::empty();
    let mut client = Client::start(&site, "http://127.0.0.1:1");
    let answer = client.echo("hello");
    let (reason, failed) = said(&answer);
    assert!(
        failed && reason.contains("could not be decided"),
        "{reason}"
    );
    for line in [
        "{",
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}]"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}"#,
    ] {
        client.write(line);
        assert!(client.answer()["error"]["code"].is_i64(), "{line}");
    }
    client.end();
    assert_eq!(executed(&site), "");
}

#[test]
fn no_message_hides_in_another() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    let hidden =
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call("no way")});
    for message in [
        json!({"jsonrpc": "2.0", "method": "notifications/x", "params": {"a": "HERE"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": 9, "a": "HERE"}}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {"a": "HERE"}}),
        json!({"jsonrpc": "HERE", "method": "notifications/x"}),
    ] {
        let line = message.to_string();
        client.write(&line.replace("\"HERE\"", &format!("\r{hidden}\r")));
    }
    assert_eq!(said(&client.echo("after")), ("after", false));
    client.end();
    assert_eq!(executed(&site), "after\n");
}

#[test]
fn what_a_tool_says_is_one_line() {
    let site = Site::empty();
    let said = "{\"a\":\r1,\"b\":\"x\u{2028}y\u{85}\"}\n";
    let mut child = site.spawn_provost(&["mcp", "--url", NOWHERE, "--", "printf", "%s", said]);
    let out = BufReader::new(child.stdout.take().unwrap()).lines().next();
    assert_eq!(out.unwrap().unwrap(), r#"{"a": 1,"b":"x\u2028y\u0085"}"#);
    child.wait().unwrap();
}

#[test]
fn what_is_no_call_of_a_tool_is_decided_too() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    let acts = |word: &str| {
        let reference = json!({"type": "ref/prompt", "name": "yes"});
        [
            (
                "resources/read",
                json!({"uri": format!("file:///{word}"), "URI": "file:///yes"}),
            ),
            ("prompts/get", json!({"name": word, "arguments": {}})),
            (
                "completion/complete",
                json!({"ref": reference, "argument": {"name": "a", "value": word}}),
            ),
        ]
    };
    for (method, params) in acts("yes") {
        assert_eq!(client.ask(method, &params)["did"], method);
    }
    for (method, params) in acts("no") {
        client.send(method, &params);
        let answer = client.answer();
        if method == "completion/complete" {
            assert_eq!(answer["result"]["completion"]["values"], json!([]));
        } else {
            assert_eq!(answer["error"]["code"], -32000, "{answer}");
        }
    }
    client.send("tasks/run", &json!({"name": "echo"}));
    let answer = client.answer();
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    client.end();
    assert_eq!(
        executed(&site),
        "resources/read\nprompts/get\ncompletion/complete\n"
    );
}

#[test]
fn a_name_that_others_have_is_refused() {
    let site = Site::empty();
    for name in ["mesh", "claude", "a.b", "a\u{7}b"] {
        let out = site.provost_reading(&["mcp", "--name", name, "--", "touch", "started"], "");
        assert_eq!(out.status.code(), Some(2), "{name}");
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(said.contains("--name"), "{said}");
    }
    assert!(!site.path("started").exists());
}

#[test]
fn the_server_ends_with_all_that_it_has_started() {
    let site = Site::empty();
    for signal in [
        Some(Signal::TERM),
        Some(Signal::INT),
        Some(Signal::HUP),
        None,
    ] {
        let began = Instant::now();
        let script = "sleep 77 & echo started; sleep 77; :";
        let mut child = site.spawn_provost(&["mcp", "--url", NOWHERE, "--", "sh", "-c", script]);
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(out.next().unwrap().unwrap(), "started");
        match signal {
            Some(signal) => {
                kill_process(Pid::from_child(&child), signal).unwrap();
            }
            None => drop(child.stdin.take()),
        }
        // Whoever was started holds it open.
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_end(&mut Vec::new()).unwrap();
        assert!(began.elapsed() < Duration::from_mins(1), "{signal:?}");
        assert!(child.wait().unwrap().success(), "{signal:?}");
    }
}

#[test]
fn the_key_is_found_as_without_a_command() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    fs::write(site.path("agent.key"), format!("{AGENT}\n")).unwrap();
    for (options, left) in [(&["--key-file", "agent.key"][..], false), (&[], true)] {
        if left {
            let folder = site.data().join("agents");
            fs::create_dir_all(&folder).unwrap();
            fs::copy(site.path("agent.key"), folder.join("mcp.key")).unwrap();
        }
        let mut client = Client::start_with(&site, &gateway.url(), options);
        assert_eq!(said(&client.echo("hello")), ("hello", false));
        client.end();
        assert_eq!(gateway.traces()[0]["agent_id"], "keyed", "{options:?}");
    }
}

/// The server is not the gateway's, and its calls are recorded as if it were.
#[test]
fn p18_a_wrapped_server_is_traced_as_mcp_with_outcomes() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    assert_eq!(said(&client.echo("hello")), ("hello", false));
    assert_eq!(said(&client.echo("fail")), ("fail", true));
    client.send("tools/call", &call("refuse"));
    assert_eq!(client.answer()["error"]["message"], "not today");
    assert!(said(&client.echo("no way")).1);
    client.send("tools/call", &call("ask first"));
    let pending = gateway.one_pending();
    gateway
        .alice()
        .approve(pending["id"].as_str().unwrap())
        .ok();
    assert_eq!(said(&client.answer()["result"]), ("ask first", false));
    client.send("tools/call", &call("die"));
    assert!(client.answers.next().is_none());
    client.child.wait().unwrap();

    for (text, verdict, outcome, error) in [
        ("hello", "allow", "done", None),
        ("fail", "allow", "failed", Some("the tool failed: fail")),
        ("refuse", "allow", "failed", Some("not today")),
        ("no way", "deny", "none", None),
        ("ask first", "allow", "done", None),
        ("die", "allow", "failed", Some("ended without an answer")),
    ] {
        let trace = eventually("the outcome", || {
            let traces = gateway.traces();
            let trace = traces
                .into_iter()
                .find(|trace| trace["params"]["text"] == text)?;
            (trace["outcome"] != "pending").then_some(trace)
        });
        assert_eq!(trace["door"], "mcp", "{trace}");
        assert_eq!(
            (&trace["verdict"], &trace["outcome"]),
            (&json!(verdict), &json!(outcome)),
            "{trace}"
        );
        let told = trace["error"].as_str().unwrap_or_default();
        assert!(told.contains(error.unwrap_or_default()), "{trace}");
    }
    site.verify_chain(Some(&gateway));
}

/// An outcome is told by whom the permission was given to, about that call, once.
#[test]
fn p18_an_outcome_is_not_told_by_others() {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        "policies:\n  - {name: all, agent: '*', rules: [{tools: ['*'], action: allow}]}\n",
    );
    let gateway = site.start();
    let agent = gateway.client().key(AGENT);
    let asked = agent.post(
        "/v1/mcp-calls",
        &json!({"tool": "tools.echo", "arguments": {}}),
    );
    let token = asked.header("x-outcome-token").unwrap().to_owned();
    let trace = asked.ok().json()["trace_id"].as_str().unwrap().to_owned();
    let tell = |client: &crate::http::Client, trace: &str, token: &str| {
        let path = format!("/v1/mcp-calls/{trace}/outcome");
        client.post(
            &path,
            &json!({"token": token, "error": "it broke", "size": 3, "latency_ms": 7}),
        )
    };
    tell(&agent, &trace, "").refused(403, "forbidden");
    tell(&agent, &trace, &"0".repeat(64)).refused(403, "forbidden");
    tell(&gateway.agent(), &trace, &token).refused(404, "not_found");
    // A call that the gateway executes itself has no token, and this one is not for it.
    let ran = agent.tool("notes.add", json!({})).ok().json();
    let other = ran["trace_id"].as_str().unwrap();
    tell(&agent, other, &token).refused(403, "forbidden");
    assert_eq!(gateway.trace(&trace)["outcome"], "pending");
    tell(&agent, &trace, &token).ok();
    let told = gateway.trace(&trace);
    assert_eq!(
        (&told["outcome"], &told["error"]),
        (&json!("failed"), &json!("it broke"))
    );
    assert_eq!(told["latency_ms"], 7, "{told}");
    eventually("the backend's own outcome", || {
        (gateway.trace(other)["outcome"] == "done").then_some(())
    });
}

/// Only the gate in front of a server sees what its tools take.
#[test]
fn p01_arguments_are_held_against_the_schema_of_a_wrapped_server() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    client.ask("tools/list", &json!({}));
    for arguments in [
        json!({"text": ["hello"]}),
        json!({"text": true}),
        json!({"text": {"a": 1}}),
        json!({}),
    ] {
        client.send(
            "tools/call",
            &json!({"name": "echo", "arguments": arguments}),
        );
        let answer = client.answer();
        assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
        let trace = &gateway.traces()[0];
        assert_eq!(
            (&trace["verdict"], &trace["params"], &trace["door"]),
            (&json!("invalid"), &arguments, &json!("mcp")),
            "{trace}"
        );
    }
    assert_eq!(said(&client.echo("hello")), ("hello", false));
    client.end();
    assert_eq!(executed(&site), "hello\n");
}

/// A script writes all its lines and closes its end.
#[test]
fn p18_calls_made_before_the_client_closed_its_end_are_answered() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &gateway.url());
    for text in ["a", "b", "c"] {
        client.send("tools/call", &call(text));
    }
    drop(client.stdin.take());
    let mut answers: Vec<Value> = client
        .answers
        .by_ref()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    let said: Vec<_> = answers
        .iter()
        .map(|answer| said(&answer["result"]))
        .collect();
    assert_eq!(said, [("a", false), ("b", false), ("c", false)]);
    client.child.wait().unwrap();
}
