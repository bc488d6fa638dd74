//! The whole machine: store, gate, backends and doors, put together from a configuration and run.

mod admin_key;
mod data_folder;
mod fleet;
mod keep;
mod people;
mod reload;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use metrics_exporter_prometheus::PrometheusHandle;
use provost_core::{
    gate::{Gate, Settings},
    policy::PolicySet,
    ports::{Clock, Store, SystemClock},
    trace::{kept::Chains, view::Exposure},
};
use provost_gateway::{
    access::Access,
    admission::Room,
    app::{App, Live, Parts, PolicyState},
    backends::{Backends, BackendsConfig},
    console, doors,
    instance::Instance,
    notify, server,
    telemetry::Spans,
    web::Web,
};
use provost_store::StoreConfig;
use tokio::task::JoinHandle;

use crate::{
    config::{Config, Database, read_draft},
    heads::{self, Heads, Keeper},
    locate::reached,
    output,
    registry::{self, Entry, Registration},
};

pub(crate) use reload::{Started, name_new_file, reload_on_change};

/// Fewer open files than this are worth a word.
const FEW_FILES: u64 = 4096;

/// A gateway that serves.
pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    pub(crate) app: Arc<App>,
    /// The key of the data folder, with which this machine's command line comes in.
    pub(crate) admin_key: String,
    /// This is the first start with this data folder.
    pub(crate) is_first: bool,
    keeper: Option<Arc<Keeper>>,
    data: PathBuf,
    registration: Option<Registration>,
    serving: JoinHandle<()>,
}

/// Whether the record outlives its gateway.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// Its heads are kept in the user's folder, and it must be the one that was there before.
    Lasting(DataFolder),
    /// It is thrown away.
    Passing,
}

/// Who says that a data folder is this user's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFolder {
    /// The user, or a file that is trusted.
    Named,
    /// Nobody: it lies in the current folder, which may be somebody else's.
    Found,
}

/// `source` says where the configuration came from, for people to read.
pub(crate) async fn start(
    config: Config,
    source: String,
    metrics: Option<PrometheusHandle>,
    lifetime: Lifetime,
) -> anyhow::Result<Running> {
    let policies = compile(&config)?;
    // Before anything is made: a folder that is gone is not to look like one that was never there.
    let store = store_config(&config);
    if let (Lifetime::Lasting(folder), Ok(heads)) = (lifetime, Heads::of(&config)) {
        heads.look_before(&store).await?;
        if folder == DataFolder::Found {
            data_folder::refuse_unknown(&config, &heads).await?;
        }
    }
    let folder = match lifetime {
        Lifetime::Lasting(folder) => folder,
        Lifetime::Passing => DataFolder::Named,
    };
    data_folder::prepare(&config.data, folder)?;
    // Bound first: a port in use is found out before anything is opened or changed.
    let listener = server::bind(config.listen).with_context(|| {
        format!(
            "cannot listen on {}; is a gateway running there?",
            config.listen
        )
    })?;
    let (store, keeper) = open_store(&config, lifetime).await?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    store.recover(clock.now()).await?;
    let rules = policies.rule_count();
    let gate = Gate::open(
        store,
        clock,
        policies,
        settings(&config),
        config.auth.keys.clone(),
    )
    .await?;
    let admin_key = admin_key::ensure(&config.data, &gate, lifetime).await?;
    let web = Web::new(1 << 20);
    let app = App::new(Parts {
        policy_state: PolicyState {
            source,
            loaded_at: gate.now(),
            rules,
            error: None,
        },
        backends: build_backends(&config).await?,
        live: live(&config),
        spans: spans(&config, &web)?,
        metrics,
        version: env!("CARGO_PKG_VERSION"),
        gate,
    });
    let room = room(&config);
    warn_of_few_files(&room);
    app.admission.set_room(room);
    app.console.read_drafts_by(read_draft);
    people::open(&config, &app, &web).await?;
    start_notifying(&config, &app, web)?;
    app.mcp.start(&app.gate).await;
    if let Some(keeper) = &keeper {
        keeper.keep(&app, Chains::All).await;
        tokio::spawn(heads::follow(app.clone(), keeper.clone()));
    }
    tokio::spawn(app.clone().pump());
    tokio::spawn(keep::keep(app.clone(), config.retention, keeper.clone()));
    tokio::spawn(keep::keep_metrics(app.clone()));
    let addr = listener.local_addr()?;
    // Nobody else puts one in.
    let _ = (app.instance).set(Instance::new(&admin_key.secret, addr));
    fleet::open(&config, &app, addr).await?;
    let router = doors::http::router(&app);
    let serving = tokio::spawn(server::serve(app.clone(), router, listener));
    if let Some(fleet) = app.fleet.get() {
        // They ask this gateway, which answers now.
        fleet.start();
    }
    Ok(Running {
        addr,
        app,
        admin_key: admin_key.secret,
        is_first: admin_key.is_new,
        keeper,
        data: config.data,
        registration: None,
        serving,
    })
}

impl Running {
    /// Where the owner of this machine signs in to the console, once.
    pub(crate) async fn console_link(&self) -> Option<String> {
        let control = self.app.gate.control();
        let key = control.key(&self.admin_key)?;
        let address = reached(self.addr);
        match console::one_time_link(&self.app, key).await {
            Ok(path) => Some(format!("http://{address}{path}")),
            Err(error) => {
                tracing::error!(%error, "no link to the console could be made");
                None
            }
        }
    }

