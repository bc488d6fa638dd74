//! What the Bot API sends, as far as it matters here. Fields that are not named are not read.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

/// Around every answer.
#[derive(Deserialize)]
pub(super) struct Envelope {
    pub(super) ok: bool,
    #[serde(default)]
    pub(super) result: Value,
    #[serde(default)]
    pub(super) error_code: Option<u16>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) parameters: Parameters,
}

#[derive(Default, Deserialize)]
pub(super) struct Parameters {
    /// In seconds.
    pub(super) retry_after: Option<u64>,
    /// A group that became a supergroup has another id.
    pub(super) migrate_to_chat_id: Option<i64>,
}

/// Only what we subscribe to: edited messages, channel posts and the like are other fields, and decide
/// nothing.
#[derive(Deserialize)]
pub(super) struct Update {
    pub(super) update_id: i64,
    pub(super) message: Option<Message>,
    pub(super) callback_query: Option<CallbackQuery>,
}

#[derive(Deserialize)]
pub(super) struct CallbackQuery {
    pub(super) id: String,
    pub(super) from: Option<User>,
    /// Missing where the button belongs to an inline message.
    pub(super) message: Option<Message>,
    pub(super) data: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Message {
    #[serde(default)]
    pub(super) message_id: i64,
    pub(super) chat: Chat,
    pub(super) from: Option<User>,
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) entities: Vec<Entity>,
    pub(super) reply_to_message: Option<Box<Message>>,
    sender_chat: Option<IgnoredAny>,
    via_bot: Option<IgnoredAny>,
    forward_origin: Option<IgnoredAny>,
    forward_date: Option<IgnoredAny>,
    forward_from: Option<IgnoredAny>,
    forward_from_chat: Option<IgnoredAny>,
    forward_sender_name: Option<IgnoredAny>,
    is_automatic_forward: Option<IgnoredAny>,
    business_connection_id: Option<IgnoredAny>,
}

/// How a part of a text is formatted. Places are counted in units of UTF-16.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Entity {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) offset: usize,
    #[serde(default)]
    pub(super) length: usize,
}

impl Message {
    /// It is a copy of what was written elsewhere.
    pub(super) fn is_forwarded(&self) -> bool {
        [
            &self.forward_origin,
            &self.forward_date,
            &self.forward_from,
            &self.forward_from_chat,
            &self.forward_sender_name,
            &self.is_automatic_forward,
        ]
        .into_iter()
        .any(Option::is_some)
    }

    /// Its text is somebody else's than the sender's, or its sender is not the one it names.
    pub(super) fn is_second_hand(&self) -> bool {
        self.is_forwarded()
            || self.sender_chat.is_some()
            || self.via_bot.is_some()
            || self.business_connection_id.is_some()
    }
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) id: i64,
    pub(super) is_bot: bool,
}

#[derive(Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    pub(super) username: Option<String>,
}

/// The bot itself.
#[derive(Deserialize)]
pub(super) struct Me {
    pub(super) id: i64,
    #[serde(default)]
    pub(super) username: String,
}

/// A message that was sent.
#[derive(Deserialize)]
pub(super) struct Sent {
    pub(super) message_id: i64,
    pub(super) chat: SentTo,
}

#[derive(Deserialize)]
pub(super) struct SentTo {
    pub(super) id: i64,
}
