//! The nine methods of the Bot API that are needed. The token is part of every URL, so no error repeats one.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Uri, header};
use provost_core::ports::ForwardError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    chat::Address,
    trouble::Trouble,
    visible,
    wire::{Envelope, Me, Sent},
};
use crate::{
    secret::Secret,
    web::{Answer, Web},
};

/// For everything but long polls.
const TIMEOUT: Duration = Duration::from_secs(15);
const MAX_ANSWER: u64 = 1024 * 1024;
/// How much longer than the poll its answer may take.
pub(super) const GRACE: Duration = Duration::from_secs(15);
/// One update can hold two messages of the greatest length with all their entities: some hundred KiB.
const UPDATES: usize = 20;
const MAX_UPDATES: u64 = 8 * 1024 * 1024;
const UNSAID_WAIT: u64 = 5;
const LONGEST_WAIT: u64 = 3600;
const LONGEST_DESCRIPTION: usize = 200;

/// Kinds of updates that are asked for.
const SUBSCRIBED: [&str; 2] = ["message", "callback_query"];

pub(super) struct Api {
    web: Web,
    base: String,
    token: Secret,
}

impl Api {
    /// The errors repeat neither the token nor the URL, which may hold another secret.
    pub(super) fn new(web: Web, base: &str, token: Secret) -> Result<Self, String> {
        check_token(&token)?;
        let base = base.trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|_| "`api_url` is not a URL")?;
        let known = matches!(uri.scheme_str(), Some("http" | "https"));
        if !known || uri.query().is_some() || base.contains(['@', '#']) {
            return Err(
                "`api_url` must begin with http:// or https://, without credentials or a query"
                    .into(),
            );
        }
        web.prepare(&uri)?;
        Ok(Self {
            web,
            base: base.to_owned(),
            token,
        })
    }

    pub(super) async fn get_me(&self) -> Result<Me, Trouble> {
        self.ask("getMe", json!({})).await
    }

    /// Fails where the bot may not write to that chat.
    pub(super) async fn get_chat(&self, chat: &Address) -> Result<(), Trouble> {
        self.call("getChat", &json!({"chat_id": chat}))
            .await
            .map(drop)
    }

    pub(super) async fn send_message(&self, message: Value) -> Result<Sent, Trouble> {
        self.ask("sendMessage", message).await
    }

    pub(super) async fn edit_message_text(&self, edit: Value) -> Result<(), Trouble> {
        unless_unmodified(self.call("editMessageText", &edit).await)
    }

    pub(super) async fn edit_message_reply_markup(&self, edit: Value) -> Result<(), Trouble> {
        unless_unmodified(self.call("editMessageReplyMarkup", &edit).await)
    }

    pub(super) async fn answer_callback_query(&self, answer: Value) -> Result<(), Trouble> {
        self.call("answerCallbackQuery", &answer).await.map(drop)
    }

    /// Each update by itself: one that cannot be read must not hide the others.
    pub(super) async fn get_updates(
        &self,
        offset: Option<i64>,
        wait: Duration,
    ) -> Result<Vec<Value>, Trouble> {
        let mut asked = json!({
            "timeout": wait.as_secs(),
            "limit": UPDATES,
            "allowed_updates": SUBSCRIBED,
        });
        if let (Some(offset), Some(asked)) = (offset, asked.as_object_mut()) {
            asked.insert("offset".into(), offset.into());
        }
        let limits = (wait + GRACE, MAX_UPDATES);
        read(self.exchange("getUpdates", &asked, limits).await?)
    }

    pub(super) async fn set_webhook(&self, url: &str, secret: &Secret) -> Result<(), Trouble> {
        let webhook = json!({
            "url": url,
            "secret_token": secret.expose(),
            "allowed_updates": SUBSCRIBED,
        });
        self.call("setWebhook", &webhook).await.map(drop)
    }

    pub(super) async fn delete_webhook(&self) -> Result<(), Trouble> {
        self.call("deleteWebhook", &json!({})).await.map(drop)
    }

    async fn ask<T: DeserializeOwned>(&self, method: &str, body: Value) -> Result<T, Trouble> {
        read(self.call(method, &body).await?)
    }

    async fn call(&self, method: &str, body: &Value) -> Result<Value, Trouble> {
        self.exchange(method, body, (TIMEOUT, MAX_ANSWER)).await
    }

    async fn exchange(
        &self,
        method: &str,
        body: &Value,
        (timeout, max_answer): (Duration, u64),
    ) -> Result<Value, Trouble> {
        let url = format!("{}/bot{}/{method}", self.base, self.token.expose());
        let request = Request::post(url)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from(body.to_string()))
            .map_err(|_| Trouble::Unreachable("`api_url` is not a URL".into()))?;
        match self.web.exchange(request, timeout, max_answer).await {
            Ok(answer) => self.open(&answer),
            Err(error) => Err(Trouble::Unreachable(self.tell(&without_prefix(error)))),
        }
    }

    fn open(&self, answer: &Answer) -> Result<Value, Trouble> {
        let status = answer.status.as_u16();
        let Ok(envelope) = serde_json::from_slice::<Envelope>(&answer.body) else {
            return Err(self.trouble(status, "the answer is not one of the Bot API"));
        };
        if envelope.ok {
            return Ok(envelope.result);
        }
        let code = envelope.error_code.unwrap_or(status);
        if code == 429 {
            let seconds = envelope.parameters.retry_after.unwrap_or(UNSAID_WAIT);
            let wait = Duration::from_secs(seconds.min(LONGEST_WAIT));
            return Err(Trouble::Wait(wait));
        }
        if let Some(moved) = envelope.parameters.migrate_to_chat_id {
            let why = format!("this group has become a supergroup, and its chat id is now {moved}");
            return Err(Trouble::Refused(why));
        }
        Err(self.trouble(code, &envelope.description))
    }

    fn trouble(&self, code: u16, description: &str) -> Trouble {
        let described = format!("{code} {}", self.tell(description));
        match code {
            401 | 404 => Trouble::Token(described),
            409 => Trouble::Conflict(described),
            429 => Trouble::Wait(Duration::from_secs(UNSAID_WAIT)),
            400..500 => Trouble::Refused(described),
            _ => Trouble::Unreachable(described),
        }
    }

    /// What somebody else said, fit for a log.
    fn tell(&self, text: &str) -> String {
        let text = text.replace(self.token.expose(), "[token]");
        visible::line(&text, LONGEST_DESCRIPTION)
    }
}

