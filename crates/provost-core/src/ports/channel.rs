//! A channel: a way to a person.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    card::Card,
    delivery::{Delivery, Shown},
};

#[async_trait]
pub trait Channel: Send + Sync {
    /// Shows a question. It may be shown twice when a crash came in between, and never less than once.
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered>;

    /// Makes what was shown tell what is known now: who has approved, how often it was asked. A channel that
    /// cannot change its messages leaves them.
    async fn update(
        &self,
        _delivery: &Delivery,
        _shown: &Shown,
        _card: &Card,
    ) -> Result<(), Undelivered> {
        Ok(())
    }

    /// Makes what was shown tell how it ended.
    async fn close(
        &self,
        delivery: &Delivery,
        shown: &Shown,
        card: &Card,
    ) -> Result<(), Undelivered>;

    /// Says how many more questions wait for whom this one is for: they are held back for a while.
    async fn digest(&self, _one: &Delivery, _waiting: usize) -> Result<(), Undelivered> {
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undelivered {
    /// To be tried again, not before the time that the other side asked for.
    #[error("{why}")]
    Later {
        why: String,
        after: Option<Duration>,
    },
    /// Trying again is of no use.
    #[error("{why}")]
    Never { why: String },
}
