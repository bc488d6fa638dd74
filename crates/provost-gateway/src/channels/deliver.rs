//! Delivering: what is due is shown, told, tried again, and in the end given up. What a crash interrupts is due
//! again when its lease is over.

mod again;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::{
    approval::{Approval, Kind, Status},
    card::Card,
    delivery::{Delivery, Shown},
    heavy::{self, Lane},
    people::{CONSOLE, Fallback, Waiting},
    ports::{Channel, Leased, Store, StoreError, Undelivered},
    time::Time,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast::error::RecvError};

use self::again::{Next, next};
use super::brake::{Brake, Digest};
use crate::app::App;

/// How many are under way at once on one channel.
const AT_ONCE: usize = 16;
/// The channels whose every message disturbs somebody.
const DISTURBING: [&str; 2] = ["telegram", "email"];
/// Longer than any channel takes.
const LEASE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_secs(1);
/// When a channel has all it can do is looked at again.
const BUSY: Duration = Duration::from_secs(5);

/// Runs until the gateway stops.
pub async fn deliver(app: Arc<App>) {
    let mut feed = app.feed.subscribe();
    let porter = Arc::new(Porter::new(app.clone()));
    loop {
        match porter.round().await {
            Ok(AT_ONCE) => continue,
            Ok(_) => porter.tell_of_the_rest(),
            Err(error) => tracing::warn!(%error, "the store does not say what is to be delivered"),
        }
        tokio::select! {
            () = app.stopping() => return,
            () = tokio::time::sleep(POLL) => {}
            event = feed.recv() => if matches!(event, Err(RecvError::Closed)) { return },
        }
    }
}

struct Porter {
    app: Arc<App>,
    brake: Mutex<Brake>,
    /// A channel that hangs keeps none of the others.
    places: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

impl Porter {
    fn new(app: Arc<App>) -> Self {
        Self {
            app,
            brake: Mutex::default(),
            places: Mutex::default(),
        }
    }

    /// Sets about what is due, and says how much that was.
    async fn round(self: &Arc<Self>) -> Result<usize, StoreError> {
        let (store, now) = (self.app.gate.store(), self.app.gate.now());
        let leased = store
            .lease_deliveries(now, now.plus(LEASE), AT_ONCE)
            .await?;
        let count = leased.len();
        for leased in leased {
            let Some(place) = self.place(&leased.delivery.plan.channel) else {
                let later = now.plus(BUSY);
                store.postpone_delivery(&leased.delivery.id, later).await?;
                continue;
            };
            let porter = self.clone();
            tokio::spawn(async move {
                porter.take(leased).await;
                drop(place);
            });
        }
        Ok(count)
    }

    fn place(&self, channel: &Arc<str>) -> Option<OwnedSemaphorePermit> {
        let mut places = lock(&self.places);
        let of_channel = places
            .entry(channel.clone())
            .or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)));
        of_channel.clone().try_acquire_owned().ok()
    }

    async fn take(&self, leased: Leased) {
        let id = leased.delivery.id.clone();
        if let Err(error) = self.one(leased).await {
            tracing::warn!(delivery.id = %id, %error, "what became of a delivery was not recorded");
        }
    }

    /// One message to each for whom something is held back.
    fn tell_of_the_rest(&self) {
        let digests = lock(&self.brake).digests(self.app.gate.now());
        for Digest { delivery, waiting } in digests {
            let channels = self.app.channels.load_full();
            let Some(channel) = channels.get(&delivery.plan.channel).cloned() else {
                continue;
            };
            tokio::spawn(async move {
                if let Err(error) = channel.digest(&delivery, waiting).await {
                    tracing::warn!(%error, waiting, "somebody was not told how much waits for them");
                }
            });
        }
    }

    async fn one(&self, leased: Leased) -> Result<(), StoreError> {
        let (app, Leased { delivery, approval }) = (&*self.app, leased);
        if let Some(fallback) = Fallback::of(&delivery.plan) {
            return fall_back(app, &delivery, &approval, fallback).await;
        }
        if &*delivery.plan.channel == CONSOLE {
            return app.gate.store().delivery_closed(&delivery.id).await;
        }
        let channels = app.channels.load_full();
        let Some(channel) = channels.get(&delivery.plan.channel) else {
            let why = format!("the channel `{}` is not configured", delivery.plan.channel);
            return failed(app, &delivery, Undelivered::Never { why }).await;
        };
        let news = approval.state.status == Status::Pending || is_notice(&approval);
        let asks = delivery.shown.is_none() && news;
        if asks && let Some(until) = quiet_until(app, &delivery, &approval) {
            let store = app.gate.store();
            return store.postpone_delivery(&delivery.id, until).await;
        }
        if asks && !is_test(&approval) && DISTURBING.contains(&&*delivery.plan.channel) {
            let until = lock(&self.brake).hold(&delivery, app.gate.now());
            if let Some(until) = until {
                return app
                    .gate
                    .store()
                    .postpone_delivery(&delivery.id, until)
                    .await;
            }
        }
        let name = &delivery.plan.channel;
        match carry(app, &**channel, &delivery, &approval).await {
            Ok(()) => {
                channels.standings.delivered(&delivery.plan);
                Ok(())
            }
            Err(Failure::Channel(why)) => {
                match &why {
                    Undelivered::Later { .. } => {
                        channels.standings.failed(name, app.gate.now());
                    }
                    Undelivered::Never { why } if asks => {
                        channels.standings.refused(&delivery.plan, why);
                    }
                    Undelivered::Never { .. } => channels.standings.doubted.notify_one(),
                }
                failed(app, &delivery, why).await
            }
            Err(Failure::Store(error)) => Err(error),
        }
    }
}

