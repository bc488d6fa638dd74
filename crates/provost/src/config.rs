//! The configuration: one YAML file, read in one pass that reports every problem with its place.
//!
//! `document` → `node` → `reader` and `fields` → one file per section → [`Config`]. What the file says is
//! checked here; whether the outside answers (databases, backends) is not.

mod agent_tools;
mod ancestor;
mod auth;
mod channels;
mod cli_flags;
mod cli_tools;
mod compile;
mod cover;
mod document;
mod draft;
mod fields;
mod gate;
mod hooks;
mod mcp;
mod node;
mod people;
mod policies;
mod problem;
mod reader;
mod render;
mod runs;
mod secret;
mod server;
#[cfg(test)]
mod tests;
mod tools;
mod values;
mod watch;
mod within;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use provost_core::{
    gate::Settings,
    people::Directory,
    policy::{Policy, PolicySet, Rule, Verdict},
};
use provost_gateway::{admission::Limits, app::Waiting, backends::BackendsConfig, fleet};

pub(crate) use auth::Auth;
pub(crate) use channels::ChannelsConfig;
pub(crate) use draft::read_draft;
pub(crate) use hooks::Unreachable;
pub(crate) use problem::Problem;
pub(crate) use render::{render, to_json};
pub(crate) use secret::{Secret, Unset};
pub(crate) use server::{Database, LogFormat, Telemetry};
pub(crate) use watch::{Fingerprint, Watch};

use auth::ReadAuth;
use fields::{Field, Map};
use gate::Bounds;
use node::{Node, Span};
use policies::{Origin, Policies, PolicyPlace, RulePlace};
use reader::{Environment, Reader};

/// The keys of the top of the file.
const KEYS: [&str; 31] = [
    "listen",
    "port",
    "data",
    "database",
    "hosts",
    "auth",
    "approval",
    "grants",
    "supervisor",
    "hooks",
    "limits",
    "retention",
    "policies",
    "policy_dir",
    "http_tools",
    "openapi",
    "cli_tools",
    "mcp_servers",
    "mcp",
    "people",
    "groups",
    "routes",
    "channels",
    "public_url",
    "runs",
    "telemetry",
    "storage_path",
    "trace_file",
    "otel_endpoint",
    "tls",
    "memory",
];

/// Everything the gateway is told, checked.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data: PathBuf,
    pub(crate) database: Database,
    /// Names by which this gateway is reached, beside its address.
    pub(crate) hosts: Vec<String>,
    pub(crate) auth: Auth,
    pub(crate) gate: Settings,
    /// Whether supervisors see what calls hold.
    pub(crate) expose_content: bool,
    /// What agents' hooks answer when they cannot ask the gateway.
    pub(crate) unreachable: Unreachable,
    /// Told of each new question.
    pub(crate) notify_url: Option<Secret>,
    /// How long traces are kept; `None`: for ever.
    pub(crate) retention: Option<Duration>,
    /// The largest body of a request.
    pub(crate) body_bytes: usize,
    /// How many callers may wait for decisions at once.
    pub(crate) max_waiting: usize,
    /// How much of everything one agent or address may have in progress.
    pub(crate) doors: Limits,
    pub(crate) policies: Vec<Policy>,
    /// Whether the file says anything of policies; if not, they are the embedded ones.
    pub(crate) has_policies: bool,
    pub(crate) backends: BackendsConfig,
    /// What MCP clients are offered while a call waits.
    pub(crate) waiting: Waiting,
    pub(crate) channels: ChannelsConfig,
    /// Who is asked about what.
    pub(crate) people: Directory,
    pub(crate) telemetry: Telemetry,
    /// The agents that may be run here; `None`: none.
    pub(crate) runs: Option<fleet::Settings>,
}

/// What came of reading a file.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// `None` if there is any error.
    pub(crate) config: Option<Config>,
    pub(crate) problems: Vec<Problem>,
    /// Of all files that were read, just before they were: what [`Watch`] starts from.
    pub(crate) fingerprint: Fingerprint,
    policy_set: Option<PolicySet>,
}

impl Default for Config {
    /// Without a file: SQLite in the data folder, and everything asks a person.
    fn default() -> Self {
        let bounds = Bounds::default();
        Self {
            listen: server::default_listen(),
            data: server::DEFAULT_DATA.into(),
            database: Database::DataFolder,
            hosts: Vec::new(),
            auth: Auth::default(),
            gate: Settings::default(),
            expose_content: true,
            unreachable: Unreachable::default(),
            notify_url: None,
            retention: None,
            body_bytes: bounds.body_bytes,
            max_waiting: bounds.max_waiting,
            doors: bounds.doors,
            policies: vec![everything_asks()],
            has_policies: false,
            backends: BackendsConfig::default(),
            waiting: Waiting::default(),
            channels: ChannelsConfig::default(),
            people: Directory::default(),
            telemetry: Telemetry::default(),
            runs: None,
        }
    }
}

impl Config {
    /// What people reach it by, besides its address.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.hosts, &self.channels)
    }

    /// Whether anybody who reaches the gateway could decide: to be asked again where a flag changes `listen`.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.auth.open && !self.listen.ip().is_loopback()
    }
}

impl Loaded {
    pub(crate) fn has_errors(&self) -> bool {
        self.config.is_none()
    }

    /// The compiled policies, once; `None` if there is any error.
    pub(crate) fn policy_set(&mut self) -> Option<PolicySet> {
        self.policy_set.take()
    }

    /// The configuration file, its `policy_dir` and the files of that.
    #[cfg(test)]
    pub(crate) fn watched_files(&self) -> Vec<PathBuf> {
        self.fingerprint.paths()
    }
}

