//! One upstream server as the rest of the gateway sees it: what it offers, how it is, and its line.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use http::{HeaderMap, Uri};
use provost_core::{
    gate::Permit,
    ports::{Backend, ForwardError, Forwarded, ToolInfo, ToolPin},
    time::Time,
};
use rmcp::{Peer, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, broadcast};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    CallLine, DEFAULT_TIMEOUT, Definition, McpServerConfig, McpTransport, Notice,
    listing::Listing,
    pins::{Judged, judge},
    status::{Phase, Status, ToolView},
    stdio::{Launch, inherited_secrets},
};
use crate::{backends::headers, secret::Secret, web::Web};

pub struct Upstream {
    pub(super) name: Arc<str>,
    pub(super) reach: Reach,
    pub(super) timeout: Duration,
    pub(super) web: Web,
    /// What must not be told of it.
    pub(super) secrets: Arc<[Secret]>,
    pub(super) notices: broadcast::Sender<Notice>,
    /// Its tools are to be read again.
    pub(super) changed: Arc<Notify>,
    /// A call or a stream failed in a way that makes one doubt that it is there.
    pub(super) doubted: Arc<Notify>,
    /// Calls it has now.
    pub(super) calls: AtomicUsize,
    state: Mutex<State>,
    /// It was up, or failed to come up, for the first time.
    tried: CancellationToken,
}

/// How it is reached.
pub(super) enum Reach {
    Stdio(Launch),
    Http { uri: Uri, headers: Arc<HeaderMap> },
    Sse { uri: Uri, headers: Arc<HeaderMap> },
}

#[derive(Default)]
struct State {
    phase: Phase,
    since: Time,
    restarts: u64,
    last_error: Option<String>,
    protocol: Option<String>,
    peer: Option<Peer<RoleClient>>,
    /// As it was read last; kept while the server is away.
    listing: Listing,
    judged: Judged,
}

impl State {
    fn warnings(&self) -> Vec<String> {
        let left_out = self.judged.left_out;
        let too_many = (left_out > 0)
            .then(|| format!("{left_out} tools are not served: too many were seen of this server"));
        let warnings = self.listing.warnings.iter().cloned();
        warnings.chain(too_many).collect()
    }
}

