//! Keeping house: old records go when their time is over, and calls of dead replicas get their outcome.

use std::{sync::Arc, time::Duration};

use provost_gateway::app::App;

use crate::heads::Keeper;

const RECOVER: Duration = Duration::from_mins(1);
const METRICS: Duration = Duration::from_secs(5);
/// Every so many rounds of recovery, records are pruned.
const PRUNE_EVERY: u32 = 60;

/// Runs until the gateway stops.
pub(super) async fn keep(app: Arc<App>, retention: Option<Duration>, keeper: Option<Arc<Keeper>>) {
    let mut tick = tokio::time::interval(RECOVER);
    let mut round = 0_u32;
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = app.stopping() => return,
        }
        if let (0, Some(retention)) = (round % PRUNE_EVERY, retention) {
            prune(&app, retention, keeper.as_deref()).await;
        }
        if round > 0 && app.gate.store().kind() == "postgres" {
            recover(&app).await;
        }
        round = round.wrapping_add(1);
    }
}

/// Folds what was measured into the histograms, so that nothing piles up where nobody reads them.
pub(super) async fn keep_metrics(app: Arc<App>) {
    let mut tick = tokio::time::interval(METRICS);
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = app.stopping() => return,
        }
        if let Some(metrics) = &app.metrics {
            metrics.run_upkeep();
        }
    }
}

async fn prune(app: &App, retention: Duration, keeper: Option<&Keeper>) {
    let now = app.gate.now();
    let before = now.minus(retention);
    let pruned = match keeper {
        Some(keeper) => keeper.prune(app, before, now).await,
        None => app
            .gate
            .store()
            .prune(before, now)
            .await
            .map_err(Into::into),
    };
    match pruned {
        Ok(0) => {}
        Ok(records) => tracing::info!(records, "records older than the retention were pruned"),
        Err(error) => tracing::warn!(%error, "old records could not be pruned"),
    }
}

async fn recover(app: &App) {
    match app.gate.store().recover(app.gate.now()).await {
        Ok(0) => {}
        Ok(calls) => tracing::warn!(
            calls,
            "a replica died: the outcome of its running calls is unknown"
        ),
        Err(error) => tracing::warn!(%error, "calls of dead replicas could not be looked for"),
    }
}
