//! Updates, however they came: each is handled once.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use provost_core::ports::StoreError;
use serde::Deserialize as _;
use serde_json::Value;

use super::{Telegram, chat::Key, speak::Notice, wire::Update};
use crate::channels::Desk;

const REMEMBERED: usize = 1000;
const NOT_RECORDED: &str =
    "Sorry, this could not be recorded. Please look at the question and try again later.";

/// The updates that this process has handled. Telegram sends one again when it doubts that it arrived.
#[derive(Default)]
pub(super) struct Seen(Mutex<VecDeque<i64>>);

impl Telegram {
    /// Decides what the update says, durably, and answers its sender. What cannot be read or decides nothing
    /// is handled, too; after an error the same update is to be given again.
    pub async fn handle_update(&self, desk: &dyn Desk, update: &Value) -> Result<(), StoreError> {
        let Some(update) = read(update) else {
            return Ok(());
        };
        if self.seen.contains(update.update_id) {
            return Ok(());
        }
        if let Some(query) = &update.callback_query {
            self.tapped(desk, query).await?;
        } else if let Some(message) = &update.message {
            self.replied(desk, message).await?;
        }
        self.seen.insert(update.update_id);
        Ok(())
    }

    /// Tells the sender of an update that it came to nothing.
    pub(super) async fn give_up(&self, desk: &dyn Desk, update: &Value) {
        let Some(update) = read(update) else { return };
        if let Some(query) = &update.callback_query {
            self.notice(&query.id, Notice::staying(NOT_RECORDED)).await;
        } else if let Some(message) = &update.message
            && self.known(desk, message.from.as_ref()).is_some()
        {
            self.say(Key::of(message), NOT_RECORDED).await;
        }
    }
}

fn read(update: &Value) -> Option<Update> {
    let read = Update::deserialize(update).ok();
    if read.is_none() {
        let id = update.get("update_id").and_then(Value::as_i64);
        tracing::warn!(update.id = id, "an update of Telegram cannot be read");
    }
    read
}

impl Seen {
    fn contains(&self, id: i64) -> bool {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.contains(&id)
    }

    fn insert(&self, id: i64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push_back(id);
        if seen.len() > REMEMBERED {
            seen.pop_front();
        }
    }
}
