//! `provost mcp` without a command: the gateway itself as an MCP server over stdio. Lines go to the `/mcp` of
//! the gateway that runs. Where none does, one is started for as long as the client lives, but only on a
//! configuration that somebody named: the file of the current folder may be an agent's, and names commands.

mod line;
mod speaker;

use std::{fs, net::Ipv4Addr, sync::Arc};

use anyhow::Context as _;
use tokio::sync::mpsc;

use self::speaker::Speaker;
use super::{END_TIME, Identity, PATIENCE};
use crate::{
    client::{Client, ClientError, Target},
    config::Config,
    context::Context,
    exit::Exit,
    gateway::{self, Lifetime, Running},
    locate::Located,
    output, telemetry,
};

pub(super) async fn run(
    context: &Context,
    identity: &Identity,
    mut lines: mpsc::Receiver<String>,
) -> anyhow::Result<Exit> {
    let (client, embedded) = reach(context, identity).await?;
    let speaker = Arc::new(Speaker::new(client.patient(PATIENCE)));
    while let Some(line) = lines.recv().await {
        let line = line.trim();
        if !line.is_empty() {
            speaker.hear(line).await;
        }
    }
    // What is asked and answered at once is still answered; nobody is left to wait for more.
    let _ = tokio::time::timeout(END_TIME, speaker.finish()).await;
    speaker.end().await;
    if let Some(embedded) = embedded {
        embedded.stop().await;
    }
    Ok(Exit::Ok)
}

/// The agent's, never the admin's: of the file that was named, of the environment, of the file that `provost
/// connect` leaves in the gateway's data folder, or, from this machine, the agent's name alone.
pub(super) fn secret(
    context: &Context,
    identity: &Identity,
    located: &Located,
) -> anyhow::Result<String> {
    if let Some(file) = &identity.key_file {
        let secret = fs::read_to_string(file);
        return secret.with_context(|| format!("cannot read `{}`", file.display()));
    }
    if let Some(secret) = context.given_key() {
        return Ok(secret.to_owned());
    }
    let agent = &identity.agent;
    let left = located.agent_key(agent);
    Ok(left.unwrap_or_else(|| format!("agent:{agent}")))
}

/// The gateway that runs; else, on a configuration that was named, one of our own.
async fn reach(
    context: &Context,
    identity: &Identity,
) -> anyhow::Result<(Client, Option<Running>)> {
    let located = context.gateway().inspect_err(|error| {
        if let Some(ClientError::NotRunning) = error.downcast_ref() {
            output::note("provost: `provost mcp --config FILE` starts a gateway on that file");
        }
    })?;
    let secret = secret(context, identity, &located)?;
    let client = context.client_as(&located, &secret)?;
    match client.get(Target::new("/health")).await {
        Ok(_) => {
            output::note(format_args!("provost: the gateway at {}", client.url()));
            Ok((client, None))
        }
        Err(error) if error.is_unreachable() && context.global.url.is_none() => {
            let Some(config) = context.named_config()? else {
                return Err(error.into());
            };
            let running = embed(context, config).await?;
            let url = format!("http://{}", running.addr);
            output::note(format_args!(
                "provost: no gateway at {}; one of our own serves at {url} until this client ends",
                client.url()
            ));
            Ok((context.client_to(&url, &secret)?, Some(running)))
        }
        Err(error) => Err(error.into()),
    }
}

/// For this machine alone.
async fn embed(context: &Context, mut config: Config) -> anyhow::Result<Running> {
    config.listen = (Ipv4Addr::LOCALHOST, 0).into();
    telemetry::start_logging(&config.telemetry);
    let file = context.global.config.as_deref();
    let source = file.map(|path| path.display().to_string());
    let source = source.unwrap_or_default();
    let mut running = gateway::start(config, source, None, Lifetime::Lasting).await?;
    // People decide what its client asks, and have to find it.
    running.register(file);
    Ok(running)
}
