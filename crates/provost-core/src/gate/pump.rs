//! What happens by itself: events wake waiting callers, time moves questions on, old records go.
//!
//! Polling is the truth and notification only makes it quick, so a lost wake-up costs a second at most.

use std::{sync::Arc, time::Duration};

use tokio::sync::broadcast;

use crate::{
    approval::{Approval, Status},
    event::Numbered,
    ports::StoreError,
    time::Time,
};

use super::{Gate, GateError, record::approval_row, telemetry};

const POLL: Duration = Duration::from_secs(1);
const PAGE: usize = 500;
/// Looked at in one go: long questions make pages short.
const MOST_PAGES: usize = 100;

impl Gate {
    /// Runs until it is dropped. Every event, from whichever replica, is also sent to `feed`.
    pub async fn pump(self: Arc<Self>, feed: broadcast::Sender<Arc<Numbered>>) {
        let mut wake = self.store.wake();
        let mut last = self.opened_after;
        let mut tick = tokio::time::interval(POLL);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        if let Err(error) = self.release_all().await {
            tracing::warn!(%error, "what grants answer was not looked through");
        }
        loop {
            let ticked = tokio::select! {
                _ = tick.tick() => true,
                woken = wake.recv() => matches!(woken, Err(broadcast::error::RecvError::Lagged(_))),
            };
            if let Err(error) = self.beat(&mut last, &feed, ticked).await {
                tracing::warn!(%error, "the store does not answer, waiting calls stay waiting");
            }
        }
    }

    async fn beat(
        &self,
        last: &mut u64,
        feed: &broadcast::Sender<Arc<Numbered>>,
        ticked: bool,
    ) -> Result<(), GateError> {
        *last = self.publish(*last, feed).await?;
        if ticked {
            self.follow_control().await?;
            self.limits.forget_totals();
            self.wake_settled().await?;
            self.sweep().await?;
        }
        Ok(())
    }

    async fn publish(
        &self,
        mut after: u64,
        feed: &broadcast::Sender<Arc<Numbered>>,
    ) -> Result<u64, StoreError> {
        loop {
            let events = self.store.events(after, PAGE).await?;
            if events
                .iter()
                .any(|numbered| numbered.event.changes_control())
            {
                self.refresh_control().await?;
            }
            let full = events.len() == PAGE;
            for numbered in events {
                after = numbered.id;
                if let Some(about) = numbered.event.about() {
                    self.waiters.wake(&about.approval_id);
                }
                // Nobody listening is fine.
                let _ = feed.send(Arc::new(numbered));
            }
            if !full {
                return Ok(after);
            }
        }
    }

    async fn wake_settled(&self) -> Result<(), StoreError> {
        let ids = self.waiters.ids();
        if ids.is_empty() {
            return Ok(());
        }
        for id in self.store.settled(&ids, self.now()).await? {
            self.waiters.wake(&id);
        }
        Ok(())
    }

    /// Expires what nobody decided, and moves to people what supervisors left.
    pub async fn sweep(&self) -> Result<(), GateError> {
        let now = self.now();
        for _ in 0..MOST_PAGES {
            let overdue = self.store.overdue(now, PAGE).await?;
            if overdue.is_empty() {
                break;
            }
            self.end(overdue, now).await?;
        }
        Ok(())
    }

    async fn end(&self, overdue: Vec<Approval>, now: Time) -> Result<(), GateError> {
        for approval in overdue {
            let id = &approval.question.id;
            if approval.state.status_at(now) == Status::Expired {
                let row = approval_row(&approval, None, now);
                if self.store.expire(id, now, row).await? {
                    telemetry::resolved("expired", now.since(approval.question.created_at));
                }
                self.waiters.wake(id);
            } else {
                self.store.promote(id, now).await?;
            }
        }
        Ok(())
    }
}
