//! `provost mcp` without a command: the gateway itself as an MCP server over stdio. Lines go to the `/mcp` of
//! the gateway that runs, or, where none does, of one that is started for as long as the client lives.

mod line;
mod speaker;

use std::{fs, net::Ipv4Addr, path::Path, sync::Arc};

use anyhow::Context as _;
use tokio::sync::mpsc;

use self::speaker::Speaker;
use super::{END_TIME, PATIENCE};
use crate::{
    client::{Client, Target},
    context::Context,
    exit::Exit,
    gateway::{self, Running},
    output, telemetry,
};

/// Where `provost connect` leaves the key of MCP clients, and how they are called without one.
const AGENT: &str = "mcp";

pub(super) async fn run(
    context: &Context,
    key_file: Option<&Path>,
    mut lines: mpsc::Receiver<String>,
) -> anyhow::Result<Exit> {
    let secret = secret(context, key_file)?;
    let (client, embedded) = reach(context, &secret).await?;
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
/// connect` leaves, or, from this machine, the agent's name alone.
pub(super) fn secret(context: &Context, key_file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(file) = key_file {
        let secret = fs::read_to_string(file);
        return secret.with_context(|| format!("cannot read `{}`", file.display()));
    }
    if let Some(secret) = context.given_key() {
        return Ok(secret.to_owned());
    }
    let left = context.place().data.join("agents");
    let left = fs::read_to_string(left.join(format!("{AGENT}.key")));
    Ok(left.unwrap_or_else(|_| format!("agent:{AGENT}")))
}

/// The gateway that runs; else, where nobody said which one it is, one of our own.
async fn reach(context: &Context, secret: &str) -> anyhow::Result<(Client, Option<Running>)> {
    let client = context.client_as(secret)?;
    match client.get(Target::new("/health")).await {
        Ok(_) => {
            output::note(format_args!("provost: the gateway at {}", client.url()));
            Ok((client, None))
        }
        Err(error) if error.is_unreachable() && context.global.url.is_none() => {
            let place = client.url().to_owned();
            let running = embed(context).await?;
            let url = format!("http://{}", running.addr);
            output::note(format_args!(
                "provost: no gateway at {place}; one of our own serves at {url} until this client ends"
            ));
            Ok((context.client_to(&url, secret)?, Some(running)))
        }
        Err(error) => Err(error.into()),
    }
}

/// With the same configuration and data, for this machine alone.
async fn embed(context: &Context) -> anyhow::Result<Running> {
    let mut config = context.config()?;
    config.listen = (Ipv4Addr::LOCALHOST, 0).into();
    telemetry::start_logging(&config.telemetry);
    let source = context.config_file().map_or_else(
        || "embedded defaults".to_owned(),
        |path| path.display().to_string(),
    );
    gateway::start(config, source, None).await
}