    /// Has the commands of this user find this gateway, from any folder.
    pub(crate) fn register(&mut self, config: Option<&Path>) {
        let absolute = |path: &Path| {
            let real = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
            real.unwrap_or_else(|_| path.to_owned())
        };
        let entry = Entry {
            url: format!("http://{}", reached(self.addr)),
            data: absolute(&self.data),
            folder: std::env::current_dir().unwrap_or_default(),
            config: config.map(absolute),
            pid: std::process::id(),
            started: self.app.gate.now(),
        };
        match registry::register(&entry) {
            Ok(registration) => self.registration = Some(registration),
            Err(error) => output::note(format_args!(
                "warning: other commands find this gateway only with --url {}: {error}",
                entry.url
            )),
        }
    }

    /// Ends in order: no new requests, running calls finish, outcomes are recorded, the store closes.
    pub(crate) async fn stop(mut self) {
        drop(self.registration.take());
        self.app.stop();
        if let Some(fleet) = self.app.fleet.get() {
            fleet.stop();
        }
        if self.serving.await.is_err() {
            tracing::error!("the server ended badly");
        }
        self.app.gate.drain().await;
        self.app.mcp.stop().await;
        if let Some(keeper) = &self.keeper {
            keeper.keep(&self.app, Chains::All).await;
        }
        self.app.gate.store().close().await;
    }
}

/// The store, if it is the one that was there before.
async fn open_store(
    config: &Config,
    lifetime: Lifetime,
) -> anyhow::Result<(Arc<dyn Store>, Option<Arc<Keeper>>)> {
    let place = store_config(config);
    if lifetime == Lifetime::Passing {
        return Ok((open(&place).await?, None));
    }
    let heads = Heads::of(config)?;
    heads.look_before(&place).await?;
    let store = open(&place).await?;
    match Keeper::begin(heads, &*store).await {
        Ok(keeper) => Ok((store, Some(Arc::new(keeper)))),
        Err(error) => {
            store.close().await;
            Err(error)
        }
    }
}

pub(crate) async fn open(config: &StoreConfig) -> anyhow::Result<Arc<dyn Store>> {
    let store = provost_store::open(config).await;
    store.map_err(|error| anyhow::anyhow!("{error}; {}", error.help()))
}

pub(crate) fn store_config(config: &Config) -> StoreConfig {
    match &config.database {
        Database::DataFolder => StoreConfig::Sqlite {
            path: config.data.join("provost.db"),
        },
        Database::Sqlite(path) => StoreConfig::Sqlite { path: path.clone() },
        Database::Postgres(url) => StoreConfig::Postgres {
            url: url.expose().to_owned(),
        },
    }
}

fn compile(config: &Config) -> anyhow::Result<PolicySet> {
    PolicySet::compile(config.policies.clone()).map_err(|errors| {
        let messages: Vec<_> = errors.into_iter().map(|error| error.message).collect();
        anyhow::anyhow!("the policies have errors: {}", messages.join("; "))
    })
}

fn settings(config: &Config) -> Settings {
    let room = room(config);
    let max_waiting = config.max_waiting.min(room.waiting);
    Settings {
        max_waiting,
        max_waiting_per_agent: room.waiting_per_agent.min(max_waiting),
        ..config.gate.clone()
    }
}

/// How much there is room for, by the files that this process may open.
fn room(config: &Config) -> Room {
    Room::of(server::raise_open_files(), config.doors)
}

fn warn_of_few_files(room: &Room) {
    let files = server::raise_open_files();
    if files < FEW_FILES {
        tracing::warn!(
            files,
            requests = room.agents,
            of_one_agent = room.per_agent,
            "few files may be open at once, so few requests of agents can be in progress; raise the limit \
             (`ulimit -n`, `LimitNOFILE=`) for more"
        );
    }
}

fn live(config: &Config) -> Live {
    Live {
        access: Access {
            open: config.auth.open && config.listen.ip().is_loopback(),
            declared_agents: config.auth.declared_agents,
            hosts: config.names(),
        },
        exposure: if config.expose_content {
            Exposure::Everything
        } else {
            Exposure::Structure
        },
        body_limit: config.body_bytes,
        waiting: config.waiting,
    }
}

async fn build_backends(config: &Config) -> anyhow::Result<Backends> {
    let room = room(config);
    let backends = BackendsConfig {
        files: Some(room.backends),
        held_bytes: Some(room.held_bytes),
        ..config.backends.clone()
    };
    let backends = Backends::build(backends).await.map_err(|errors| {
        let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
        anyhow::anyhow!("the backends cannot be built:\n  {}", lines.join("\n  "))
    })?;
    for warning in backends.warnings() {
        tracing::warn!(%warning, "a backend does not answer yet");
    }
    Ok(backends)
}

fn spans(config: &Config, web: &Web) -> anyhow::Result<Option<Spans>> {
    let Some(collector) = &config.telemetry.otlp else {
        return Ok(None);
    };
    Spans::start(collector.expose(), web.clone())
        .map(Some)
        .map_err(|error| anyhow::anyhow!("`telemetry.otlp`: {error}"))
}

fn start_notifying(config: &Config, app: &Arc<App>, web: Web) -> anyhow::Result<()> {
    let Some(url) = &config.notify_url else {
        return Ok(());
    };
    let uri = url
        .expose()
        .parse()
        .context("`approval.notify_url` is not a URL")?;
    web.prepare(&uri)
        .map_err(|error| anyhow::anyhow!("`approval.notify_url`: {error}"))?;
    tokio::spawn(notify::notify(app.clone(), uri, web));
    Ok(())
}
