//! `provost mcp` without a command: the gateway itself as an MCP server over stdio. Lines go to the `/mcp` of
//! the gateway that runs. Where none does, one is started for as long as the client lives, but only on a
//! configuration of the command line: the file of the current folder and the environment may be an agent's, and a
//! configuration names commands.

mod line;
mod speaker;

use std::{
    fs,
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use http::StatusCode;
use tokio::sync::mpsc;

use self::speaker::Speaker;
use super::{END_TIME, Identity, PATIENCE};
use crate::{
    client::{Client, ClientError, Target},
    config::Config,
    context::Context,
    exit::{Exit, usage},
    found_key::FoundKey,
    gateway::{self, DataFolder, Lifetime, Running},
    locate::Located,
    output, telemetry,
};

/// How long a gateway that another client is starting may take.
const JOIN_TIME: Duration = Duration::from_secs(5);
const JOIN_PAUSE: Duration = Duration::from_millis(100);

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
pub(super) fn key(
    context: &Context,
    identity: &Identity,
    located: &Located,
) -> anyhow::Result<FoundKey> {
    if let Some(file) = &identity.key_file {
        let secret = fs::read_to_string(file);
        let secret = secret.with_context(|| format!("cannot read `{}`", file.display()))?;
        return Ok(FoundKey::given(secret));
    }
    if let Some(secret) = context.given_key() {
        return Ok(FoundKey::given(secret));
    }
    let agent = &identity.agent;
    let left = located.agent_key(agent);
    Ok(left.unwrap_or_else(|| FoundKey::given(format!("agent:{agent}"))))
}

/// The gateway that runs; else, on a configuration of the command line, one of our own.
async fn reach(
    context: &Context,
    identity: &Identity,
) -> anyhow::Result<(Client, Option<Running>)> {
    let located = context.gateway().inspect_err(|error| {
        if let Some(ClientError::NotRunning) = error.downcast_ref() {
            output::note("provost: `provost mcp --config FILE` starts a gateway on that file");
        }
    })?;
    let key = key(context, identity, &located)?;
    let away = match running(context, &located, &key).await {
        Ok(client) => {
            output::note(format_args!("provost: the gateway at {}", client.url()));
            return Ok((client, None));
        }
        Err(error) => error,
    };
    let is_away = away
        .downcast_ref::<ClientError>()
        .is_some_and(ClientError::is_unreachable);
    if !is_away || context.global.url.is_some() || !context.global.is_config_typed {
        return Err(away);
    }
    let Some(config) = context.named_config()? else {
        return Err(away);
    };
    let own = match embed(context, config).await {
        Ok(own) => own,
        // Several clients may start at once, and one of them was quicker.
        Err(error) => return join(context, identity).await.ok_or(error),
    };
    let url = format!("http://{}", own.addr);
    output::note(format_args!(
        "provost: {away}; one of our own serves at {url} until this client ends"
    ));
    let client = context.client_to(&url, key.expose())?;
    refuse_decider(&client).await?;
    Ok((client, Some(own)))
}

async fn running(context: &Context, located: &Located, key: &FoundKey) -> anyhow::Result<Client> {
    let client = context.client_as(located, key)?;
    match client.get(Target::new("/health")).await {
        // A gateway that is in trouble is there all the same.
        Ok(_) | Err(ClientError::Refused(_)) => {}
        Err(error) => return Err(error.into()),
    }
    refuse_decider(&client).await?;
    Ok(client)
}

/// What is started here is an agent's to use, and its arguments may stand in a file of the agent's repository: a key
/// that decides would let the agent decide. An agent may not see what waits, so whoever is not refused is no agent.
async fn refuse_decider(client: &Client) -> anyhow::Result<()> {
    let waiting = Target::new("/approvals").query("status", "pending");
    let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
    match client.get(waiting).await {
        Err(ClientError::Refused(refusal)) if refused.contains(&refusal.status) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(usage(
            "this key decides, and `provost mcp` is for agents: make an agent's key with `provost connect mcp`",
        )),
    }
}

/// The gateway that another client started on the same file a moment ago.
async fn join(context: &Context, identity: &Identity) -> Option<(Client, Option<Running>)> {
    let until = Instant::now() + JOIN_TIME;
    loop {
        if let Ok(located) = context.gateway()
            && let Ok(key) = key(context, identity, &located)
            && let Ok(client) = running(context, &located, &key).await
        {
            output::note(format_args!("provost: the gateway at {}", client.url()));
            return Some((client, None));
        }
        if Instant::now() >= until {
            return None;
        }
        tokio::time::sleep(JOIN_PAUSE).await;
    }
}

/// For this machine alone.
async fn embed(context: &Context, mut config: Config) -> anyhow::Result<Running> {
    config.listen = (Ipv4Addr::LOCALHOST, 0).into();
    telemetry::start_logging(&config.telemetry);
    let file = context.global.config.as_deref();
    let source = file.map(|path| path.display().to_string());
    let source = source.unwrap_or_default();
    let mut running =
        gateway::start(config, source, None, Lifetime::Lasting(DataFolder::Named)).await?;
    // People decide what its client asks, and have to find it.
    running.register(file);
    Ok(running)
}
