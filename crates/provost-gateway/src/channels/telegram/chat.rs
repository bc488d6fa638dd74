//! Where a question is: the chat it is addressed to, and the message it became.

use std::fmt;

use provost_core::delivery::Delivery;
use serde::Serialize;
use serde_json::{Value, json};

use super::wire::{Chat, Message};

/// A chat as people write it down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum Address {
    Id(i64),
    /// `@name` of a public group or channel.
    Name(String),
}

impl Address {
    pub(super) fn of(delivery: &Delivery) -> Option<Self> {
        Self::named(&delivery.plan.address)
    }

    /// As an address of the channel names it.
    pub(super) fn named(address: &Value) -> Option<Self> {
        match address.get("tg_chat_id")? {
            Value::Number(id) => id.as_i64().map(Self::Id),
            Value::String(text) => match text.trim().parse() {
                Ok(id) => Some(Self::Id(id)),
                Err(_) => text.starts_with('@').then(|| Self::Name(text.clone())),
            },
            _ => None,
        }
    }

    pub(super) fn is(&self, chat: &Chat) -> bool {
        match self {
            Self::Id(id) => *id == chat.id,
            Self::Name(name) => {
                let named = chat.username.as_deref();
                named.is_some_and(|named| name.trim_start_matches('@').eq_ignore_ascii_case(named))
            }
        }
    }
}

/// A message of the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) chat: i64,
    pub(super) message: i64,
}

impl Key {
    pub(super) fn of(message: &Message) -> Self {
        Self {
            chat: message.chat.id,
            message: message.message_id,
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (chat, message) = text.split_once(':')?;
        Some(Self {
            chat: chat.parse().ok()?,
            message: message.parse().ok()?,
        })
    }

    /// As a message that answers this one names it.
    pub(super) fn as_reply(self) -> Value {
        json!({"message_id": self.message, "allow_sending_without_reply": true})
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chat, self.message)
    }
}

#[cfg(test)]
mod tests {
    use provost_core::{
        delivery::{Plan, Purpose},
        ids::{ApprovalId, DeliveryId},
    };

    use super::*;

    fn address(tg_chat_id: Value) -> Option<Address> {
        Address::of(&Delivery {
            id: DeliveryId::random(),
            approval_id: ApprovalId::random(),
            plan: Plan {
                channel: "telegram".into(),
                address: json!({ "tg_chat_id": tg_chat_id }),
                person: None,
                purpose: Purpose::Ask,
                after: std::time::Duration::ZERO,
            },
            shown: None,
            attempts: 0,
        })
    }

    #[test]
    fn a_chat_may_be_a_number_a_text_or_a_name() {
        assert_eq!(address(json!(-100)), Some(Address::Id(-100)));
        assert_eq!(address(json!("-100")), Some(Address::Id(-100)));
        assert_eq!(address(json!("@ops")), Some(Address::Name("@ops".into())));
        for wrong in [json!(1.5), json!(null), json!(""), json!("ops"), json!([1])] {
            assert_eq!(address(wrong.clone()), None, "{wrong}");
        }
    }

    #[test]
    fn a_chat_is_known_by_its_id_or_by_its_name() {
        let chat = |id, username: Option<&str>| Chat {
            id,
            kind: "supergroup".into(),
            username: username.map(Into::into),
        };
        assert!(Address::Id(-1).is(&chat(-1, None)));
        assert!(!Address::Id(-1).is(&chat(1, None)));
        assert!(Address::Name("@Ops".into()).is(&chat(-1, Some("ops"))));
        assert!(!Address::Name("@Ops".into()).is(&chat(-1, None)));
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let key = Key {
            chat: -100,
            message: 7,
        };
        assert_eq!(Key::parse(&key.to_string()), Some(key));
        assert_eq!(Key::parse("7"), None);
    }
}
