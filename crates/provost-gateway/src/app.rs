//! What every door shares.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use arc_swap::ArcSwap;
use metrics_exporter_prometheus::PrometheusHandle;
use provost_core::{
    event::Numbered,
    gate::Gate,
    ids::{hex, random_bytes},
    time::Time,
    trace::view::Exposure,
};
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use crate::{
    access::{Access, Attempts},
    admission::Admission,
    backends::{Backends, mcp::McpServers},
    channels::Channels,
    console::Console,
    doors::http::{Listed, Sessions},
    fleet::Fleet,
    instance::Instance,
    record::KeptRecord,
    store_probe::StoreProbe,
    telemetry::Spans,
};

/// Events kept for a slow listener; one that falls further behind reads on from the store.
const FEED: usize = 1024;

pub struct App {
    pub gate: Arc<Gate>,
    pub backends: Backends,
    /// The ways to people. They lead back here, and are put in once this is made.
    pub channels: ArcSwap<Channels>,
    /// What a changed config file puts in force at once.
    pub live: ArcSwap<Live>,
    /// Failed attempts with keys.
    pub attempts: Attempts,
    /// How many requests are in progress, and whose.
    pub admission: Arc<Admission>,
    pub policy_state: ArcSwap<PolicyState>,
    /// The upstream MCP servers, which are among the backends.
    pub mcp: Arc<McpServers>,
    /// Of MCP clients.
    pub(crate) sessions: Sessions,
    /// What upstream servers listed lately.
    pub(crate) listed: Listed,
    pub(crate) store_probe: StoreProbe,
    /// What is kept of the record outside the store.
    pub record: KeptRecord,
    /// Who is signed in to the console.
    pub console: Console,
    /// The agents that are run here, where any may be. It asks the gate where we listen, and is put in once
    /// that is known.
    pub fleet: OnceLock<Arc<Fleet>>,
    /// What proves whose gateway this is. Put in once the port is known.
    pub instance: OnceLock<Instance>,
    pub feed: broadcast::Sender<Arc<Numbered>>,
    pub metrics: Option<PrometheusHandle>,
    pub spans: Option<Spans>,
    pub version: &'static str,
    /// Tells this process from the other replicas.
    pub run: String,
    pub started: Instant,
    stopping: watch::Sender<bool>,
    /// How often the policies were replaced.
    policies: watch::Sender<u64>,
}

/// Settings of the doors that may change while they are open.
#[derive(Clone, Debug)]
pub struct Live {
    pub access: Access,
    /// What supervisors see of arguments.
    pub exposure: Exposure,
    pub body_limit: usize,
    pub waiting: Waiting,
}

/// What an MCP client is offered while its call waits for a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// It waits.
    #[default]
    Block,
    /// Where it can show a form, its user may leave the call pending instead.
    Ask,
}

/// How the policies in force came to be, and why newer ones are not.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyState {
    pub source: String,
    pub loaded_at: Time,
    pub rules: usize,
    /// Why the file as it stands now was refused. The set before it stays in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What an [`App`] is made of.
pub struct Parts {
    pub gate: Arc<Gate>,
    pub backends: Backends,
    pub live: Live,
    pub policy_state: PolicyState,
    pub metrics: Option<PrometheusHandle>,
    pub spans: Option<Spans>,
    pub version: &'static str,
}

impl App {
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            gate: parts.gate,
            mcp: parts.backends.mcp().clone(),
            backends: parts.backends,
            channels: ArcSwap::default(),
            live: ArcSwap::from_pointee(parts.live),
            attempts: Attempts::default(),
            admission: Arc::default(),
            policy_state: ArcSwap::from_pointee(parts.policy_state),
            sessions: Sessions::default(),
            listed: Listed::default(),
            store_probe: StoreProbe::default(),
            record: KeptRecord::default(),
            console: Console::default(),
            fleet: OnceLock::new(),
            instance: OnceLock::new(),
            feed: broadcast::channel(FEED).0,
            metrics: parts.metrics,
            spans: parts.spans,
            version: parts.version,
            run: hex(&random_bytes::<8>()),
            started: Instant::now(),
            stopping: watch::channel(false).0,
            policies: watch::channel(0).0,
        })
    }

    /// Tells everybody who waits that this process is going away.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
        self.gate.close();
    }

    /// Completes when this process is going away.
    pub async fn stopping(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender lives in `self`: waiting on it cannot fail.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// Tells those who listen that other policies are in force.
    pub fn policies_changed(&self) {
        self.policies.send_modify(|count| *count += 1);
    }

    pub(crate) fn policies(&self) -> watch::Receiver<u64> {
        self.policies.subscribe()
    }

    /// Runs what happens by itself, until [`App::stop`].
    pub async fn pump(self: Arc<Self>) {
        let pump = self.gate.clone().pump(self.feed.clone());
        tokio::select! {
            () = pump => {}
            () = self.stopping() => {}
        }
    }
}
