//! Long polling: the way that needs no public address.

mod backoff;

use std::{future, time::Duration};

use provost_core::ports::StoreError;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::backoff::Backoff;
use super::{Mode, NAME, Telegram, api::GRACE, trouble::Trouble, wire::Me};
use crate::channels::Desk;

/// How often an update is tried when the store fails. Then its sender is told, and the others have their turn.
const TRIES: u32 = 5;
/// Updates that come again are at most that far back.
const REPEATED: i64 = 1000;

/// How long to wait for what.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// For an update to come, in whole seconds.
    pub wait: Duration,
    /// After a first failure. Each further one doubles it.
    pub pause: Duration,
    pub longest_pause: Duration,
    /// Between two looks at whether another replica still polls.
    pub look: Duration,
}

impl Pace {
    /// Longer than one question to Telegram takes, so that no two replicas ever ask at once.
    fn turn(self) -> Duration {
        self.wait + 2 * GRACE
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(25),
            pause: Duration::from_secs(1),
            longest_pause: Duration::from_mins(1),
            look: Duration::from_secs(5),
        }
    }
}

/// How far it has read. Ids go up one by one, but after a quiet week Telegram begins anew with any number: an
/// id far below what was handled is a new one.
struct Progress {
    /// What Telegram is told: all before it is forgotten. Not before something was received, because what was
    /// kept from before a long rest can be beyond all that is to come.
    offset: Option<i64>,
    /// The update after the last that was handled.
    next: Option<i64>,
}

/// One reader of the bot's updates.
struct Poll<'a> {
    telegram: &'a Telegram,
    desk: &'a dyn Desk,
    pace: Pace,
    stop: &'a CancellationToken,
}

impl Telegram {
    /// Reads and handles updates until `stopping` completes; an update in progress is finished first. A bot
    /// has one reader at a time: where there are replicas, one of them has the turn, and another takes it when
    /// that one ends or dies. Where there is a webhook, nobody polls, and this returns at once.
    pub async fn poll(
        &self,
        desk: &dyn Desk,
        pace: Pace,
        stopping: impl Future<Output = ()> + Send,
    ) {
        if let Mode::Webhook { .. } = self.mode {
            return;
        }
        let stop = &CancellationToken::new();
        let poll = Poll {
            telegram: self,
            desk,
            pace,
            stop,
        };
        let watch = async {
            stopping.await;
            stop.cancel();
            future::pending::<()>().await;
        };
        tokio::select! {
            _ = poll.run() => {}
            () = watch => {}
        }
    }
}

