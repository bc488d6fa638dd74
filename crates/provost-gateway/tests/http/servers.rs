//! Upstream MCP servers behind the HTTP door: programs that behave and misbehave, and servers over HTTP.

#[path = "servers/http.rs"]
mod http;
#[path = "servers/pinning.rs"]
mod pinning;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use provost_gateway::{
    backends::{McpServerConfig, McpTransport, mcp::CallLine},
    secret::Secret,
};
use serde_json::{Value, json};

use crate::app::{Answer, TestApp, Who};

const PATIENCE: Duration = Duration::from_secs(40);

/// A scripted program and what it has written down.
pub(crate) struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    pub(crate) fn new(tools: &[&str]) -> Self {
        let script = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let tools: Vec<_> = tools.iter().map(|name| tool(name, "a tool")).collect();
        script.set_tools(json!(tools));
        script
    }

    pub(crate) fn set_tools(&self, tools: Value) {
        // In one step: the program may be reading.
        let new = self.folder.path().join("new");
        fs::write(&new, tools.to_string()).unwrap();
        fs::rename(new, self.folder.path().join("tools.json")).unwrap();
    }

    pub(crate) fn server(&self, name: &str, way: &str) -> McpServerConfig {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/http/servers/upstream.py"
        );
        McpServerConfig {
            name: name.to_owned(),
            transport: McpTransport::Stdio {
                command: "python3".to_owned(),
                args: vec![
                    script.to_owned(),
                    self.folder.path().display().to_string(),
                    way.to_owned(),
                ],
                env: vec![("TOKEN".to_owned(), Secret::from("hunter2"))],
            },
            timeout: None,
        }
    }

    pub(crate) fn noted(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "{what} did not come about");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

impl TestApp {
    pub(crate) async fn server(&self, name: &str) -> Value {
        self.server_as(Who::Admin, name).await
    }

    async fn server_as(&self, who: Who, name: &str) -> Value {
        let servers = self.ask(who, "GET", "/mcp-servers", Value::Null).await;
        let servers = servers.body.as_array().unwrap().clone();
        servers
            .into_iter()
            .find(|server| server["name"] == name)
            .unwrap()
    }

    /// The server as soon as it is so.
    pub(crate) async fn server_when(&self, name: &str, so: impl Fn(&Value) -> bool) -> Value {
        let what = format!("what is wanted of `{name}`");
        eventually(&what, async || Some(self.server(name).await).filter(&so)).await
    }

    pub(crate) async fn up(&self, name: &str) -> Value {
        self.server_when(name, |server| server["status"] == "up")
            .await
    }

    pub(crate) async fn tool_names(&self) -> Vec<String> {
        let tools = self
            .ask(Who::Agent, "GET", "/tools", Value::Null)
            .await
            .body;
        let names = tools.as_array().unwrap().iter();
        names
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) async fn call(&self, tool: &str, params: Value) -> Answer {
        let path = format!("/tool/{tool}");
        self.ask(Who::Agent, "POST", &path, json!({"params": params}))
            .await
    }
}

