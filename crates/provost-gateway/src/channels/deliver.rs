//! Delivering: what is due is shown, told, tried again, and in the end given up. What a crash interrupts is due
//! again when its lease is over.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use provost_core::{
    approval::{Approval, Status},
    card::Card,
    delivery::Delivery,
    people::{FALLBACK, Fallback},
    ports::{Channel, Leased, StoreError, Undelivered},
};
use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

/// How many are under way at once.
const AT_ONCE: usize = 16;
/// Longer than any channel takes.
const LEASE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
/// After that many failures, in a row and over hours, a delivery is given up.
const MOST_ATTEMPTS: u32 = 30;

/// Runs until the gateway stops.
pub async fn deliver(app: Arc<App>) {
    let mut feed = app.feed.subscribe();
    loop {
        match round(&app).await {
            Ok(AT_ONCE) => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the store does not say what is to be delivered"),
        }
        tokio::select! {
            () = app.stopping() => return,
            () = tokio::time::sleep(POLL) => {}
            event = feed.recv() => if matches!(event, Err(RecvError::Closed)) { return },
        }
    }
}

/// Delivers what is due, and says how much that was.
async fn round(app: &App) -> Result<usize, StoreError> {
    let (store, now) = (app.gate.store(), app.gate.now());
    let leased = store
        .lease_deliveries(now, now.plus(LEASE), AT_ONCE)
        .await?;
    let count = leased.len();
    stream::iter(leased)
        .for_each_concurrent(AT_ONCE, |leased| async {
            let id = leased.delivery.id.clone();
            if let Err(error) = one(app, leased).await {
                tracing::warn!(delivery.id = %id, %error, "what became of a delivery was not recorded");
            }
        })
        .await;
    Ok(count)
}

async fn one(app: &App, leased: Leased) -> Result<(), StoreError> {
    let Leased { delivery, approval } = leased;
    if &*delivery.plan.channel == FALLBACK {
        return fall_back(app, &delivery, &approval).await;
    }
    let channels = app.channels.load_full();
    let Some(channel) = channels.get(&delivery.plan.channel) else {
        let why = format!("the channel `{}` is not configured", delivery.plan.channel);
        return failed(app, &delivery, Undelivered::Never { why }).await;
    };
    match carry(app, &**channel, &delivery, &approval).await {
        Ok(()) => Ok(()),
        Err(Failure::Channel(why)) => failed(app, &delivery, why).await,
        Err(Failure::Store(error)) => Err(error),
    }
}

enum Failure {
    Channel(Undelivered),
    Store(StoreError),
}

impl From<Undelivered> for Failure {
    fn from(why: Undelivered) -> Self {
        Self::Channel(why)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

async fn carry(
    app: &App,
    channel: &dyn Channel,
    delivery: &Delivery,
    approval: &Approval,
) -> Result<(), Failure> {
    let (store, now) = (app.gate.store(), app.gate.now());
    let card = Card::of(approval, app.live.load().exposure, now);
    let over = approval.state.status != Status::Pending;
    match &delivery.shown {
        None if card.end.is_some() && !over => {
            // Its time is over, and that is about to be recorded.
            let soon = now.plus(POLL);
            store
                .delivery_failed(&delivery.id, Some(soon), "expired")
                .await?;
        }
        Some(shown) if over => {
            channel.close(delivery, shown, &card).await?;
            store.delivery_closed(&delivery.id).await?;
        }
        Some(_) => store.delivery_closed(&delivery.id).await?,
        None => {
            let shown = channel.show(delivery, &card).await?;
            metrics::counter!("provost_deliveries_total", "channel" => delivery.plan.channel.to_string())
                .increment(1);
            store.delivery_shown(&delivery.id, &shown, now).await?;
        }
    }
    Ok(())
}

async fn fall_back(app: &App, delivery: &Delivery, approval: &Approval) -> Result<(), StoreError> {
    let route = delivery.plan.text("route");
    let fallback = match delivery.plan.text("action") {
        "approved" => Fallback::Approve,
        _ => Fallback::Deny,
    };
    if let Err(error) = app.gate.fall_back(approval, route, fallback).await {
        tracing::warn!(approval.id = %approval.question.id, %error, "a fallback was not decided, it is tried again");
        return Ok(());
    }
    app.gate.store().delivery_closed(&delivery.id).await
}

async fn failed(app: &App, delivery: &Delivery, why: Undelivered) -> Result<(), StoreError> {
    let (store, now) = (app.gate.store(), app.gate.now());
    metrics::counter!("provost_delivery_failures_total", "channel" => delivery.plan.channel.to_string())
        .increment(1);
    let again_at = match &why {
        Undelivered::Later { after, .. } if delivery.attempts < MOST_ATTEMPTS => {
            Some(now.plus(after.unwrap_or_else(|| pause(delivery.attempts))))
        }
        _ => None,
    };
    let (approval, channel) = (&delivery.approval_id, &delivery.plan.channel);
    match again_at {
        Some(_) => {
            tracing::warn!(approval.id = %approval, %channel, error = %why, "not delivered yet");
        }
        None => {
            tracing::error!(approval.id = %approval, %channel, error = %why, "a delivery is given up");
        }
    }
    store
        .delivery_failed(&delivery.id, again_at, &why.to_string())
        .await
}

fn pause(attempts: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1 << attempts.min(16))
        .min(LONGEST_PAUSE)
}