impl Poll<'_> {
    /// `None` when it is to stop.
    async fn run(&self) -> Option<()> {
        let me = self.hello().await?;
        let cursor = format!("{NAME}:{}", me.id);
        let ended = self.take_turns(&me, &cursor).await;
        match self.desk.end_turn(&cursor).await {
            Ok(()) | Err(StoreError::Closed) => {}
            Err(error) => tracing::warn!(%error, "the turn at polling Telegram was not given back"),
        }
        ended
    }

    async fn take_turns(&self, me: &Me, cursor: &str) -> Option<()> {
        loop {
            while !self.has_turn(cursor).await? {
                self.rest(self.pace.look).await?;
            }
            tracing::info!(
                bot.id = me.id,
                bot.name = me.username,
                "reading the messages of the Telegram bot"
            );
            self.read(cursor).await?;
            self.telegram.note_reading(None);
            tracing::warn!("another replica reads the messages of the Telegram bot");
        }
    }

    /// Takes or prolongs the turn.
    async fn has_turn(&self, cursor: &str) -> Option<bool> {
        let mut backoff = Backoff::new(self.pace);
        loop {
            match self.desk.take_turn(cursor, self.pace.turn()).await {
                Ok(has) => return Some(has),
                Err(StoreError::Closed) => return None,
                Err(error) => self.rest(backoff.after_store(&error)).await?,
            }
        }
    }

    /// Until the turn is another's.
    async fn read(&self, cursor: &str) -> Option<()> {
        let mut progress = Progress {
            offset: None,
            next: self.read_cursor(cursor).await?,
        };
        let mut backoff = Backoff::new(self.pace);
        loop {
            if !self.has_turn(cursor).await? {
                return Some(());
            }
            let asked = Instant::now();
            let updates = self
                .telegram
                .api
                .get_updates(progress.offset, self.pace.wait);
            let updates = match self.stop.run_until_cancelled(updates).await? {
                Ok(updates) => updates,
                Err(trouble) => {
                    self.telegram.note_reading(Some(&trouble));
                    self.rest(backoff.after(&trouble)).await?;
                    continue;
                }
            };
            self.telegram.note_reading(None);
            backoff.reset();
            let before = progress.offset;
            for update in &updates {
                if !self.has_turn(cursor).await? {
                    return Some(());
                }
                self.take(cursor, update, &mut progress).await?;
            }
            // A server that does not wait, or that repeats itself, is not asked as fast as it answers.
            if progress.offset == before && asked.elapsed() < self.pace.pause {
                self.rest(self.pace.pause).await?;
            }
        }
    }

    /// Learns who the bot is, and takes its updates away from a webhook.
    async fn hello(&self) -> Option<Me> {
        let mut backoff = Backoff::new(self.pace);
        loop {
            let hello = async {
                let me = self.telegram.api.get_me().await?;
                self.telegram.api.delete_webhook().await?;
                Ok::<_, Trouble>(me)
            };
            match self.stop.run_until_cancelled(hello).await? {
                Ok(me) => return Some(me),
                Err(trouble) => {
                    self.telegram.note_reading(Some(&trouble));
                    self.rest(backoff.after(&trouble)).await?;
                }
            }
        }
    }

    async fn read_cursor(&self, name: &str) -> Option<Option<i64>> {
        let mut backoff = Backoff::new(self.pace);
        loop {
            match self.desk.cursor(name).await {
                Ok(cursor) => return Some(cursor.and_then(|cursor| cursor.parse().ok())),
                Err(StoreError::Closed) => return None,
                Err(error) => self.rest(backoff.after_store(&error)).await?,
            }
        }
    }

    /// Handles one update, and only then goes on from it.
    async fn take(&self, cursor: &str, update: &Value, progress: &mut Progress) -> Option<()> {
        let Some(id) = update.get("update_id").and_then(Value::as_i64) else {
            tracing::warn!("an update of Telegram has no id");
            return Some(());
        };
        if self.stop.is_cancelled() {
            return None;
        }
        let next = id.saturating_add(1);
        if !progress.has_handled(id) {
            self.handle(update).await?;
            progress.next = Some(next);
            if let Err(error) = self.desk.set_cursor(cursor, &next.to_string()).await {
                tracing::warn!(%error, "a handled update of Telegram is not marked as such");
            }
        }
        progress.offset = Some(next);
        Some(())
    }

    async fn handle(&self, update: &Value) -> Option<()> {
        let mut backoff = Backoff::new(self.pace);
        for _ in 0..TRIES {
            match self.telegram.handle_update(self.desk, update).await {
                Ok(()) => return Some(()),
                Err(StoreError::Closed) => return None,
                Err(error) => self.rest(backoff.after_store(&error)).await?,
            }
        }
        self.telegram.give_up(self.desk, update).await;
        Some(())
    }

    async fn rest(&self, time: Duration) -> Option<()> {
        self.stop
            .run_until_cancelled(tokio::time::sleep(time))
            .await
    }
}

impl Progress {
    fn has_handled(&self, id: i64) -> bool {
        self.next
            .is_some_and(|next| id < next && id >= next.saturating_sub(REPEATED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_again_is_told_from_what_begins_anew() {
        let handled = |next, id| Progress { offset: None, next }.has_handled(id);
        assert!(!handled(None, 5));
        assert!(handled(Some(6), 5));
        assert!(!handled(Some(6), 6));
        assert!(!handled(Some(900_000_000), 5));
    }
}