#[tokio::test]
async fn a_program_is_called_and_its_answer_is_not_touched() {
    let script = Script::new(&["echo", "fails", "refuses"]);
    let app = TestApp::serving(vec![script.server("ok", "banner")]).await;
    let server = app.up("ok").await;
    assert_eq!(server["transport"], "stdio");
    assert_eq!(server["tools"], 3);
    assert_eq!(server["held"], json!([]));
    assert_eq!(server["protocol_version"], "2025-11-25");
    assert_eq!(server["restarts"], 0);
    assert_eq!(
        app.tool_names().await,
        ["ok.echo", "ok.fails", "ok.refuses"]
    );

    let answer = app.call("ok.echo", json!({"a": [1, "é"]})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let expected = json!({
        "content": [
            {"type": "text", "text": "{\"a\": [1, \"\\u00e9\"]}"},
            {"type": "hologram", "data": "kept"},
        ],
        "novel": {"kept": 1.5},
        "structuredContent": {"n": 7},
    });
    assert_eq!(answer.body["result"], expected);

    let failed = app.call("ok.fails", json!({})).await;
    assert_eq!(failed.body["result"]["isError"], true);
    assert_eq!(
        failed.body["error"]["message"], "the tool failed: no such file",
        "{}",
        failed.body
    );
    let refused = app.call("ok.refuses", json!({})).await;
    assert_eq!(refused.status, 502, "{}", refused.body);
    assert!(refused.body.to_string().contains("bad arguments"));
    assert_eq!(app.call("ok.nothing", json!({})).await.status, 404);
    assert_eq!(app.call("nobody.echo", json!({})).await.status, 404);
    app.app.mcp.stop().await;
}

#[tokio::test]
async fn a_call_that_policy_does_not_allow_never_reaches_the_server() {
    let script = Script::new(&["echo"]);
    let app = TestApp::serving(vec![script.server("pay", ""), script.server("other", "")]).await;
    app.up("pay").await;
    app.up("other").await;
    assert_eq!(app.call("other.echo", json!({})).await.status, 403);
    let id = app.pending("pay.echo", json!({"n": 1})).await;
    assert_eq!(script.noted("calls"), [""; 0]);
    let approve = format!("/approvals/{id}/approve");
    assert_eq!(
        app.ask(Who::Human, "POST", &approve, json!({}))
            .await
            .status,
        200
    );
    let answer = app.call("pay.echo", json!({"n": 1})).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(script.noted("calls"), ["echo"]);
}

#[tokio::test]
async fn older_versions_are_spoken() {
    let script = Script::new(&["echo"]);
    let servers = vec![script.server("ok", "old"), script.server("mid", "middle")];
    let app = TestApp::serving(servers).await;
    assert_eq!(app.up("ok").await["protocol_version"], "2024-11-05");
    assert_eq!(app.up("mid").await["protocol_version"], "2025-06-18");
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
}

#[tokio::test]
async fn a_server_that_dies_has_lost_its_call_and_comes_back() {
    let script = Script::new(&["crash", "echo"]);
    let app = TestApp::serving(vec![script.server("ok", "")]).await;
    app.up("ok").await;
    let lost = app.call("ok.crash", json!({})).await;
    assert_eq!(lost.status, 502);
    assert!(
        lost.body.to_string().contains("outcome unknown"),
        "{}",
        lost.body
    );
    let down = app
        .server_when("ok", |server| server["last_error"].is_string())
        .await;
    let why = down["last_error"].as_str().unwrap();
    assert!(
        why.contains("exit code 7") && why.contains("it hurts"),
        "{why}"
    );
    let again = |server: &Value| server["status"] == "up" && server["restarts"] == 1;
    app.server_when("ok", again).await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
    assert_eq!(script.noted("calls"), ["crash", "echo"]);
}

#[tokio::test]
async fn bad_servers_take_nobody_with_them() {
    let script = Script::new(&["echo"]);
    let missing = McpServerConfig {
        name: "missing".into(),
        transport: McpTransport::Stdio {
            command: "/no/such/program".into(),
            args: Vec::new(),
            env: Vec::new(),
        },
        timeout: None,
    };
    let began = Instant::now();
    let app = TestApp::serving(vec![
        missing,
        script.server("exits", "exits"),
        script.server("noise", "noise"),
        script.server("silent", "silent"),
        script.server("endless", "endless"),
        script.server("ok", ""),
    ])
    .await;
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "start waits for servers"
    );
    app.up("ok").await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
    let endless = app.up("endless").await;
    assert_eq!(endless["tools"], 100);
    assert!(
        endless["warnings"].to_string().contains("100 pages"),
        "{endless}"
    );
    for (name, expected) in [
        ("missing", "`/no/such/program` cannot be started"),
        ("exits", "exit code 3; it said last: no good: [secret]"),
        ("noise", "what is not MCP"),
    ] {
        let bad = app
            .server_when(name, |server| server["last_error"].is_string())
            .await;
        let why = bad["last_error"].as_str().unwrap();
        let to_agents = app.server_as(Who::Agent, name).await;
        assert!(to_agents["last_error"].is_null(), "{to_agents}");
        assert!(why.contains(expected), "{name}: {why}");
        assert_ne!(bad["status"], "up");
    }
    assert_eq!(app.server("silent").await["status"], "starting");
    let silent = app.call("silent.echo", json!({})).await;
    assert_eq!(
        silent.body["error"]["code"], "server_down",
        "{}",
        silent.body
    );
    let health = app
        .ask(Who::Nobody, "GET", "/health", Value::Null)
        .await
        .body;
    assert_eq!(health["mcp_servers"]["up"], 2, "{health}");
    assert_eq!(health["tools"], 101);
    app.app.mcp.stop().await;
}

