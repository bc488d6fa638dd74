//! The whole door on a store of its own, asked without a socket.

use std::{net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use axum::{Router, body::Body};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use provost_core::{
    gate::{Gate, Permit, Settings},
    glob::Glob,
    key::{Key, KeyHash, Role},
    policy::{Policy, PolicySet},
    ports::{Backend, ForwardError, Forwarded, Store, SystemClock, ToolInfo},
    time::Time,
    trace::view::Exposure,
};
use provost_gateway::{
    access::{Access, DeclaredAgents},
    app::{App, Live, Parts, PolicyState, Waiting},
    backends::{Backends, BackendsConfig, CliCommandConfig, CliToolConfig, McpServerConfig},
    doors,
};
use provost_store::StoreConfig;
use serde_json::{Value, json};

pub(crate) struct TestApp {
    pub(crate) app: Arc<App>,
    router: Router,
    folder: Arc<tempfile::TempDir>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

/// Who asks. The secret of a key is the name of its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Nobody,
    Declared,
    Agent,
    Supervisor,
    Human,
    Admin,
    /// Brings mail.
    Inbox,
    Stranger,
}

impl Who {
    pub(crate) fn authorization(self) -> Option<&'static str> {
        match self {
            Self::Nobody => None,
            Self::Declared => Some("Bearer agent:bob"),
            Self::Agent => Some("Bearer agent-key"),
            Self::Supervisor => Some("Bearer supervisor-key"),
            Self::Human => Some("Bearer human-key"),
            Self::Admin => Some("Bearer admin-key"),
            Self::Inbox => Some("Bearer inbox-key"),
            Self::Stranger => Some("Bearer unknown-key"),
        }
    }
}

fn keys() -> Vec<Key> {
    let key = |name: &str, role, tools: &[&str], secret| Key {
        name: name.into(),
        role,
        tools: tools.iter().map(|glob| Glob::new(glob).unwrap()).collect(),
        person: None,
        hash: KeyHash::of(secret),
        created_at: Time::default(),
    };
    vec![
        key("claude", Role::Agent, &[], "agent-key"),
        key("fs-bot", Role::Supervisor, &["fs.*"], "supervisor-key"),
        key("alice", Role::Human, &[], "human-key"),
        key("root", Role::Admin, &[], "admin-key"),
        key("forwarder", Role::Inbox, &[], "inbox-key"),
    ]
}

/// `ok.*` is allowed, `fs.*` for supervisors, `pay.*` for people, the rest denied. `ok.run`, `fs.run` and
/// `pay.run` print their arguments.
impl TestApp {
    pub(crate) async fn new() -> Self {
        Self::with(Exposure::Everything, false).await
    }

    /// With these upstream servers, and no other tools.
    pub(crate) async fn serving(mcp_servers: Vec<McpServerConfig>) -> Self {
        Self::serving_within(mcp_servers, None).await
    }

    pub(crate) async fn serving_within(
        mcp_servers: Vec<McpServerConfig>,
        max_answer: Option<u64>,
    ) -> Self {
        let config = BackendsConfig {
            mcp_servers,
            max_answer,
            ..BackendsConfig::default()
        };
        let backends = Backends::build(config).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self::build(folder, backends, Exposure::Everything, false).await
    }

    /// With these tools.
    pub(crate) async fn of(config: BackendsConfig) -> Self {
        let backends = Backends::build(config).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        Self::build(folder, backends, Exposure::Everything, false).await
    }

    pub(crate) async fn with(exposure: Exposure, open: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::build(folder, backends().await, exposure, open).await
    }

    async fn build(
        folder: tempfile::TempDir,
        backends: Backends,
        exposure: Exposure,
        open: bool,
    ) -> Self {
        let path = folder.path().join("provost.db");
        let store = provost_store::open(&StoreConfig::Sqlite { path })
            .await
            .unwrap();
        Self::on(store, folder.into(), backends, exposure, open).await
    }

    /// Another process on the same store: it remembers nothing.
    pub(crate) async fn replica(&self) -> Self {
        let store = self.app.gate.store().clone();
        let folder = self.folder.clone();
        Self::on(store, folder, backends().await, Exposure::Everything, false).await
    }

