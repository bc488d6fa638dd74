//! The official MCP servers behind `provost mcp --`, called by the official client of another language.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{Gateway, PROVOST, Site},
    peers,
};

const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/mcp_client.py");
const FILES: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";
/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

const POLICY: &str = "policies:
  - name: mcp
    agent: '*'
    rules:
      - {tools: ['files.read_*', 'files.list_*', 'everything.*'], action: allow}
      - {tools: ['files.write_file'], action: human_approval}
";

/// The client, told step by step what to do.
struct Client {
    child: Child,
    stdin: ChildStdin,
    answers: Receiver<String>,
}

impl Client {
    fn start(mode: &str, server: &[String]) -> Self {
        let mut child = Command::new(peers::python())
            .args([CLIENT, "--mode", mode, "--"])
            .args(server)
            .env("PYTHONPATH", peers::python_path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (told, answers) = mpsc::channel();
        thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| told.send(line))
        });
        Self {
            stdin: child.stdin.take().unwrap(),
            child,
            answers,
        }
    }

    #[track_caller]
    fn step(&mut self, step: &Value) -> Value {
        writeln!(self.stdin, "{step}").unwrap();
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer = answer.unwrap_or_else(|error| panic!("no answer to {step}: {error}"));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["failed"].is_null(), "{step}: {answer}");
        answer
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.step(&json!({"do": "call", "tool": tool, "arguments": arguments}))
    }

    /// Closes the client as a program does that ends, and its server with it.
    fn end(self) {
        let Self {
            mut child, stdin, ..
        } = self;
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

/// The command of a server with the gate in front of it.
fn gated(gateway: &Gateway, name: &str, module: &str, arguments: &[&str]) -> Vec<String> {
    let url = gateway.url();
    let module = peers::node_module(module);
    let gate = [
        PROVOST, "mcp", "--name", name, "--url", &url, "--", "node", &module,
    ];
    let command = gate.iter().chain(arguments);
    command.map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_file_server_is_listed_called_denied_and_asked_about() {
    for mode in ["auto", "legacy"] {
        let site = Site::new(&Echo::start(), POLICY);
        let gateway = site.start();
        let folder = site.path("files");
        fs::create_dir(&folder).unwrap();
        // The server compares real paths.
        let folder = fs::canonicalize(folder).unwrap();
        fs::write(folder.join("a"), "hello").unwrap();
        let root = folder.to_str().unwrap();
        let mut client = Client::start(mode, &gated(&gateway, "files", FILES, &[root]));
        let path = |name: &str| json!({"path": folder.join(name)});

        let hello = client.step(&json!({"do": "hello"}));
        assert_eq!(hello["name"], "secure-filesystem-server");
        let listed = client.step(&json!({"do": "list"}));
        let listed = listed["tools"].as_array().unwrap();
        assert!(listed.contains(&json!("read_text_file")), "{listed:?}");

        let read = client.call("read_text_file", &path("a"));
        assert_eq!(
            (&read["text"], &read["is_error"]),
            (&json!("hello"), &json!(false))
        );
        let denied = client.call("create_directory", &path("new"));
        assert_eq!(denied["is_error"], true);
        let text = denied["text"].as_str().unwrap();
        assert!(text.contains("not permitted"), "{text}");
        assert!(!folder.join("new").exists());

        let write = json!({"path": folder.join("b"), "content": "asked"});
        client.step(&json!({"do": "start", "as": "b", "tool": "write_file", "arguments": write}));
        let pending = gateway.one_pending();
        assert_eq!(pending["tool"], "files.write_file");
        let read = client.call("read_text_file", &path("a"));
        assert_eq!(read["text"], "hello", "others go on meanwhile");
        assert!(!folder.join("b").exists());
        gateway
            .alice()
            .approve(pending["id"].as_str().unwrap())
            .ok();
        let written = client.step(&json!({"do": "wait", "as": "b"}));
        assert_eq!(written["is_error"], false, "{written}");
        assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "asked");

        let write = json!({"path": folder.join("c"), "content": "in vain"});
        client.step(&json!({"do": "start", "as": "c", "tool": "write_file", "arguments": write}));
        let pending = gateway.one_pending();
        gateway.until_waiting(1);
        let cancelled = client.step(&json!({"do": "cancel", "as": "c"}));
        assert_eq!(cancelled["cancelled"], true);
        // The caller is gone, so that an approval releases nothing.
        gateway.until_waiting(0);
        gateway
            .alice()
            .approve(pending["id"].as_str().unwrap())
            .ok();
        client.call("read_text_file", &path("a"));
        client.end();
        assert!(!folder.join("c").exists());
        site.verify_chain(Some(&gateway));
    }
}

#[test]
fn all_that_the_everything_server_offers_passes() {
    let site = Site::new(&Echo::start(), POLICY);
    let gateway = site.start();
    let module = peers::node_module(EVERYTHING);
    let direct = ["node".to_owned(), module, "stdio".to_owned()];
    let mut direct = Client::start("auto", &direct);
    let mut gate = Client::start(
        "auto",
        &gated(&gateway, "everything", EVERYTHING, &["stdio"]),
    );
    // As the server would be answered for without a gate.
    for step in [
        json!({"do": "hello"}),
        json!({"do": "list"}),
        json!({"do": "schema", "tool": "get-sum"}),
        json!({"do": "prompts"}),
        json!({"do": "prompt", "name": "simple-prompt"}),
        json!({"do": "resources"}),
        json!({"do": "read", "uri": "demo://resource/static/document/features.md"}),
        json!({"do": "call", "tool": "echo", "arguments": {"message": "hello"}}),
        json!({"do": "call", "tool": "get-sum", "arguments": {"a": 2, "b": 3}}),
        json!({"do": "call", "tool": "get-structured-content", "arguments": {"location": "Chicago"}}),
        json!({"do": "call", "tool": "trigger-long-running-operation",
            "arguments": {"duration": 0.2, "steps": 2}}),
    ] {
        assert_eq!(gate.step(&step), direct.step(&step), "{step}");
    }
    // A call that runs already is taken back at the server.
    let long = json!({"duration": 600, "steps": 600});
    gate.step(
        &json!({"do": "start", "as": "long", "tool": "trigger-long-running-operation",
        "arguments": long}),
    );
    gate.step(&json!({"do": "cancel", "as": "long"}));
    assert_eq!(
        gate.call("echo", &json!({"message": "after"}))["text"],
        "Echo: after"
    );
    gate.end();
    direct.end();
}
