//! The official MCP servers behind `provost mcp --`, called by the official client of another language.

use std::fs;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{Gateway, PROVOST, Site},
    mcp_clients::{Client, Place, Sdk},
    peers::{self, EVERYTHING, FILES},
};

const POLICY: &str = "policies:
  - name: mcp
    agent: '*'
    rules:
      - {tools: ['files.read_*', 'files.list_*', 'everything.*'], action: allow}
      - {tools: ['files.write_file'], action: human_approval}
";

/// The command of a server with the gate in front of it.
fn gated(gateway: &Gateway, name: &str, module: &str, argument: &str) -> Place {
    let url = gateway.url();
    let module = peers::node_module(module);
    Place::command([
        PROVOST, "mcp", "--name", name, "--url", &url, "--", "node", &module, argument,
    ])
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
        let mut client = Client::start(Sdk::Python, mode, &gated(&gateway, "files", FILES, root));
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
        assert!(text.contains("Not permitted"), "{text}");
        assert!(!folder.join("new").exists());

        let write = json!({"path": folder.join("b"), "content": "asked"});
        client.begin("b", "write_file", &write);
        let pending = gateway.one_pending();
        assert_eq!(pending["tool"], "files.write_file");
        let read = client.call("read_text_file", &path("a"));
        assert_eq!(read["text"], "hello", "others go on meanwhile");
        assert!(!folder.join("b").exists());
        gateway
            .alice()
            .approve(pending["id"].as_str().unwrap())
            .ok();
        let written = client.wait("b");
        assert_eq!(written["is_error"], false, "{written}");
        assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "asked");

        let write = json!({"path": folder.join("c"), "content": "in vain"});
        client.begin("c", "write_file", &write);
        let pending = gateway.one_pending();
        gateway.until_waiting(1);
        client.cancel("c");
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
    let direct = Place::command(["node", &module, "stdio"]);
    let mut direct = Client::start(Sdk::Python, "auto", &direct);
    let gated = gated(&gateway, "everything", EVERYTHING, "stdio");
    let mut gate = Client::start(Sdk::Python, "auto", &gated);
    // As the server would be answered for without a gate.
    for step in [
        json!({"do": "hello"}),
        json!({"do": "list"}),
        json!({"do": "tools"}),
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
    gate.begin("long", "trigger-long-running-operation", &long);
    gate.cancel("long");
    assert_eq!(
        gate.call("echo", &json!({"message": "after"}))["text"],
        "Echo: after"
    );
    gate.end();
    direct.end();
}