    async fn on(
        store: Arc<dyn Store>,
        folder: Arc<tempfile::TempDir>,
        backends: Backends,
        exposure: Exposure,
        open: bool,
    ) -> Self {
        let rules = json!([
            {"tools": ["ok.*"], "action": "allow"},
            {"tools": ["fs.*"], "action": "supervisor"},
            {"tools": ["pay.*"], "action": "human_approval"},
            {"tools": ["claude.Read", "cursor.Shell", "acp.read"], "action": "allow"},
            {"tools": ["acp.edit"], "action": "human_approval"},
            {"tools": ["claude.Bash"], "when": "params.command STARTS_WITH \"rm \"", "action": "deny"},
            {"tools": ["claude.Bash"], "action": "human_approval"},
        ]);
        let policy = Policy {
            name: "p".into(),
            agent: "*".into(),
            rate_limit: None,
            rules: serde_json::from_value(rules).unwrap(),
        };
        let policies = PolicySet::compile(vec![policy]).unwrap();
        let gate = Gate::open(
            store,
            Arc::new(SystemClock),
            policies,
            Settings::default(),
            keys(),
        )
        .await
        .unwrap();
        let app = App::new(Parts {
            policy_state: PolicyState {
                source: "test".into(),
                loaded_at: gate.now(),
                rules: 3,
                error: None,
            },
            backends,
            live: Live {
                access: Access {
                    open,
                    declared_agents: DeclaredAgents::Loopback,
                    hosts: Vec::new(),
                },
                exposure,
                body_limit: 1 << 20,
                waiting: Waiting::Block,
            },
            metrics: None,
            spans: None,
            version: "test",
            gate,
        });
        tokio::spawn(app.clone().pump());
        app.mcp.start(&app.gate).await;
        Self {
            router: doors::http::router(&app),
            app,
            folder,
        }
    }

    pub(crate) async fn ask(&self, who: Who, method: &str, path: &str, body: Value) -> Answer {
        self.send(who, [127, 0, 0, 1], method, path, &[], body)
            .await
    }

    pub(crate) async fn send(
        &self,
        who: Who,
        from: [u8; 4],
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", "127.0.0.1:9090");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(authorization) = who.authorization() {
            request = request.header("authorization", authorization);
        }
        let body = if body.is_null() {
            Body::empty()
        } else {
            Body::from(body.to_string())
        };
        let request = request.body(body).unwrap();
        let from = SocketAddr::from((from, 5555));
        let response = doors::http::handle(&self.app, &self.router, request, from).await;
        let (parts, body) = response.into_parts();
        // An event stream does not end: its head is all there is to see here.
        let streams = parts
            .headers
            .get("content-type")
            .is_some_and(|kind| kind == "text/event-stream");
        let bytes = if streams {
            bytes::Bytes::new()
        } else {
            body.collect().await.unwrap().to_bytes()
        };
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// A request as it is, answered as it comes: for what is no JSON.
    pub(crate) async fn raw(&self, request: Request<Body>) -> (http::response::Parts, String) {
        let from = SocketAddr::from(([127, 0, 0, 1], 5555));
        let response = doors::http::handle(&self.app, &self.router, request, from).await;
        let (parts, body) = response.into_parts();
        let kind = parts.headers.get("content-type");
        if kind.is_some_and(|kind| kind == "text/event-stream") {
            return (parts, String::new());
        }
        let bytes = body.collect().await.unwrap().to_bytes();
        (parts, String::from_utf8(bytes.to_vec()).unwrap())
    }

    /// Asks without waiting; the id of the approval that came of it.
    pub(crate) async fn pending(&self, tool: &str, params: Value) -> String {
        let answer = self
            .ask(
                Who::Agent,
                "POST",
                &format!("/tool/{tool}?wait=0"),
                json!({"params": params}),
            )
            .await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
        answer.body["approval_id"].as_str().unwrap().to_owned()
    }
}

async fn backends() -> Backends {
    let tool = |name: &str| CliToolConfig {
        name: name.into(),
        bin: "/bin/echo".into(),
        bare: Some(CliCommandConfig::default()),
        ..CliToolConfig::default()
    };
    let names = ["ok", "fs", "pay", "hidden"];
    let built = Backends::build(BackendsConfig {
        cli_tools: names.iter().map(|name| tool(name)).collect(),
        ..BackendsConfig::default()
    });
    let built = built.await.unwrap();
    let mut backends = Backends::default();
    for name in names {
        let backend = built.find(&format!("{name}.run")).unwrap();
        backends.add(Arc::new(Unchecked(backend))).unwrap();
    }
    backends
}

/// Takes any arguments at the door, so that tests may ask about whatever they like.
struct Unchecked(Arc<dyn Backend>);

#[async_trait]
impl Backend for Unchecked {
    fn tools(&self) -> Vec<ToolInfo> {
        self.0.tools()
    }

    fn has(&self, tool: &str) -> bool {
        self.0.has(tool)
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.0.forward(permit).await
    }
}
