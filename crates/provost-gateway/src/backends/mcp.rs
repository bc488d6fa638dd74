//! Upstream MCP servers: whose tools are offered as `server.tool`.
//!
//! Each server has a task of its own (`keep`) that connects, reads its tools and starts it again when it
//! is lost, so that a bad one takes nobody with it. What a tool says of itself is remembered (`pins`):
//! one that changed is held back until a person accepts it.

mod answer;
mod ask;
mod call;
mod connect;
mod events;
mod handler;
mod http;
mod keep;
mod listing;
mod patience;
mod pins;
mod sse;
mod status;
mod stdio;
mod tap;
mod trouble;
mod upstream;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use provost_core::{gate::Gate, ports::ToolInfo};
use rmcp::model::ProgressNotificationParam;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::{
    sync::{broadcast, mpsc},
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use answer::failure;
pub use ask::AskError;
pub use listing::Definition;
pub use pins::{Trust, TrustError};
pub use status::{Phase, Status, ToolState, ToolView};
pub use upstream::Upstream;

use super::BackendError;
use crate::{secret::Secret, web::Web};

/// How long a call may take, unless configured otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);
/// What upstreams told lately, for a listener that is slow.
const NOTICES: usize = 1024;
/// How long after the start somebody who asks for tools waits for servers that are still starting. Longer than
/// `npx` takes to fetch a package, shorter than clients wait for an answer.
const FIRST_LIST: Duration = Duration::from_secs(20);
/// How long servers may take to end with the gateway.
const ENDING: Duration = Duration::from_secs(5);

/// What stands before the dot in the names of tools that are the gateway's own, or of agents' hooks.
pub const RESERVED: [&str; 6] = ["mesh", "grant", "approval", "claude", "codex", "cursor"];

/// What an agent does with a server beside calling its tools, as it is called in policies: `SERVER.resources.read`.
/// No tool may have such a name, or an approval of one would be one of the other.
pub const ACTS: [&str; 4] = [READ, GET, COMPLETE, LOG];
pub const READ: &str = "resources.read";
pub const GET: &str = "prompts.get";
pub const COMPLETE: &str = "completion.complete";
pub const LOG: &str = "logging.message";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerConfig {
    pub name: String,
    pub transport: McpTransport,
    /// The longest a call may take.
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpTransport {
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Secret)>,
    },
    Sse {
        url: Secret,
        headers: Vec<(String, Secret)>,
    },
    Http {
        url: Secret,
        headers: Vec<(String, Secret)>,
    },
}

impl McpTransport {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Sse { .. } => "sse",
            Self::Http { .. } => "http",
        }
    }
}

/// What a call has beside its permit: its line back to the caller.
#[derive(Debug, Default)]
pub struct CallLine {
    pub progress: Option<mpsc::Sender<ProgressNotificationParam>>,
    /// The caller does not want it any more.
    pub cancelled: CancellationToken,
    /// What the caller says about its request; the connection's own fields are not taken from it.
    pub meta: Option<Map<String, Value>>,
}

/// What an upstream tells everybody.
#[derive(Clone, Debug)]
pub enum Notice {
    /// What may be called of it has changed.
    ToolsChanged {
        server: Arc<str>,
    },
    ResourcesChanged {
        server: Arc<str>,
    },
    PromptsChanged {
        server: Arc<str>,
    },
    ResourceUpdated {
        server: Arc<str>,
        uri: String,
    },
    /// `params` of `notifications/message`.
    Log {
        server: Arc<str>,
        params: Arc<Value>,
    },
}

/// How many servers are how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub up: usize,
    pub starting: usize,
    pub down: usize,
    /// Tools that changed and wait for a person.
    pub held_tools: usize,
}

/// All upstreams.
pub struct McpServers {
    upstreams: BTreeMap<String, Arc<Upstream>>,
    notices: broadcast::Sender<Notice>,
    stop: CancellationToken,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
    started: OnceLock<Instant>,
}

