//! Servers over HTTP: a real one of `rmcp`, of today and of before, and one with server-sent events.

use std::{
    borrow::Cow,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use futures_util::StreamExt as _;
use http::StatusCode;
use provost_gateway::{
    backends::{McpServerConfig, McpTransport},
    secret::Secret,
};
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

use super::eventually;
use crate::app::TestApp;

/// Every second tool fails.
#[derive(Clone)]
struct Real {
    versions: &'static [ProtocolVersion],
}

impl ServerHandler for Real {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.versions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(serde_json::Map::from_iter([(
            "type".into(),
            json!("object"),
        )]));
        let tool = |name| Tool::new(name, "a tool", schema.clone());
        Ok(ListToolsResult::with_all_items(vec![
            tool("echo"),
            tool("fails"),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = json!(request.arguments);
        Ok(match &*request.name {
            "echo" => CallToolResult::structured(arguments).into(),
            _ => CallToolResult::structured_error(json!("no")).into(),
        })
    }
}

struct Listening {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(router: Router, at: SocketAddr) -> Listening {
    let listener = eventually("a free port", async || TcpListener::bind(at).await.ok()).await;
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Listening { address, task }
}

fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

async fn with_key(request: Request, next: Next) -> Response {
    let key = request.headers().get("authorization");
    if key.is_some_and(|key| key == "Bearer hunter2") {
        return next.run(request).await;
    }
    (StatusCode::UNAUTHORIZED, "hunter2 is the key").into_response()
}

fn real(versions: &'static [ProtocolVersion], sessions: bool) -> Router {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = sessions;
    config.json_response = !sessions;
    let service = StreamableHttpService::new(
        move || Ok(Real { versions }),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn(with_key))
}

fn server(listening: &Listening, key: &str) -> McpServerConfig {
    McpServerConfig {
        name: "ok".to_owned(),
        transport: McpTransport::Http {
            url: Secret::new(format!("http://{}/mcp", listening.address)),
            headers: vec![("Authorization".to_owned(), Secret::from(key))],
        },
        timeout: None,
    }
}

#[tokio::test]
async fn servers_of_all_versions_are_called() {
    const BEFORE: &[ProtocolVersion] = &[ProtocolVersion::V_2025_06_18];
    const LAST: &[ProtocolVersion] =
        &[ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];
    for (versions, sessions, expected) in [
        (ProtocolVersion::KNOWN_VERSIONS, true, "2026-07-28"),
        (ProtocolVersion::KNOWN_VERSIONS, false, "2026-07-28"),
        (LAST, true, "2025-11-25"),
        (BEFORE, true, "2025-06-18"),
        (BEFORE, false, "2025-06-18"),
    ] {
        let listening = listen(real(versions, sessions), anywhere()).await;
        let app = TestApp::serving(vec![server(&listening, "Bearer hunter2")]).await;
        let status = app.up("ok").await;
        assert_eq!(status["protocol_version"], expected, "{status}");
        assert_eq!(status["transport"], "http");
        assert_eq!(app.tool_names().await, ["ok.echo", "ok.fails"]);
        let answer = app.call("ok.echo", json!({"n": 7})).await;
        assert_eq!(answer.status, 200, "{expected} {}", answer.body);
        assert_eq!(answer.body["result"]["structuredContent"], json!({"n": 7}));
        let failed = app.call("ok.fails", json!({})).await;
        assert_eq!(failed.body["result"]["isError"], true);
        assert!(
            failed.body["error"]["message"]
                .as_str()
                .unwrap()
                .starts_with("the tool failed")
        );
        app.app.mcp.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_wants_a_key_is_down_and_its_words_are_not_repeated() {
    let listening = listen(real(ProtocolVersion::KNOWN_VERSIONS, true), anywhere()).await;
    let app = TestApp::serving(vec![server(&listening, "Bearer hunter2x")]).await;
    let down = app
        .server_when("ok", |server| server["status"] == "down")
        .await;
    let why = down["last_error"].as_str().unwrap();
    assert!(why.contains("401"), "{why}");
    assert!(!why.contains("hunter2x"), "{why}");
}

#[tokio::test]
async fn a_server_that_went_away_is_noticed_and_found_again() {
    let router = || real(ProtocolVersion::KNOWN_VERSIONS, true);
    let listening = listen(router(), anywhere()).await;
    let at = listening.address;
    let app = TestApp::serving(vec![server(&listening, "Bearer hunter2")]).await;
    app.up("ok").await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
    drop(listening);
    eventually("a call that fails", async || {
        (app.call("ok.echo", json!({})).await.status == 502).then_some(())
    })
    .await;
    app.server_when("ok", |server| server["status"] != "up")
        .await;
    let _listening = listen(router(), at).await;
    app.up("ok").await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
}

/// Answers in JSON, or in events where the tool says so; `breaks` ends in the middle of its answer.
async fn by_hand(State(calls): State<Arc<AtomicUsize>>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let params = &message["params"];
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "by hand", "version": "1"},
        }),
        "tools/list" => {
            let names = ["json", "events", "breaks", "resets"];
            json!({"tools": names.map(|name| super::tool(name, "a tool"))})
        }
        "tools/call" => {
            calls.fetch_add(1, Ordering::SeqCst);
            let bytes = params["arguments"]["bytes"].as_u64().unwrap_or_default();
            json!({"content": [], "novel": "x".repeat(bytes as usize)})
        }
        "ping" => json!({}),
        method if method.starts_with("notifications/") => {
            return StatusCode::ACCEPTED.into_response();
        }
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let event = format!("event: message\r\ndata: {answer}\r\n\r\n");
    let broken = || Err::<String, _>(std::io::Error::other("broken"));
    let parts = match params["name"].as_str() {
        Some("events") => vec![Ok(": hello\n\n".to_owned()), Ok(event)],
        Some("breaks") => vec![Ok(": hello\n\n".to_owned())],
        Some("resets") => vec![Ok("event: message\ndata: {".to_owned()), broken()],
        _ => return axum::Json(answer).into_response(),
    };
    let body = Body::from_stream(futures_util::stream::iter(parts));
    ([("content-type", "text/event-stream")], body).into_response()
}

#[tokio::test]
async fn a_call_whose_answer_breaks_off_is_made_once_and_its_outcome_is_unknown() {
    let calls = Arc::new(AtomicUsize::new(0));
    let router = Router::new()
        .route("/mcp", post(by_hand))
        .with_state(calls.clone());
    let listening = listen(router, anywhere()).await;
    let mut config = server(&listening, "Bearer hunter2");
    config.timeout = Some(Duration::from_secs(20));
    let app = TestApp::serving_within(vec![config], Some(10_000)).await;
    app.up("ok").await;
    for tool in ["json", "events"] {
        let tool = format!("ok.{tool}");
        let answer = app.call(&tool, json!({"bytes": 5})).await;
        let expected = json!({"content": [], "novel": "xxxxx"});
        assert_eq!(answer.body["result"], expected, "{}", answer.body);
        let large = app.call(&tool, json!({"bytes": 20_000})).await;
        assert_eq!(large.status, 502);
        assert!(
            large.body.to_string().contains("larger than 10000"),
            "{}",
            large.body
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    for (tool, made) in [("ok.breaks", 5), ("ok.resets", 6)] {
        let lost = app.call(tool, json!({})).await;
        assert_eq!(lost.status, 502, "{}", lost.body);
        assert_eq!(calls.load(Ordering::SeqCst), made);
    }
    let status = app.server("ok").await;
    assert_eq!(status["restarts"], 0, "{status}");
}

type Streams = Arc<tokio::sync::Mutex<Option<mpsc::UnboundedSender<String>>>>;

async fn sse_stream(State(streams): State<Streams>) -> Response {
    let (sender, receiver) = mpsc::unbounded_channel();
    let endpoint = "event: endpoint\ndata: messages?session=1\n\n".to_owned();
    sender.send(endpoint).unwrap();
    *streams.lock().await = Some(sender);
    let lines = futures_util::stream::unfold(receiver, async |mut receiver| {
        let line: String = receiver.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(line), receiver))
    });
    let body = Body::from_stream(lines.boxed());
    ([("content-type", "text/event-stream")], body).into_response()
}

async fn sse_message(State(streams): State<Streams>, body: Bytes) -> StatusCode {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }),
        "tools/list" => json!({"tools": [super::tool("echo", "a tool")]}),
        "tools/call" => json!({"content": [], "arguments": message["params"]["arguments"]}),
        _ => return StatusCode::ACCEPTED,
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let streams = streams.lock().await;
    let event = format!("event: message\ndata: {answer}\n\n");
    streams.as_ref().unwrap().send(event).unwrap();
    StatusCode::ACCEPTED
}

#[tokio::test]
async fn a_server_with_events_is_called_and_its_loss_is_noticed() {
    let streams = Streams::default();
    let router = Router::new()
        .route("/old/sse", get(sse_stream))
        .route("/old/messages", post(sse_message))
        .with_state(streams.clone())
        .layer(middleware::from_fn(with_key));
    let listening = listen(router, anywhere()).await;
    let config = McpServerConfig {
        transport: McpTransport::Sse {
            url: Secret::new(format!("http://{}/old/sse", listening.address)),
            headers: vec![("Authorization".to_owned(), Secret::from("Bearer hunter2"))],
        },
        ..server(&listening, "")
    };
    let app = TestApp::serving(vec![config]).await;
    assert_eq!(app.up("ok").await["protocol_version"], "2024-11-05");
    let answer = app.call("ok.echo", json!({"n": 1})).await;
    assert_eq!(
        answer.body["result"],
        json!({"content": [], "arguments": {"n": 1}})
    );
    // The stream ends, and the next one is opened.
    streams.lock().await.take();
    let again = |server: &Value| server["status"] == "up" && server["restarts"] == 1;
    app.server_when("ok", again).await;
    assert_eq!(app.call("ok.echo", json!({})).await.status, 200);
}