#[tokio::test]
async fn programs_end_with_the_gateway_and_leave_no_zombies() {
    let script = Script::new(&["echo"]);
    let app = TestApp::serving(vec![
        script.server("ok", ""),
        script.server("silent", "silent"),
    ])
    .await;
    app.up("ok").await;
    let started = eventually("two programs", async || {
        Some(script.noted("starts")).filter(|pids| pids.len() == 2)
    })
    .await;
    app.app.mcp.stop().await;
    eventually("their end", async || {
        let gone = |pid: &String| !Path::new("/proc").join(pid).exists();
        started.iter().all(gone).then_some(())
    })
    .await;
    assert_eq!(app.server("ok").await["status"], "down");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_its_call_alone() {
    let script = Script::new(&["big", "echo"]);
    let app = TestApp::serving_within(vec![script.server("ok", "")], Some(100_000)).await;
    app.up("ok").await;
    let (big, small) = tokio::join!(
        app.call("ok.big", json!({"bytes": 1_000_000})),
        app.call("ok.echo", json!({}))
    );
    assert_eq!(big.status, 502);
    assert!(
        big.body.to_string().contains("larger than 100000 bytes"),
        "{}",
        big.body
    );
    assert_eq!(small.status, 200, "{}", small.body);
    let fits = app.call("ok.big", json!({"bytes": 50_000})).await;
    assert_eq!(fits.status, 200);
    assert_eq!(app.server("ok").await["restarts"], 0);
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_at_the_server() {
    let script = Script::new(&["never", "echo"]);
    let mut server = script.server("ok", "");
    server.timeout = Some(Duration::from_millis(300));
    let app = TestApp::serving(vec![server]).await;
    app.up("ok").await;
    let late = app.call("ok.never", json!({})).await;
    assert_eq!(late.status, 502);
    assert!(
        late.body.to_string().contains("did not answer within"),
        "{}",
        late.body
    );
    eventually("the cancellation", async || {
        let heard = script.noted("heard");
        heard
            .iter()
            .any(|method| method == "notifications/cancelled")
            .then_some(())
    })
    .await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
    assert_eq!(script.noted("calls"), ["never", "echo"]);
}

/// What a door does that has a line to its caller.
struct WithLine {
    upstream: std::sync::Arc<provost_gateway::backends::mcp::Upstream>,
    line: std::sync::Mutex<Option<CallLine>>,
}

#[async_trait::async_trait]
impl provost_core::ports::Backend for WithLine {
    fn tools(&self) -> Vec<provost_core::ports::ToolInfo> {
        Vec::new()
    }

    fn has(&self, _: &str) -> bool {
        true
    }

    async fn forward(
        &self,
        permit: &provost_core::gate::Permit,
    ) -> Result<provost_core::ports::Forwarded, provost_core::ports::ForwardError> {
        let line = self.line.lock().unwrap().take().unwrap();
        self.upstream.call(permit, line).await
    }
}

#[tokio::test]
async fn progress_passes_to_the_caller_and_giving_up_to_the_server() {
    use provost_core::{call::Call, door::Door, gate::Ask, ids::TraceId};
    let script = Script::new(&["never"]);
    let app = TestApp::serving(vec![script.server("ok", "")]).await;
    app.up("ok").await;
    let (progress, mut told) = tokio::sync::mpsc::channel(4);
    let line = CallLine {
        progress: Some(progress),
        ..CallLine::default()
    };
    let cancelled = line.cancelled.clone();
    let backend = std::sync::Arc::new(WithLine {
        upstream: app.app.mcp.get("ok").unwrap().clone(),
        line: std::sync::Mutex::new(Some(line)),
    });
    let ask = Ask {
        call: Call {
            agent: "claude".into(),
            session: None,
            tool: "ok.never".into(),
            params: serde_json::Map::new(),
        },
        trace_id: TraceId::at(app.app.gate.now()),
        door: Door::Http,
        wait: provost_core::gate::Wait::UntilDecided,
        idempotency_key: None,
        folder: None,
        misfit: None,
    };
    let gate = app.app.gate.clone();
    let calling = tokio::spawn(async move { gate.walk(ask, Some(backend)).await });
    let said = tokio::time::timeout(PATIENCE, told.recv()).await.unwrap();
    assert_eq!(said.unwrap().message.as_deref(), Some("begun"));
    cancelled.cancel();
    let decided = calling.await.unwrap().unwrap();
    assert!(decided.summary().1, "a call that was given up has failed");
    eventually("the cancellation", async || {
        let heard = script.noted("heard");
        heard
            .iter()
            .any(|method| method == "notifications/cancelled")
            .then_some(())
    })
    .await;
}