/// Reads a configuration and everything it refers to.
pub(crate) fn load(path: &Path) -> Loaded {
    load_with(path, &|name| std::env::var(name).ok())
}

/// As [`load`], for looking at a configuration that nothing is started with.
pub(crate) fn load_to_check(path: &Path, unset: Unset) -> Loaded {
    load_from(path, &|name| std::env::var(name).ok(), unset)
}

fn load_with(path: &Path, environment: Environment<'_>) -> Loaded {
    load_from(path, environment, Unset::Error)
}

fn load_from(path: &Path, environment: Environment<'_>, unset: Unset) -> Loaded {
    let mut reader = Reader::new(path, environment);
    reader.unset = unset;
    let root = reader.open(path);
    let read = root.as_ref().and_then(|root| reader.read_top(root));
    let failed = reader.error_count() > 0;
    let (config, policy_set) = read.filter(|_| !failed).unzip();
    let (problems, fingerprint) = reader.finish();
    Loaded {
        config,
        problems,
        fingerprint,
        policy_set,
    }
}

impl Reader<'_> {
    fn read_top(&mut self, root: &Node) -> Option<(Config, PolicySet)> {
        let known: Vec<&'static str> = KEYS.into_iter().chain(ancestor::LATER).collect();
        let top = if root.is_null() {
            Map::empty(root)
        } else {
            self.map(Field::new("", root), &known)?
        };
        self.read_ancestor(&top);
        self.refuse_later(&top);
        let listen = self.read_listen(&top);
        let auth = self.read_auth(&top, listen);
        let errors = self.error_count();
        let mut policies = self.read_policies(&top);
        let backends = self.read_backends(&top, &mut policies);
        let sound = self.error_count() == errors;
        match top.key_span("policies").or(top.key_span("policy_dir")) {
            None => policies.push_embedded(root.head()),
            Some(span) if policies.policies.is_empty() && sound => {
                self.warn(
                    span,
                    "there is no policy: every call is denied",
                    "add a policy, or remove the key: without it, everything asks a person",
                );
            }
            Some(_) => {}
        }
        self.check_policy_names(&policies);
        let policy_set = self.compile(&policies);
        if let Some(set) = policy_set.as_ref().filter(|_| sound) {
            self.lint(set, &policies, &auth);
            self.lint_agent_tools(&policies, &backends);
            self.lint_cli_flags(&policies, &backends);
        }
        let config = self.read_rest(&top, listen, auth, policies, backends);
        Some((config, policy_set?))
    }

    fn read_backends(&mut self, top: &Map<'_>, policies: &mut Policies) -> BackendsConfig {
        let mut backends = BackendsConfig {
            http_tools: self.read_http_tools(top),
            openapi: self.read_openapi(top),
            cli_tools: self.read_cli_tools(top, policies),
            ..BackendsConfig::default()
        };
        backends.mcp_servers = self.read_mcp_servers(top, &backends);
        backends
    }

    fn read_rest(
        &mut self,
        top: &Map<'_>,
        listen: SocketAddr,
        auth: ReadAuth,
        policies: Policies,
        backends: BackendsConfig,
    ) -> Config {
        let approval = self.read_approval(top);
        let bounds = self.read_limits(top);
        let mut gate = approval.settings;
        gate.repeat = bounds.repeat;
        gate.max_waiting = bounds.max_waiting;
        let channels = self.read_channels(top);
        let people = self.read_people(top, &channels, gate.timeout);
        self.check_tied(&auth, &people);
        self.lint_untied(&auth, &people);
        let hosts = self.read_hosts(top);
        self.check_declared(&auth, &names(&hosts, &channels));
        gate.max_grant = self.read_grants(top).unwrap_or(gate.max_grant);
        Config {
            listen,
            data: self.read_data(top),
            database: self.read_database(top),
            hosts,
            auth: auth.auth,
            gate,
            expose_content: self.read_supervisor(top, policies.ask_supervisors()),
            unreachable: self.read_hooks(top),
            notify_url: approval.notify_url,
            retention: self.read_retention(top),
            body_bytes: bounds.body_bytes,
            max_waiting: bounds.max_waiting,
            doors: bounds.doors,
            policies: policies.policies,
            has_policies: top
                .key_span("policies")
                .or(top.key_span("policy_dir"))
                .is_some(),
            backends,
            waiting: self.read_waiting(top),
            people,
            channels,
            telemetry: self.read_telemetry(top),
            runs: self.read_runs(top),
        }
    }
}

impl Policies {
    /// Where no policy is written at all. Last, so that what tools say of themselves comes before.
    fn push_embedded(&mut self, place: Span) {
        let rules = vec![RulePlace {
            rule: place,
            tools: vec![place],
            when: None,
        }];
        self.push(
            everything_asks(),
            PolicyPlace {
                name: place,
                agent: place,
                rules,
                origin: Origin::Implied,
            },
        );
    }
}

fn names(hosts: &[String], channels: &ChannelsConfig) -> Vec<String> {
    let public = channels.public_url.as_deref();
    let uri = public.and_then(|url| url.parse::<http::Uri>().ok());
    let host = uri.as_ref().and_then(http::Uri::host).map(str::to_owned);
    hosts.iter().cloned().chain(host).collect()
}

fn everything_asks() -> Policy {
    Policy {
        name: "default".into(),
        agent: "*".to_owned(),
        rate_limit: None,
        rules: vec![Rule {
            tools: vec!["*".to_owned()],
            action: Verdict::HumanApproval,
            when: None,
            condition: None,
        }],
    }
}
