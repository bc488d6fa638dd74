//! Who sent something, and whether they may decide a question.

use std::sync::Arc;

use provost_core::delivery::{Delivery, Purpose};
use serde_json::json;

use super::{
    NAME, Telegram,
    chat::Address,
    wire::{Chat, User},
};
use crate::channels::{Desk, Sender};

/// Somebody who may decide something.
pub(super) struct Known {
    pub(super) id: i64,
    pub(super) sender: Sender,
    person: Option<Arc<str>>,
    /// Whether they are on the list of those who may decide whatever is asked here.
    listed: bool,
}

/// Why somebody known may not decide a question after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTheirs {
    /// It was not asked here, and nothing more is told.
    Elsewhere,
    SomebodyElses,
}

impl Telegram {
    pub(super) fn known(&self, desk: &dyn Desk, from: Option<&User>) -> Option<Known> {
        let user = from.filter(|user| !user.is_bot)?;
        let person = desk.person(NAME, &json!({"tg_user_id": user.id}));
        let listed = self.allow.load().contains(&user.id);
        if !listed && person.is_none() {
            tracing::info!(
                telegram.user = user.id,
                "somebody who is not on `channels.telegram.allow` wrote to the bot"
            );
            return None;
        }
        let unnamed = || format!("{NAME}:{}", user.id).into();
        let name = person.clone().unwrap_or_else(unnamed);
        Some(Known {
            id: user.id,
            sender: Sender {
                name,
                via: NAME.into(),
            },
            person,
            listed,
        })
    }
}

impl Known {
    /// Both the chat and the user are checked: a group has members who were not asked, and a member can make
    /// a client send whatever button it likes.
    pub(super) fn may_decide(&self, delivery: &Delivery, chat: &Chat) -> Result<(), NotTheirs> {
        let plan = &delivery.plan;
        let asked = &*plan.channel == NAME && plan.purpose != Purpose::Callback;
        let here = Address::of(delivery).is_some_and(|address| address.is(chat));
        if !asked || !here {
            return Err(NotTheirs::Elsewhere);
        }
        if self.listed || plan.person.is_none() || plan.person == self.person {
            return Ok(());
        }
        Err(NotTheirs::SomebodyElses)
    }
}

impl NotTheirs {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Elsewhere => UNKNOWN,
            Self::SomebodyElses => "This question is for somebody else: nothing was changed.",
        }
    }
}

pub(super) const UNKNOWN: &str = "This question is not known here: nothing was changed.";
