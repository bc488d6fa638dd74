//! The desk: where what people send back on a channel is decided, whatever the channel.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use provost_core::{
    card::Card,
    delivery::Delivery,
    ids::{ApprovalId, DeliveryId},
    menu::Reply,
    ports::StoreError,
};
use serde_json::Value;

/// Who sent a reply, once the channel knows that they did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Their name in `people`; else the channel and how it names them, such as `telegram:42`.
    pub name: Arc<str>,
    /// The channel's name.
    pub via: Arc<str>,
}

/// What became of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    Decided(Box<Card>),
    /// A yes, and more people are needed.
    Counted(Box<Card>),
    /// Somebody was first, or its time is over.
    Already(Box<Card>),
    /// The reply does not fit this question: why, in words for the sender.
    AskAgain(String),
    /// The sender may not decide this: why, in words for the sender.
    Refused(String),
    NotFound,
}

#[async_trait]
pub trait Desk: Send + Sync {
    /// The person who has that address on that channel.
    fn person(&self, channel: &str, address: &Value) -> Option<Arc<str>>;

    /// By the id that its buttons and links carry.
    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// By the key that the channel gave it when it was shown.
    async fn shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>, StoreError>;

    /// All of an approval on that channel, the first one first. A channel whose people may answer by naming
    /// the approval, or that keeps its messages together, looks here.
    async fn deliveries_of(
        &self,
        channel: &str,
        approval: &ApprovalId,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Decides, durably. The channel has checked that the sender is who was asked.
    async fn reply(
        &self,
        delivery: &Delivery,
        sender: &Sender,
        reply: Reply,
    ) -> Result<Answered, StoreError>;

    /// The question as it is now, with what can be chosen from the menu. `None` where it is gone.
    async fn card(&self, delivery: &Delivery) -> Result<Option<Card>, StoreError>;

    /// How far a channel has read.
    async fn cursor(&self, name: &str) -> Result<Option<String>, StoreError>;

    async fn set_cursor(&self, name: &str, value: &str) -> Result<(), StoreError>;

    /// Takes or prolongs this process's turn at what one replica does at a time. `false` while another has it.
    async fn take_turn(&self, name: &str, time: Duration) -> Result<bool, StoreError>;

    /// Lets another have its turn.
    async fn end_turn(&self, name: &str) -> Result<(), StoreError>;

    /// Random bytes of that name: the same after every start and on every replica.
    async fn secret(&self, name: &str) -> Result<[u8; 32], StoreError>;
}
