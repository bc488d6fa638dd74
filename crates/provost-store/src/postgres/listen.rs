//! Waking one another: a replica that made events says so after its commit, on another connection. The
//! decision never waits for it, and whoever misses it finds the events by looking.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::Pool;
use futures_util::{StreamExt as _, stream};
use tokio::sync::{Notify, broadcast};
use tokio_postgres::AsyncMessage;

use super::{connect::Connector, fault::Fault};

const MIN_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// Tells the others, once for everything that happened meanwhile.
pub(super) async fn notify_others(pool: Pool, news: Arc<Notify>) {
    loop {
        news.notified().await;
        let Ok(sql) = pool.get().await else { continue };
        if let Err(error) = sql.batch_execute("NOTIFY provost_events").await {
            tracing::debug!(%error, "the other replicas were not told of new events");
        }
    }
}

pub(super) async fn hear_others(connector: Connector, wake: broadcast::Sender<()>) {
    let mut backoff = MIN_BACKOFF;
    loop {
        if let Err(fault) = listen(&connector, &wake, &mut backoff).await {
            tracing::debug!(error = %fault, "cannot listen to the other replicas");
        }
        tokio::time::sleep(backoff).await;
        backoff = (backoff * 2).min(MAX_BACKOFF);
    }
}

/// Until the connection is lost.
async fn listen(
    connector: &Connector,
    wake: &broadcast::Sender<()>,
    backoff: &mut Duration,
) -> Result<(), Fault> {
    let (client, mut connection) = connector.connect_to_listen().await?;
    let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
    let hear = async {
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(_) = message? {
                let _ = wake.send(());
            }
        }
        Ok(())
    };
    let subscribe = async {
        client.batch_execute("LISTEN provost_events").await?;
        *backoff = MIN_BACKOFF;
        // Whatever happened while nobody listened.
        let _ = wake.send(());
        std::future::pending::<Result<(), Fault>>().await
    };
    tokio::select! {
        ended = hear => ended,
        failed = subscribe => failed,
    }
}
