//! Servers that are reached over streamable HTTP and over the older form of it.

use std::{
    io::{BufRead as _, BufReader},
    net::TcpListener,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::desk::{Desk, EVERYBODY, Way};
use crate::{
    mcp_clients::Sdk,
    peers::{self, EVERYTHING},
};

/// Sooner than it is looked by itself whether a server is there.
const SOON: Duration = Duration::from_secs(15);

/// The server `everything` on a port of loopback. It dies with this value.
struct Remote {
    child: Child,
    port: u16,
}

impl Remote {
    fn start(kind: &str) -> Self {
        // The port is free until somebody else takes it in between: then another one is tried.
        let ports = (0..10).map(|_| {
            let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            free.local_addr().unwrap().port()
        });
        let mut servers = ports.filter_map(|port| Self::try_start(kind, port));
        servers.next().expect("no free port")
    }

    fn try_start(kind: &str, port: u16) -> Option<Self> {
        let mut child = Command::new("node")
            .args([&peers::node_module(EVERYTHING), kind])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let server = Self { child, port };
        let serves = lines
            .by_ref()
            .map_while(Result::ok)
            .any(|line| line.ends_with(&format!("on port {port}")));
        // What it says later is read, so that it can say it.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        serves.then_some(server)
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn both() -> (Remote, Remote, Desk) {
    let (http, sse) = (Remote::start("streamableHttp"), Remote::start("sse"));
    let url = |server: &Remote, path: &str| format!("http://127.0.0.1:{}/{path}", server.port);
    let desk = Desk::of(&json!([
        {"name": "http", "transport": "http", "url": url(&http, "mcp")},
        {"name": "sse", "transport": "sse", "url": url(&sse, "sse")},
    ]));
    (http, sse, desk)
}

#[test]
fn servers_over_http_are_called_like_others() {
    let (_http, _sse, desk) = both();
    for (sdk, way) in EVERYBODY {
        let mut client = desk.client(sdk, way, "auto");
        for server in ["http", "sse"] {
            let tool = |name: &str| format!("{server}.{name}");
            let sum = client.call(&tool("get-sum"), &json!({"a": 2, "b": 3}));
            assert_eq!(sum["text"], "The sum of 2 and 3 is 5.", "{sdk:?} {way:?}");
            let long = tool("trigger-long-running-operation");
            let done = client.call(&long, &json!({"duration": 0.2, "steps": 2}));
            assert_eq!(
                done["progress"],
                json!([[1.0, null], [2.0, null]]),
                "{done}"
            );
            let prompt = json!({"do": "prompt", "name": tool("simple-prompt")});
            let prompt = client.step(&prompt);
            assert_eq!(prompt["messages"][0]["role"], "user");

            client.begin("long", &long, &json!({"duration": 60, "steps": 600}));
            client.step(&json!({"do": "progress", "as": "long"}));
            client.cancel("long");
            let echo = client.call(&tool("echo"), &json!({"message": "after"}));
            assert_eq!(echo["text"], "Echo: after");
        }
        client.end();
    }
    assert_eq!(desk.server("http")["restarts"], 0);
    assert_eq!(desk.server("sse")["restarts"], 0);
}

#[test]
fn a_server_over_http_that_went_away_is_found_again() {
    let (http, sse, desk) = both();
    let mut client = desk.client(Sdk::Rust, Way::Http, "legacy");
    let mut others = [
        ("http", "streamableHttp", http, "sse"),
        ("sse", "sse", sse, "http"),
    ];
    for (name, kind, server, other) in &mut others {
        let port = server.port;
        let long = format!("{name}.trigger-long-running-operation");
        client.begin("long", &long, &json!({"duration": 60, "steps": 600}));
        client.step(&json!({"do": "progress", "as": "long"}));
        let killed = Instant::now();
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        let lost = client.wait("long");
        assert_eq!(lost["is_error"], true, "{name}: {lost}");
        desk.until(name, "down");
        assert!(
            killed.elapsed() < SOON,
            "{name}: only when it was looked for"
        );
        let message = json!({"message": "other"});
        let echo = client.call(&format!("{other}.echo"), &message);
        assert_eq!(echo["text"], "Echo: other", "{name}");
        *server = Remote::try_start(kind, port).unwrap();
        desk.until(name, "up");
        let echo = client.call(&format!("{name}.echo"), &message);
        assert_eq!(echo["text"], "Echo: other", "{name}");
    }
    client.end();
}
