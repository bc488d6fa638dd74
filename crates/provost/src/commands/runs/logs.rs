//! `provost runs logs`: the journal of a run, as the gateway tells it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode};
use provost_runner::journal::Line;

use super::resolve;
use crate::{
    client::{Client, ClientError, Events, Target},
    commands::run::Player,
    context::Context,
    exit::Exit,
    output,
};

/// Before a lost connection is tried again.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn run(
    context: &Context,
    client: &Client,
    id: &str,
    follow: bool,
) -> anyhow::Result<Exit> {
    let id = resolve(client, id).await?;
    let mut player = Player::new(context.json());
    let mut last: Option<String> = None;
    loop {
        let Some(mut events) = open(client, &id, follow, last.as_deref()).await? else {
            break;
        };
        while let Some(message) = events.message().await {
            last = message.id.or(last);
            if let Ok(line) = Line::parse(0, message.data) {
                player.line(&line)?;
            }
        }
        if !follow {
            break;
        }
    }
    player.end()?;
    Ok(Exit::Ok)
}

/// `None`: the run has ended, and everything was told.
async fn open(
    client: &Client,
    id: &str,
    follow: bool,
    last: Option<&str>,
) -> anyhow::Result<Option<Events>> {
    let target = Target::new("/v1/runs").step(id).step("events");
    let target = target.query_some("follow", (!follow).then_some("false"));
    let header = last.and_then(|id| HeaderValue::from_str(id).ok());
    let headers: Vec<_> = header.map(|id| ("last-event-id", id)).into_iter().collect();
    loop {
        let sent = client
            .raw(Method::GET, target.clone(), &headers, Bytes::new())
            .await;
        match sent {
            Ok(response) if response.status() == StatusCode::NO_CONTENT => return Ok(None),
            Ok(response) if response.status().is_success() => {
                return Ok(Some(Events::new(response.into_body())));
            }
            // Asked once more, for the reason.
            Ok(_) => {
                client.get(Target::new("/v1/runs").step(id)).await?;
                anyhow::bail!("the gateway does not tell what happens in this run");
            }
            Err(error) if last.is_some() && error.exit() == Exit::Unreachable => wait(&error).await,
            Err(error) => return Err(error.into()),
        }
    }
}

async fn wait(error: &ClientError) {
    output::note(format_args!(
        "the connection to the gateway was lost ({error}); trying again"
    ));
    tokio::time::sleep(PAUSE).await;
}
