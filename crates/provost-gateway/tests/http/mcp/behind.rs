//! A server behind the gateway that offers all there is to offer, written by hand so that it can say what no
//! library would.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::State,
    response::{
        IntoResponse as _, Response,
        sse::{Event, Sse},
    },
    routing::post,
};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use provost_gateway::backends::{McpServerConfig, McpTransport};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::broadcast};

#[derive(Clone)]
pub(super) struct Behind {
    pub(super) name: &'static str,
    addr: SocketAddr,
    says: broadcast::Sender<Value>,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl Behind {
    pub(super) async fn start(name: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let behind = Self {
            name,
            addr: listener.local_addr().unwrap(),
            says: broadcast::channel(64).0,
            heard: Arc::default(),
        };
        let routes = post(hear)
            .get(listen)
            .delete(|| async { StatusCode::NO_CONTENT });
        let router = Router::new().route("/", routes).with_state(behind.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        behind
    }

    pub(super) fn config(&self) -> McpServerConfig {
        McpServerConfig {
            name: self.name.to_owned(),
            transport: McpTransport::Http {
                url: format!("http://{}/", self.addr).as_str().into(),
                headers: Vec::new(),
            },
            timeout: None,
        }
    }

    /// To all who listen.
    pub(super) fn say(&self, method: &str, params: Value) {
        let said = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.says.send(said).unwrap();
    }

    /// The messages of that method that came.
    pub(super) fn heard(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let of_method = heard.iter().filter(|message| message["method"] == method);
        of_method.cloned().collect()
    }
}

async fn listen(State(behind): State<Behind>) -> Response {
    let says = behind.says.subscribe();
    let events = stream::unfold(says, |mut says| async move {
        let said = says.recv().await.ok()?;
        Some((event(&said), says))
    });
    Sse::new(events).into_response()
}

fn event(said: &Value) -> Result<Event, axum::Error> {
    Event::default().json_data(said)
}

async fn hear(State(behind): State<Behind>, Json(message): Json<Value>) -> Response {
    behind.heard.lock().unwrap().push(message.clone());
    let (id, params) = (&message["id"], &message["params"]);
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    if params["name"] == "slow" {
        let token = &params["_meta"]["progressToken"];
        let sign = json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 3, "total": 9, "message": "working"}});
        let mut said = vec![sign];
        if let Some(more) = params["arguments"]["more"].as_u64() {
            let last = said[0].clone();
            said.extend((4..4 + more).map(|progress| {
                let mut sign = last.clone();
                sign["params"]["progress"] = progress.into();
                sign
            }));
            said.push(json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}));
        }
        // Nothing follows.
        let events = stream::iter(said)
            .map(|said| event(&said))
            .chain(stream::pending());
        return Sse::new(events).into_response();
    }
    let mut answer = json!({"jsonrpc": "2.0", "id": id});
    match behind.result(message["method"].as_str().unwrap(), params) {
        Ok(result) => answer["result"] = result,
        Err(code) => answer["error"] = json!({"code": code, "message": "no such thing"}),
    }
    ([("mcp-session-id", "s")], Json(answer)).into_response()
}

impl Behind {
    fn result(&self, method: &str, params: &Value) -> Result<Value, i32> {
        let name = self.name;
        let schema = json!({"type": "object", "x-new": [1, 2.50]});
        Ok(match method {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "resources": {"subscribe": true}, "prompts": {},
                    "completions": {}, "logging": {}},
                "serverInfo": {"name": name, "version": "1"},
            }),
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                json!({})
            }
            "tools/list" => json!({"tools": [
                {"name": "echo", "inputSchema": schema, "execution": {"new": true}},
                {"name": "slow", "inputSchema": schema},
            ]}),
            "tools/call" => json!({"content": [{"type": "hologram", "text": "hi"}],
                "structuredContent": params["arguments"], "later": {"field": null}}),
            "resources/list" if params["cursor"].is_null() => json!({
                "resources": [{"uri": format!("note://{name}"), "name": "n", "later": 1}],
                "nextCursor": "2",
            }),
            "resources/list" => json!({"resources": [{"uri": "shared://x", "name": name}]}),
            "resources/templates/list" => json!({
                "resourceTemplates": [{"uriTemplate": format!("row://{name}/{{id}}"), "name": "r"}],
            }),
            "resources/read" if params["uri"] == "row://alpha/none" => return Err(-32002),
            "resources/read" => json!({
                "contents": [{"uri": params["uri"], "text": name, "later": true}],
            }),
            "prompts/list" => json!({"prompts": [{"name": "greet", "later": 1}]}),
            "prompts/get" => json!({"messages": [{"role": "user",
                "content": {"type": "text", "text": format!("{name}:{}", params["name"])}}]}),
            "completion/complete" => json!({"completion": {"values": [name]}}),
            _ => return Err(-32601),
        })
    }
}