impl Default for McpServers {
    fn default() -> Self {
        Self {
            upstreams: BTreeMap::new(),
            notices: broadcast::channel(NOTICES).0,
            stop: CancellationToken::new(),
            tasks: tokio::sync::Mutex::default(),
            started: OnceLock::new(),
        }
    }
}

impl McpServers {
    /// Nothing is connected before [`McpServers::start`].
    pub(super) fn build(configs: Vec<McpServerConfig>, web: &Web) -> (Self, Vec<BackendError>) {
        let (mut servers, mut problems) = (Self::default(), Vec::new());
        for config in configs {
            let name = config.name.clone();
            if let Some(problem) = refused(&name) {
                problems.push(BackendError::fatal(&name, problem));
                continue;
            }
            match Upstream::build(config, web, servers.notices.clone()) {
                Ok(upstream) => {
                    if servers.upstreams.insert(name.clone(), upstream).is_some() {
                        let taken = "another MCP server has this name";
                        problems.push(BackendError::fatal(&name, taken));
                    }
                }
                Err(found) => {
                    let fatal = |problem| BackendError::fatal(&name, problem);
                    problems.extend(found.into_iter().map(fatal));
                }
            }
        }
        (servers, problems)
    }

    /// Gives every server its task. Nobody waits for them: a server is up when it is.
    pub async fn start(&self, gate: &Arc<Gate>) {
        let _ = self.started.set(Instant::now());
        let mut tasks = self.tasks.lock().await;
        for upstream in self.upstreams.values() {
            tasks.spawn(keep::keep(
                upstream.clone(),
                gate.clone(),
                self.stop.clone(),
            ));
        }
    }

    /// Completes when every server was up once or failed to be, or some time after the start. A client that lists
    /// the tools as soon as it is connected, and never again, would otherwise not see them.
    pub async fn settled(&self) {
        let Some(started) = self.started.get() else {
            return;
        };
        let all = async {
            for upstream in self.upstreams.values() {
                upstream.tried().await;
            }
        };
        let _ = tokio::time::timeout_at(*started + FIRST_LIST, all).await;
    }

    /// Ends all connections and programs.
    pub async fn stop(&self) {
        self.stop.cancel();
        let mut tasks = self.tasks.lock().await;
        let ended = async {
            while tasks.join_next().await.is_some() {}
            for upstream in self.upstreams.values() {
                upstream.ended().await;
            }
        };
        if tokio::time::timeout(ENDING, ended).await.is_err() {
            tracing::warn!("not all MCP servers have ended");
        }
        tasks.abort_all();
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.upstreams.keys().map(String::as_str)
    }

    pub fn get(&self, server: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.get(server)
    }

    pub fn upstreams(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        self.upstreams.values()
    }

    /// What upstreams tell everybody, from now on.
    pub fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// The tools that are trusted, of all servers.
    pub fn tools(&self) -> Vec<ToolInfo> {
        self.upstreams
            .values()
            .flat_map(|upstream| upstream.definitions())
            .map(|definition| definition.info())
            .collect()
    }

    pub fn count(&self) -> usize {
        let count = |upstream: &Arc<Upstream>| upstream.count();
        self.upstreams.values().map(count).sum()
    }

    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for upstream in self.upstreams.values() {
            let status = upstream.status();
            summary.held_tools += status.held.len();
            match status.status {
                Phase::Up => summary.up += 1,
                Phase::Starting => summary.starting += 1,
                Phase::Down => summary.down += 1,
            }
        }
        summary
    }

    /// The server whose name stands before a tool's first dot.
    pub fn of_tool(&self, tool: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.get(tool.split_once('.')?.0)
    }
}

fn refused(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!(
            "`{name}.` is the prefix of the gateway's own tools"
        ));
    }
    let usable = provost_core::call::is_name(name) && !name.contains('.');
    (!usable).then(|| "the name of an MCP server is short, printable and without a dot".to_owned())
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
