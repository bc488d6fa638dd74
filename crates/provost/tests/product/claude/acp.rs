//! Claude Code, driven over the Agent Client Protocol as an editor does it, by its official adapter.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::{harness::Site, peers};

const ADAPTER: &str = "@agentclientprotocol/claude-agent-acp/dist/index.js";
/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

pub(super) struct Claude {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<Value>,
    id: u64,
    session: String,
    /// What it asked the person at the editor, who always says no.
    pub(super) asked_the_editor: Vec<Value>,
}

impl Claude {
    /// Whose home is the site, and whose model is at that address.
    pub(super) fn start(site: &Site, model: SocketAddr) -> Self {
        let mut child = Command::new("node")
            .arg(peers::node_module(ADAPTER))
            .current_dir(site.path("."))
            .env_clear()
            .env("PATH", Site::search_path())
            .env("HOME", site.path("."))
            .env("PROVOST_STATE", site.path("state"))
            .env("ANTHROPIC_BASE_URL", format!("http://{model}"))
            .env("ANTHROPIC_API_KEY", "x")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // It starts processes of its own, which end with it.
            .process_group(0)
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (told, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_default();
                if told.send(message).is_err() {
                    return;
                }
            }
        });
        let mut claude = Self {
            stdin: child.stdin.take().unwrap(),
            child,
            lines,
            id: 0,
            session: String::new(),
            asked_the_editor: Vec::new(),
        };
        claude.open(site);
        claude
    }

    fn open(&mut self, site: &Site) {
        let files = json!({"readTextFile": false, "writeTextFile": false});
        let hello =
            json!({"protocolVersion": 1, "clientCapabilities": {"fs": files, "terminal": false}});
        self.request("initialize", &hello);
        let new = json!({"cwd": site.path("work"), "mcpServers": []});
        let opened = self.request("session/new", &new);
        opened["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut self.session);
    }

    /// Its own id of the session.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Says something, and comes back when the agent has ended its turn.
    pub(super) fn prompt(&mut self) {
        let prompt = json!([{"type": "text", "text": "do the work"}]);
        let prompt = json!({"sessionId": self.session, "prompt": prompt});
        let ended = self.request("session/prompt", &prompt);
        assert_eq!(ended["stopReason"], "end_turn", "{ended}");
    }

    pub(super) fn close(&mut self) {
        let session = json!({"sessionId": self.session});
        self.request("session/close", &session);
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.lines.recv_timeout(left);
            let message = message.unwrap_or_else(|error| panic!("no answer to {method}: {error}"));
            if message["method"].is_string() {
                self.answer(&message);
            } else if message["id"] == self.id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// Nothing is permitted at the editor: only the gate can have let something pass.
    fn answer(&mut self, message: &Value) {
        let Some(id) = message.get("id") else { return };
        if message["method"] == "session/request_permission" {
            self.asked_the_editor.push(message["params"].clone());
            let outcome = json!({"outcome": {"outcome": "cancelled"}});
            return self.send(&json!({"jsonrpc": "2.0", "id": id, "result": outcome}));
        }
        let error = json!({"code": -32601, "message": "method not found"});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}
