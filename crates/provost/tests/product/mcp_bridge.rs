//! `provost mcp` without a command: the gateway as an MCP server, as a client starts it.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{AGENT, Site},
};

const POLICY: &str = "policies:
  - name: mcp
    agent: '*'
    rules:
      - {tools: ['notes.add'], action: allow}
      - {tools: ['payments.*'], action: human_approval}
      - {tools: ['filesystem.*'], action: deny}
";

struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    answers: Lines<BufReader<ChildStdout>>,
    remarks: Lines<BufReader<ChildStderr>>,
    id: u64,
}

impl Client {
    fn start(site: &Site, arguments: &[&str]) -> Self {
        let all: Vec<_> = ["mcp"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        let mut child = site.spawn_provost(&all);
        Self {
            stdin: child.stdin.take(),
            answers: BufReader::new(child.stdout.take().unwrap()).lines(),
            remarks: BufReader::new(child.stderr.take().unwrap()).lines(),
            child,
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

    fn hello(&mut self) {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
        let said = self.ask("initialize", &hello);
        assert_eq!(said["serverInfo"]["name"], "provost");
        self.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        said(&self.ask("tools/call", &json!({"name": tool, "arguments": arguments})))
    }

    /// The first remark that says this.
    fn remark(&mut self, what: &str) -> String {
        let mut remarks = self.remarks.by_ref().map(Result::unwrap);
        let found = remarks.find(|remark| remark.contains(what));
        found.unwrap_or_else(|| panic!("`{what}` was not said"))
    }

    fn end(mut self) {
        drop(self.stdin.take());
        for line in self.answers.by_ref() {
            // Notifications come when they come.
            let said: Value = serde_json::from_str(&line.unwrap()).unwrap();
            assert!(said.get("id").is_none(), "more is said: {said}");
        }
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn said(result: &Value) -> (String, bool) {
    let text = result["content"][0]["text"].as_str();
    let text = text.unwrap_or_else(|| panic!("{result}"));
    (text.to_owned(), result["isError"] == true)
}

#[test]
fn the_running_gateway_is_offered_over_stdio() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    std::fs::write(site.path("agent.key"), format!("{AGENT}\n")).unwrap();
    let mut client = Client::start(&site, &["--url", &gateway.url(), "--key-file", "agent.key"]);
    client.remark(&gateway.url());
    client.hello();
    let tools = client.ask("tools/list", &json!({}))["tools"].clone();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"notes.add") && names.contains(&"mesh.catalog"),
        "{names:?}"
    );
    assert!(
        !names.iter().any(|name| name.starts_with("filesystem.")),
        "{names:?}"
    );
    assert!(!client.call("notes.add", &json!({"text": "hi"})).1);
    assert!(client.call("filesystem.read_file", &json!({"path": "x"})).1);

    // Others are answered while one waits, and its signs of life reach the client.
    let params = json!({"name": "payments.send", "arguments": {"amount": 7},
        "_meta": {"progressToken": 5}});
    let waiting = client.send("tools/call", &params);
    let sign = client.answer();
    assert_eq!(sign["params"]["progressToken"], 5, "{sign}");
    let pending = gateway.one_pending();
    assert!(!client.call("notes.add", &json!({"text": "meanwhile"})).1);
    let path = format!("/approvals/{}/approve", pending["id"].as_str().unwrap());
    gateway.alice().post(&path, &json!({})).ok();
    let mut answer = client.answer();
    while answer["id"] != waiting {
        assert_eq!(answer["method"], "notifications/progress", "{answer}");
        answer = client.answer();
    }
    assert!(!said(&answer["result"]).1);

    // A call that is cancelled while it waits is not answered.
    let cancelled = client.send(
        "tools/call",
        &json!({"name": "payments.send", "arguments": {}}),
    );
    gateway.one_pending();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": cancelled}});
    client.write(&cancel.to_string());
    gateway.until_waiting(0);
    assert!(!client.call("notes.add", &json!({"text": "after"})).1);
    client.end();
    let trace = &gateway.traces()[0];
    assert_eq!(
        (&trace["door"], &trace["agent_id"]),
        (&json!("mcp"), &json!("keyed"))
    );
}

#[test]
fn broken_lines_and_the_stateless_protocol_are_answered() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &["--url", &gateway.url()]);
    for line in [
        "{",
        "[]",
        "7",
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
    ] {
        client.write(line);
        assert!(client.answer()["error"]["code"].is_i64(), "{line}");
    }
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let found = client.ask("server/discover", &json!({"_meta": meta}));
    assert_eq!(found["resultType"], "complete");
    let call = json!({"name": "notes.add", "arguments": {"text": "hi"}, "_meta": meta});
    assert!(!said(&client.ask("tools/call", &call)).1);
    client.end();
}