impl Upstream {
    pub(super) fn build(
        config: McpServerConfig,
        web: &Web,
        notices: broadcast::Sender<Notice>,
    ) -> Result<Arc<Self>, Vec<String>> {
        let name: Arc<str> = config.name.as_str().into();
        let secrets: Arc<[Secret]> = secrets(&config.transport).into();
        let reach = match config.transport {
            McpTransport::Stdio { command, args, env } => Reach::Stdio(Launch {
                server: name.clone(),
                command,
                args,
                env,
                secrets: secrets.clone(),
                watchers: TaskTracker::new(),
            }),
            McpTransport::Http { url, headers } => {
                let (uri, headers) = place(&url, &headers, web)?;
                Reach::Http { uri, headers }
            }
            McpTransport::Sse { url, headers } => {
                let (uri, headers) = place(&url, &headers, web)?;
                Reach::Sse { uri, headers }
            }
        };
        Ok(Arc::new(Self {
            name,
            reach,
            timeout: config.timeout.unwrap_or(DEFAULT_TIMEOUT),
            web: web.clone(),
            secrets,
            notices,
            changed: Arc::default(),
            doubted: Arc::default(),
            calls: AtomicUsize::new(0),
            state: Mutex::default(),
            tried: CancellationToken::new(),
        }))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn status(&self) -> Status {
        let state = self.state();
        Status {
            name: self.name.to_string(),
            transport: match self.reach {
                Reach::Stdio(_) => "stdio",
                Reach::Http { .. } => "http",
                Reach::Sse { .. } => "sse",
            },
            status: state.phase,
            since: state.since,
            restarts: state.restarts,
            tools: state.judged.trusted.len(),
            held: state.judged.held.keys().cloned().collect(),
            protocol_version: state.protocol.clone(),
            last_error: state.last_error.clone(),
            warnings: state.warnings(),
        }
    }

    /// The tools that are trusted, in the order of their names.
    pub fn definitions(&self) -> Vec<Arc<Definition>> {
        self.state().judged.trusted.values().cloned().collect()
    }

    pub fn count(&self) -> usize {
        self.state().judged.trusted.len()
    }

    /// The trusted tool of that name, as its server knows it.
    pub fn definition(&self, tool: &str) -> Option<Arc<Definition>> {
        self.state().judged.trusted.get(tool).cloned()
    }

    /// All tools there are, for a person to judge.
    pub fn tools_to_judge(&self) -> Vec<ToolView> {
        let state = self.state();
        let mut views: Vec<_> = state
            .judged
            .trusted
            .values()
            .map(|tool| ToolView::of(tool, None))
            .chain(
                state
                    .judged
                    .held
                    .values()
                    .map(|held| ToolView::of(&held.now, Some(&held.pin))),
            )
            .collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        views
    }

    /// For what is not a call: resources, prompts, completion, logging.
    pub fn peer(&self) -> Result<Peer<RoleClient>, ForwardError> {
        let state = self.state();
        let peer = state
            .peer
            .as_ref()
            .filter(|peer| !peer.is_transport_closed());
        peer.cloned().ok_or_else(|| {
            let why = state.last_error.as_deref().unwrap_or("it is starting");
            ForwardError::Unreachable(format!("MCP server `{}` is not up: {why}", self.name))
        })
    }

    /// Why a tool of this server cannot be called: it changed and is held.
    pub fn is_held(&self, tool: &str) -> bool {
        self.state().judged.held.contains_key(tool)
    }

    /// A tool as it is now, and as it was trusted where that differs.
    pub(super) fn judged_tool(
        &self,
        tool: &str,
    ) -> Option<(Arc<Definition>, Option<Arc<ToolPin>>)> {
        let state = self.state();
        if let Some(held) = state.judged.held.get(tool) {
            return Some((held.now.clone(), Some(held.pin.clone())));
        }
        Some((state.judged.trusted.get(tool)?.clone(), None))
    }

    pub(super) fn starting(&self, at: Time, is_restart: bool) {
        let mut state = self.state();
        (state.phase, state.since) = (Phase::Starting, at);
        state.restarts += u64::from(is_restart);
    }

    pub(super) fn up(&self, at: Time, peer: Peer<RoleClient>) {
        let mut state = self.state();
        let info = peer.peer_info();
        state.protocol = info.map(|info| info.protocol_version.to_string());
        (state.phase, state.since) = (Phase::Up, at);
        state.peer = Some(peer);
        drop(state);
        self.tried.cancel();
    }

    /// Completes when it was up, or failed to come up, for the first time.
    pub(super) async fn tried(&self) {
        self.tried.cancelled().await;
    }

    pub(super) fn down(&self, at: Time, error: String) {
        let mut state = self.state();
        (state.phase, state.since) = (Phase::Down, at);
        (state.peer, state.last_error) = (None, Some(error));
        drop(state);
        self.tried.cancel();
    }

    /// Takes a list of tools that was read, with the pins there are.
    pub(super) fn take_listing(&self, listing: Listing, pins: Vec<ToolPin>) {
        self.state().listing = listing;
        self.judge_again(pins);
    }

    pub(super) fn judge_again(&self, pins: Vec<ToolPin>) {
        let mut state = self.state();
        let judged = judge(&state.listing.tools, pins);
        for (tool, held) in &judged.held {
            let known = state.judged.held.get(tool);
            if known.is_none_or(|known| known.now.digest != held.now.digest) {
                tracing::warn!(
                    mcp.server = &*self.name,
                    tool.name = tool,
                    "a tool changed and is held back; look at it with `provost mcp trust {}`",
                    self.name
                );
            }
        }
        let changed = judged.trusted != state.judged.trusted;
        state.judged = judged;
        drop(state);
        if changed {
            let server = self.name.clone();
            // Nobody may be listening.
            let _ = self.notices.send(Notice::ToolsChanged { server });
        }
    }

    /// Completes when no program of it runs any more.
    pub(super) async fn ended(&self) {
        if let Reach::Stdio(launch) = &self.reach {
            launch.watchers.close();
            launch.watchers.wait().await;
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.calls.load(Ordering::SeqCst) > 0
    }

    pub(super) fn has_held(&self) -> bool {
        !self.state().judged.held.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Backend for Upstream {
    fn tools(&self) -> Vec<ToolInfo> {
        let definitions = self.definitions();
        definitions.iter().map(|tool| tool.info()).collect()
    }

    fn has(&self, tool: &str) -> bool {
        let own = tool
            .split_once('.')
            .filter(|(server, _)| **server == *self.name);
        own.is_some_and(|(_, tool)| self.state().judged.trusted.contains_key(tool))
    }

    fn check(&self, name: &str, arguments: &Value) -> Result<(), String> {
        let tool = name.split_once('.').map(|(_, tool)| tool);
        let tool = tool.and_then(|tool| self.definition(tool));
        let schema = tool.as_ref().and_then(|tool| tool.schema.as_ref());
        schema.map_or(Ok(()), |schema| schema.check(arguments))
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.call(permit, CallLine::default()).await
    }
}

fn place(
    url: &Secret,
    configured: &[(String, Secret)],
    web: &Web,
) -> Result<(Uri, Arc<HeaderMap>), Vec<String>> {
    let uri = url.expose().parse::<Uri>().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
    let uri = uri.ok_or_else(|| vec!["the URL is not one of http or https".to_owned()])?;
    web.prepare(&uri).map_err(|problem| vec![problem])?;
    Ok((uri, Arc::new(headers::configured(configured)?)))
}

/// What a server was given, and might repeat.
fn secrets(transport: &McpTransport) -> Vec<Secret> {
    let values = |pairs: &[(String, Secret)]| -> Vec<Secret> {
        pairs.iter().map(|(_, value)| value.clone()).collect()
    };
    match transport {
        McpTransport::Stdio { env, .. } => {
            let mut secrets = values(env);
            secrets.extend(inherited_secrets());
            secrets
        }
        McpTransport::Http { url, headers } | McpTransport::Sse { url, headers } => {
            let mut secrets = values(headers);
            let tokens = secrets.iter().filter_map(|value| {
                let (_, token) = value.expose().split_once(' ')?;
                Some(Secret::from(token.trim()))
            });
            let tokens: Vec<_> = tokens.collect();
            secrets.extend(tokens);
            if let Some((_, query)) = url.expose().split_once('?') {
                secrets.push(Secret::from(query));
            }
            secrets
        }
    }
}
