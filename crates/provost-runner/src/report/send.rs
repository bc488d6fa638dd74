//! The tasks of a reporter: the window that closes batches, the chain that posts one report at a time, and the
//! heartbeat beside it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::HeaderMap;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    body::Kind,
    core::Shared,
    outcome::{Backoff, Outcome},
    queue::{Entry, Queue},
    sign::{Signer, Stamp},
};
use crate::web;

pub(super) type Posted = Pin<Box<dyn Future<Output = Result<web::Answer, web::Error>> + Send>>;
/// How signed bytes reach the receiver: over the web, or in a test to the test.
pub(super) type Post = Arc<dyn Fn(HeaderMap, Bytes) -> Posted + Send + Sync>;

/// Everything one attempt needs.
pub(super) struct Sender {
    pub(super) shared: Arc<Shared>,
    pub(super) signer: Arc<Signer>,
    /// The prompt as ids of webhooks name it.
    pub(super) prompt: String,
    pub(super) post: Post,
}

impl Sender {
    async fn attempt(&self, id: &str, body: Bytes) -> (Outcome, Bytes) {
        let Ok(stamp) = Stamp::new(self.shared.clock.millis()) else {
            return (Outcome::Again(None), Bytes::new());
        };
        let headers = self.signer.headers(id, &stamp, &body);
        let answer = (self.post)(headers, body).await;
        if let Err(error) = &answer {
            tracing::debug!(webhook.id = id, %error, "a report got no answer");
        }
        let outcome = Outcome::of(&answer, self.shared.clock.millis());
        (
            outcome,
            answer.map(|answer| answer.body).unwrap_or_default(),
        )
    }

    /// Whether anything may still be posted.
    fn heard(&self, outcome: Outcome, body: &[u8]) -> bool {
        match outcome {
            Outcome::Delivered => self.shared.hear(body),
            Outcome::Unauthorized => {
                tracing::error!(
                    "the callback's receiver does not take the token: nothing is reported any more"
                );
                self.shared.unauthorized.cancel();
                return false;
            }
            Outcome::Refused(_) | Outcome::Again(_) => {}
        }
        true
    }
}

/// Until the reporter is halted or the token is refused.
pub(super) async fn until_stopped(shared: Arc<Shared>, task: impl Future<Output = ()>) {
    tokio::select! {
        () = task => {}
        () = shared.halt.cancelled() => {}
        () = shared.unauthorized.cancelled() => {}
    }
}

/// Until the terminal report is queued. A heartbeat on its way then is given up, so that none comes after it.
pub(super) async fn until_ended(shared: Arc<Shared>, task: impl Future<Output = ()>) {
    tokio::select! {
        () = shared.ended.cancelled() => {}
        () = task => {}
    }
}

/// When it is its turn.
pub(super) async fn in_turn(turn: Option<CancellationToken>, task: impl Future<Output = ()>) {
    if let Some(turn) = turn {
        turn.cancelled().await;
    }
    task.await;
}

/// Flushes what has waited its time.
pub(super) async fn window(shared: Arc<Shared>) {
    loop {
        let due = shared.lock().due();
        match due {
            None => shared.opened.notified().await,
            Some(due) => {
                sleep_until(due).await;
                shared.lock().flush_due(Instant::now());
                shared.queued.notify_one();
            }
        }
    }
}

/// One report after the other, each until it is settled.
pub(super) async fn chain(sender: Sender, backoff: Backoff) {
    loop {
        let next = sender.shared.lock().queue.as_mut().and_then(Queue::next);
        match next {
            None => sender.shared.queued.notified().await,
            Some(entry) => {
                if !deliver(&sender, &entry, backoff).await {
                    return;
                }
                sender.shared.settled.notify_waiters();
            }
        }
    }
}

/// Whether the chain goes on.
async fn deliver(sender: &Sender, entry: &Entry, backoff: Backoff) -> bool {
    let body = match entry.body().await {
        Ok(body) => body,
        Err(error) => {
            tracing::error!(report.sequence = entry.sequence, %error, "a spooled report is lost");
            sender.shared.lock().lost(entry);
            return true;
        }
    };
    let id = format!("{}:{}", sender.prompt, entry.sequence);
    let mut failures = 0;
    loop {
        let (outcome, answer) = sender.attempt(&id, body.clone()).await;
        sender.shared.lock().outcome(entry, outcome);
        if !sender.heard(outcome, &answer) {
            return false;
        }
        let Outcome::Again(asked) = outcome else {
            return true;
        };
        failures += 1;
        sleep(backoff.wait(failures, asked)).await;
    }
}

/// Says that the run lives. One that fails is not sent again: the next one says more.
pub(super) async fn heartbeat(sender: Sender, every: Duration) {
    // A clock that beats never or without a pause would be none.
    let every = every.clamp(Duration::from_millis(1), Duration::from_hours(24));
    let mut beats = interval_at(Instant::now() + every, every);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Not from 1: another process of the same prompt must not repeat an id.
    let first = sender.shared.clock.millis();
    for count in first.. {
        beats.tick().await;
        let now = sender.shared.clock.millis();
        let body = sender.shared.lock().heartbeat(now);
        let Ok(body) = body else { continue };
        let id = format!("{}:heartbeat:{count}", sender.prompt);
        let (outcome, answer) = sender.attempt(&id, body).await;
        if outcome == Outcome::Unauthorized {
            sender.shared.lock().unauthorized(0, Kind::Heartbeat);
        }
        if !sender.heard(outcome, &answer) {
            return;
        }
    }
}