#[test]
fn a_gateway_that_was_started_anew_is_taken_up_again() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let (url, addr) = (gateway.url(), gateway.addr.to_string());
    let mut client = Client::start(&site, &["--url", &url]);
    client.hello();
    gateway.kill();
    let id = client.send("tools/list", &json!({}));
    let answer = client.answer();
    assert_eq!(answer["id"], id);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("reach"),
        "{answer}"
    );
    let _again = site.start_with(&["serve", "--listen", &addr]);
    assert!(!client.call("notes.add", &json!({"text": "hi"})).1);
    client.end();
}

/// The call waits with an open stream of progress, which ends with the gateway.
#[test]
fn p18_a_call_whose_stream_broke_off_is_answered() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let mut client = Client::start(&site, &["--url", &gateway.url()]);
    client.hello();
    let id = client.send(
        "tools/call",
        &json!({"name": "payments.send", "arguments": {"amount": 1}, "_meta": {"progressToken": "p"}}),
    );
    let progress = client.answer();
    assert_eq!(progress["method"], "notifications/progress", "{progress}");
    gateway.kill();
    let answer = client.answer();
    assert_eq!(answer["id"], id, "{answer}");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(
        why.contains("whether the call took effect is not known"),
        "{why}"
    );
    client.end();
}

#[test]
fn without_a_gateway_one_is_started_and_ends_with_the_client() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let named = ["--config", "provost.yaml", "--listen", "127.0.0.1:1"];
    let mut client = Client::start(&site, &named);
    let remark = client.remark("one of our own serves at ");
    let url = remark.split("serves at ").nth(1).unwrap();
    let url = url.split(' ').next().unwrap().to_owned();
    client.hello();
    assert!(!client.call("notes.add", &json!({"text": "hi"})).1);
    let status = site.provost(&["approvals", "list", "--url", &url]).status;
    assert!(status.success(), "it is a gateway like any other");
    client.end();
    let status = site.provost(&["approvals", "list", "--url", &url]).status;
    assert_eq!(status.code(), Some(3), "it is gone");
    site.verify_chain(None);
}

/// A client that opens several windows starts several at once.
#[test]
fn p18_clients_that_start_at_once_share_one_gateway() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let named = ["--config", "provost.yaml"];
    let mut clients: Vec<Client> = (0..3).map(|_| Client::start(&site, &named)).collect();
    for client in &mut clients {
        client.hello();
        assert!(!client.call("notes.add", &json!({"text": "hi"})).1);
    }
}

#[test]
fn a_gateway_that_was_named_and_is_not_there_is_an_error() {
    let site = Site::empty();
    let output = site.provost(&["mcp", "--url", "http://127.0.0.1:1"]);
    assert_eq!(output.status.code(), Some(3));
}

/// A client lists tools once, right after it is connected, and the servers have only just been started.
#[test]
fn p17_the_first_list_has_the_tools_of_servers_that_are_still_starting() {
    let echo = Echo::start();
    let python = std::env::var("PROVOST_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/upstream.py");
    let site = Site::empty();
    let tools = json!([{"name": "read", "inputSchema": {"type": "object"}}]);
    std::fs::write(site.path("tools.json"), tools.to_string()).unwrap();
    let rest = format!(
        "policies:
  - {{name: all, agent: '*', rules: [{{tools: ['*'], action: allow}}]}}
mcp_servers:
  - {{name: files, command: {python}, args: ['{server}', '{}']}}
  - {{name: broken, command: /no/such/program}}
",
        site.path("tools.json").display()
    );
    site.configure(&crate::harness::configuration(&echo, &rest));
    let named = ["--config", "provost.yaml", "--listen", "127.0.0.1:1"];
    let mut client = Client::start(&site, &named);
    client.hello();
    let id = client.send("tools/list", &json!({}));
    let mut listed = client.answer();
    while listed["id"] != id {
        // The servers came up meanwhile, which the client is told, too.
        listed = client.answer();
    }
    let listed = &listed["result"];
    let tools = listed["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "files.read"),
        "{listed}"
    );
    client.end();
}