/// Until when somebody is left alone. The plan was made with the question, and a supervisor may have kept it
/// until their hours were over. Whom an agent names is asked at once.
fn quiet_until(app: &App, delivery: &Delivery, approval: &Approval) -> Option<Time> {
    let person = delivery.plan.person.as_deref()?;
    let routed = approval.question.request.is_none() && !is_test(approval);
    let people = app.gate.people();
    routed.then(|| people.quiet_until(person, app.gate.now()))?
}

/// Somebody waits for it in front of a screen.
fn is_test(approval: &Approval) -> bool {
    approval.question.kind == Kind::Test
}

fn is_notice(approval: &Approval) -> bool {
    approval.question.kind == Kind::Notice
}

/// A thread that panicked left nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let (exposure, longest) = (app.live.load().exposure, app.gate.settings().max_grant);
    let card = || Card::of(approval, exposure, longest, now);
    let mut card = heavy::run(Lane::Deciders, approval.question.bytes(), card).await;
    if card.end.is_none() {
        let prospects = Prospects::of(&**store, approval, now).await?;
        card.fallback = prospects.fallback;
        card.waiting = Some(prospects.waiting);
        let person = delivery.plan.person.as_deref();
        if person.is_some_and(|person| approval.state.has_approved(Some(person), "")) {
            card = card.for_voter();
        }
    }
    let over = approval.state.status != Status::Pending;
    match &delivery.shown {
        None if card.end.is_some() && !over => {
            // Its time is over, and that is about to be recorded.
            store
                .postpone_delivery(&delivery.id, now.plus(POLL))
                .await?;
        }
        // Whoever has approved is not asked again, and not reminded.
        None if card.voted => store.delivery_closed(&delivery.id).await?,
        Some(shown) if over => {
            channel.close(delivery, shown, &card).await?;
            store.delivery_closed(&delivery.id).await?;
        }
        Some(shown) => {
            update(channel, delivery, shown, &card).await?;
            store.delivery_shown(&delivery.id, shown, now).await?;
        }
        None => {
            let shown = channel.show(delivery, &card).await?;
            metrics::counter!("provost_deliveries_total", "channel" => delivery.plan.channel.to_string())
                .increment(1);
            store.delivery_shown(&delivery.id, &shown, now).await?;
            // What was told has no end to tell.
            if is_notice(approval) {
                store.delivery_closed(&delivery.id).await?;
            }
        }
    }
    Ok(())
}

/// What comes of a question that nobody answers.
pub(crate) struct Prospects {
    /// What is decided then.
    pub(crate) fallback: Option<Fallback>,
    /// Who is asked now, and who next.
    pub(crate) waiting: Waiting,
}

impl Prospects {
    pub(crate) async fn of(
        store: &dyn Store,
        approval: &Approval,
        now: Time,
    ) -> Result<Self, StoreError> {
        let all = store.deliveries(&approval.question.id).await?;
        let plans = all.iter().map(|one| &one.delivery.plan);
        // Routes are for calls.
        let routed = approval.question.request.is_none();
        Ok(Self {
            waiting: Waiting::of(approval, plans.clone(), now),
            fallback: plans.filter(|_| routed).find_map(Fallback::of),
        })
    }
}

/// A message that cannot be changed is still there to be closed.
async fn update(
    channel: &dyn Channel,
    delivery: &Delivery,
    shown: &Shown,
    card: &Card,
) -> Result<(), Undelivered> {
    match channel.update(delivery, shown, card).await {
        Err(Undelivered::Never { why }) => {
            tracing::debug!(delivery.id = %delivery.id, why, "what was shown is left as it is");
            Ok(())
        }
        updated => updated,
    }
}

async fn fall_back(
    app: &App,
    delivery: &Delivery,
    approval: &Approval,
    fallback: Fallback,
) -> Result<(), StoreError> {
    let route = delivery.plan.text("route");
    if let Err(error) = app.gate.fall_back(approval, route, fallback).await {
        tracing::warn!(approval.id = %approval.question.id, %error, "a fallback was not decided, it is tried again");
        let soon = app.gate.now().plus(POLL);
        return app.gate.store().postpone_delivery(&delivery.id, soon).await;
    }
    app.gate.store().delivery_closed(&delivery.id).await
}

async fn failed(app: &App, delivery: &Delivery, why: Undelivered) -> Result<(), StoreError> {
    let (store, now) = (app.gate.store(), app.gate.now());
    metrics::counter!("provost_delivery_failures_total", "channel" => delivery.plan.channel.to_string())
        .increment(1);
    let (approval, channel) = (&delivery.approval_id, &delivery.plan.channel);
    let again_at = match next(delivery, &why) {
        Next::Wait(wait) => {
            tracing::debug!(delivery.id = %delivery.id, %why, "told to wait");
            return store.postpone_delivery(&delivery.id, now.plus(wait)).await;
        }
        Next::Again(pause) => {
            tracing::warn!(approval.id = %approval, %channel, error = %why, "not delivered yet");
            Some(now.plus(pause))
        }
        Next::GiveUp => {
            tracing::error!(approval.id = %approval, %channel, error = %why, "a delivery is given up");
            None
        }
    };
    store
        .delivery_failed(&delivery.id, again_at, &why.to_string())
        .await
}