/// What is wrong with a token that no bot can have. It does not repeat the token.
pub fn check_token(token: &Secret) -> Result<(), &'static str> {
    if is_token(token.expose()) {
        return Ok(());
    }
    Err("the token of the Telegram bot is malformed: it looks like `123456:ABC-DEF`")
}

/// The parts of a token are a number and letters that need no escape in a URL.
fn is_token(token: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    token.split_once(':').is_some_and(|(bot, key)| {
        !bot.is_empty()
            && bot.bytes().all(|byte| byte.is_ascii_digit())
            && !key.is_empty()
            && key.bytes().all(allowed)
    })
}

fn read<T: DeserializeOwned>(result: Value) -> Result<T, Trouble> {
    serde_json::from_value(result)
        .map_err(|_| Trouble::Unreachable("the answer is not one of the Bot API".into()))
}

/// Editing a message into what it already is succeeded before.
fn unless_unmodified(edited: Result<Value, Trouble>) -> Result<(), Trouble> {
    match edited {
        Err(Trouble::Refused(why)) if why.contains("message is not modified") => Ok(()),
        other => other.map(drop),
    }
}

fn without_prefix(error: ForwardError) -> String {
    match error {
        ForwardError::Arguments(why)
        | ForwardError::Unreachable(why)
        | ForwardError::Failed(why) => why,
        ForwardError::Timeout(time) => format!("no answer within {time}"),
        ForwardError::TooLarge(most) => format!("the answer is larger than {most} bytes"),
    }
}
