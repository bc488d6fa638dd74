//! `provost serve`: the gateway, until it is told to end.

use std::{io::IsTerminal as _, path::Path};

use crate::{
    config::{self, Config, Fingerprint},
    context::Context,
    exit::Exit,
    gateway::{self, DataFolder, Lifetime, Started},
    output, telemetry,
};

#[derive(clap::Args, Debug)]
pub(crate) struct Args {}

pub(crate) async fn run(context: &Context, _: Args) -> anyhow::Result<Exit> {
    let file = context.config_file();
    let (config, fingerprint) = match &file {
        Some(path) => read(context, path)?,
        None => (context.apply(Config::default()), Fingerprint::default()),
    };
    anyhow::ensure!(
        !config.is_open_to_others(),
        "`auth.open` lets anybody decide: it is refused on {}, which others can reach",
        config.listen
    );
    telemetry::start_logging(&config.telemetry);
    let source = file.as_ref().map_or_else(
        || "embedded defaults".to_owned(),
        |path| path.display().to_string(),
    );
    let folder = if context.is_data_named(&config) {
        DataFolder::Named
    } else {
        DataFolder::Found
    };
    let (data, open, has_policies) = (config.data.clone(), config.auth.open, config.has_policies);
    let mut running = gateway::start(
        config,
        source.clone(),
        telemetry::start_metrics(),
        Lifetime::Lasting(folder),
    )
    .await?;
    running.register(file.as_deref());
    if let Some(path) = file {
        let addr = running.addr;
        let started = Started {
            path,
            read: fingerprint,
            addr,
            has_policies,
        };
        tokio::spawn(gateway::reload_on_change(running.app.clone(), started));
    } else {
        // Not taken up: the folder may be an agent's own, and whoever writes there would write our policy.
        let path = Context::default_config_file();
        tokio::spawn(gateway::name_new_file(running.app.clone(), path));
    }
    if open {
        output::note("warning: auth.open lets anybody on this machine decide, the agents included");
    }
    output::note(format_args!(
        "provost {} listens on http://{}\n  config     {source}\n  data       {}\n  next       provost approvals watch",
        env!("CARGO_PKG_VERSION"),
        running.addr,
        data.display(),
    ));
    // In a log that nobody reads it would only lie around.
    let is_read = running.is_first || std::io::stderr().is_terminal();
    let link = if is_read {
        running.console_link().await
    } else {
        None
    };
    if let Some(link) = link {
        output::note(format_args!(
            "  console    {link}\n             signs in once, within ten minutes; `provost console` prints another"
        ));
    }
    ended().await?;
    tracing::info!("ending: running calls finish, waiting callers are told to come back");
    running.stop().await;
    Ok(Exit::Ok)
}

fn read(context: &Context, path: &Path) -> anyhow::Result<(Config, Fingerprint)> {
    let loaded = config::load(path);
    if !loaded.problems.is_empty() {
        output::note(config::render(&loaded.problems, output::is_colored()).trim_end());
    }
    match loaded.config {
        Some(config) => Ok((context.apply(config), loaded.fingerprint)),
        None => anyhow::bail!("`{}` has errors, nothing was started", path.display()),
    }
}

/// Completes when the process is asked to end.
async fn ended() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}
