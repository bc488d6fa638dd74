//! Telegram: questions as messages with buttons, decided by a tap or by a reply.
//!
//! [`Telegram`] shows and closes them for the delivery worker. What people send back comes in by
//! [`Telegram::poll`], or through the door of a webhook by [`Telegram::handle_update`].

mod api;
mod buttons;
mod chat;
mod check;
mod ending;
mod message;
mod poll;
mod reply;
mod sender;
mod speak;
mod tap;
mod text;
mod trouble;
mod update;
mod visible;
mod webhook;
mod wire;

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use async_trait::async_trait;
use provost_core::{
    card::Card,
    delivery::{Delivery, Purpose, Shown},
    ports::{Channel, Undelivered},
};
use serde_json::{Value, json};

use self::{
    api::Api,
    chat::{Address, Key},
    check::Reading,
    update::Seen,
};
use super::more_wait;
use crate::{secret::Secret, web::Web};

pub use self::{
    api::check_token, check::Checked, poll::Pace, trouble::Trouble, webhook::SECRET_HEADER,
};

/// The channel's name.
pub const NAME: &str = "telegram";
/// Where the public Bot API is.
pub const API_URL: &str = "https://api.telegram.org";

#[derive(Clone, Debug)]
pub struct Settings {
    /// Part of every URL of the Bot API: it must not appear in an error.
    pub token: Secret,
    /// [`API_URL`], unless somebody runs a Bot API server of their own.
    pub api_url: String,
    pub mode: Mode,
    /// The users who may decide, besides the `people` who are asked. Empty means no others.
    pub allow: Vec<i64>,
}

/// How updates come. Telegram has one of them at a time.
#[derive(Clone, Debug)]
pub enum Mode {
    Poll,
    Webhook { secret: Secret },
}

pub struct Telegram {
    api: Api,
    mode: Mode,
    allow: ArcSwap<Vec<i64>>,
    seen: Seen,
    reading: Mutex<Reading>,
    /// Where the console is.
    console: Option<String>,
}

impl Telegram {
    /// The error says what is wrong with the settings, without their secrets.
    pub fn new(settings: Settings, web: Web) -> Result<Self, String> {
        let Settings {
            token,
            api_url,
            mode,
            allow,
        } = settings;
        if let Mode::Webhook { secret } = &mode {
            webhook::check_secret(secret)?;
        }
        Ok(Self {
            api: Api::new(web, &api_url, token)?,
            mode,
            allow: ArcSwap::from_pointee(allow),
            seen: Seen::default(),
            reading: Mutex::default(),
            console: None,
        })
    }
}

impl Telegram {
    /// Messages lead to the console at that address, where that is where the content is.
    #[must_use]
    pub fn with_console(mut self, url: &str) -> Self {
        self.console = Some(url.trim_end_matches('/').to_owned());
        self
    }

    fn text_of(&self, delivery: &Delivery, card: &Card) -> String {
        let Some(end) = &card.end else {
            let console = self.console.as_ref();
            let link = console.map(|url| format!("{url}/a/{}", delivery.id));
            return message::question(card, delivery.plan.purpose, link.as_deref());
        };
        message::ended(card, end)
    }

    /// From now on these may decide, besides the people who are asked.
    pub fn set_allow(&self, allow: Vec<i64>) {
        self.allow.store(Arc::new(allow));
    }

    /// Whether updates are fetched, and not posted to us.
    pub fn is_polled(&self) -> bool {
        matches!(self.mode, Mode::Poll)
    }
}

#[async_trait]
impl Channel for Telegram {
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered> {
        let address = Address::of(delivery).ok_or_else(|| Undelivered::Never {
            why: "the address has no `tg_chat_id`".into(),
        })?;
        let mut message = json!({
            "chat_id": address,
            "text": self.text_of(delivery, card),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": true},
        });
        let keyboard = buttons::keyboard(&delivery.id, card);
        if card.end.is_none() && delivery.plan.purpose != Purpose::Callback {
            put(&mut message, "reply_markup", keyboard);
        }
        let sent = self.api.send_message(message).await?;
        let key = Key {
            chat: sent.chat.id,
            message: sent.message_id,
        };
        Ok(Shown {
            key: key.to_string(),
            detail: json!({"chat_id": key.chat, "message_id": key.message}),
        })
    }

    async fn update(
        &self,
        delivery: &Delivery,
        shown: &Shown,
        card: &Card,
    ) -> Result<(), Undelivered> {
        // Its time is over: closing it comes next.
        if card.end.is_some() {
            return Ok(());
        }
        let keyboard = buttons::keyboard(&delivery.id, card);
        let edit = self.edit(key_of(shown)?, delivery, card, keyboard);
        Ok(self.api.edit_message_text(edit).await?)
    }

    async fn close(
        &self,
        delivery: &Delivery,
        shown: &Shown,
        card: &Card,
    ) -> Result<(), Undelivered> {
        let key = key_of(shown)?;
        let edit = self.edit(key, delivery, card, buttons::none());
        match self.api.edit_message_text(edit).await {
            Err(Trouble::Refused(why)) if is_about_the_text(&why) => {
                tracing::error!(approval.id = %card.id, why, "a message cannot be edited as it should");
                self.remove_buttons(key).await?;
                Ok(())
            }
            edited => Ok(edited?),
        }
    }

    async fn digest(&self, one: &Delivery, waiting: usize) -> Result<(), Undelivered> {
        let Some(address) = Address::of(one) else {
            return Ok(());
        };
        let message = json!({"chat_id": address, "text": more_wait(waiting)});
        self.api.send_message(message).await?;
        Ok(())
    }
}

impl Telegram {
    fn edit(&self, key: Key, delivery: &Delivery, card: &Card, keyboard: Value) -> Value {
        json!({
            "chat_id": key.chat,
            "message_id": key.message,
            "text": self.text_of(delivery, card),
            "parse_mode": "HTML",
            "link_preview_options": {"is_disabled": true},
            "reply_markup": keyboard,
        })
    }

    async fn remove_buttons(&self, key: Key) -> Result<(), Trouble> {
        let edit = json!({
            "chat_id": key.chat,
            "message_id": key.message,
            "reply_markup": buttons::none(),
        });
        self.api.edit_message_reply_markup(edit).await
    }
}

fn key_of(shown: &Shown) -> Result<Key, Undelivered> {
    Key::parse(&shown.key).ok_or_else(|| Undelivered::Never {
        why: "what was shown is not a message of Telegram".into(),
    })
}

/// Then the buttons can still go.
fn is_about_the_text(why: &str) -> bool {
    ["can't parse entities", "too long", "text must"]
        .iter()
        .any(|about| why.contains(about))
}

fn put(to: &mut Value, name: &str, value: Value) {
    if let Some(to) = to.as_object_mut() {
        to.insert(name.into(), value);
    }
}
