//! Webhooks out: told of questions and their ends, and never asked. A callback is told the end of one request.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderValue, Request, StatusCode, header, request::Builder};
use provost_core::{
    approval::{Kind, Status},
    card::{Card, End},
    delivery::{Delivery, Shown},
    ids::hex,
    ports::{Channel, Clock, Undelivered},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    allowed::Allowed,
    signed::{self, SigningKey},
};
use crate::{secret::Secret, web::Web};

const TIMEOUT: Duration = Duration::from_secs(20);
const LONGEST_ANSWER: u64 = 64 * 1024;
const LONGEST_WAIT: Duration = Duration::from_hours(1);
/// What failed may name the address, which may be a secret: both causes are told.
const NOT_PUBLIC: &str = "it does not answer, or its name leads to an address that is not public and that \
     `channels.callbacks.allow` does not name";

/// A receiver of the configuration.
#[derive(Clone)]
pub struct Hook {
    /// It may hold a secret itself, as Slack's do.
    pub url: Secret,
    pub key: Option<SigningKey>,
    pub created: bool,
    pub resolved: bool,
    pub style: Style,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Standard Webhooks.
    #[default]
    Standard,
    /// `{"text": …}`, which Slack, Mattermost and others take.
    Slack,
    /// The text itself.
    Ntfy,
}

impl Hook {
    /// How deliveries name it without telling its address.
    pub fn name(&self) -> String {
        let digest = Sha256::digest(self.url.expose().as_bytes());
        hex(digest.get(..8).unwrap_or_default())
    }
}

/// The channel `webhook`.
pub struct Webhooks {
    pub hooks: Vec<Hook>,
    pub web: Web,
    pub clock: Arc<dyn Clock>,
}

/// The channel `callback`.
pub struct Callbacks {
    /// What the keys of clients are made from.
    secret: [u8; 32],
    allowed: Allowed,
    web: Web,
    clock: Arc<dyn Clock>,
}

impl Callbacks {
    pub fn new(secret: [u8; 32], allowed: Allowed, clock: Arc<dyn Clock>) -> Self {
        let web = if allowed.is_list() {
            Web::for_named(LONGEST_ANSWER)
        } else {
            Web::for_strangers(LONGEST_ANSWER)
        };
        Self {
            secret,
            allowed,
            web,
            clock,
        }
    }
}

#[async_trait]
impl Channel for Webhooks {
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered> {
        let hook = self.hook(delivery)?;
        if hook.created {
            let event = match card.kind {
                Kind::Notice => "act.unsupervised",
                _ => "approval.created",
            };
            self.tell(hook, delivery, card, event).await?;
        }
        Ok(shown(delivery))
    }

    async fn close(&self, delivery: &Delivery, _: &Shown, card: &Card) -> Result<(), Undelivered> {
        let hook = self.hook(delivery)?;
        if hook.resolved {
            self.tell(hook, delivery, card, "approval.resolved").await?;
        }
        Ok(())
    }
}

impl Webhooks {
    fn hook(&self, delivery: &Delivery) -> Result<&Hook, Undelivered> {
        let name = delivery.plan.text("hook");
        let hook = self.hooks.iter().find(|hook| hook.name() == name);
        hook.ok_or_else(|| never("this webhook is no longer configured"))
    }

    async fn tell(
        &self,
        hook: &Hook,
        delivery: &Delivery,
        card: &Card,
        event: &str,
    ) -> Result<(), Undelivered> {
        let (url, now) = (hook.url.expose(), self.clock.now());
        let (builder, body) = match hook.style {
            Style::Standard => {
                let body = json!({"type": event, "timestamp": now, "data": card}).to_string();
                let id = format!("msg_{}_{event}", delivery.id);
                (signed::post(url, &id, hook.key.as_ref(), &body, now), body)
            }
            Style::Slack => {
                let body = json!({"text": escaped(&words(card))}).to_string();
                (plain(url, "application/json"), body)
            }
            Style::Ntfy => {
                let title = HeaderValue::from_static("Provost");
                (plain(url, "text/plain").header("title", title), words(card))
            }
        };
        send(&self.web, builder, body, "it does not answer").await
    }
}

#[async_trait]
impl Channel for Callbacks {
    async fn show(&self, delivery: &Delivery, card: &Card) -> Result<Shown, Undelivered> {
        let (url, client) = (delivery.plan.text("url"), delivery.plan.text("client_id"));
        if !url.parse().is_ok_and(|uri| self.allowed.permits(&uri)) {
            return Err(never("its address is no longer allowed"));
        }
        let (key, now) = (SigningKey::derived(&self.secret, client), self.clock.now());
        let body = json!({"type": "approval.resolved", "timestamp": now, "data": ended(card)});
        let (id, body) = (format!("msg_{}", delivery.id), body.to_string());
        let request = signed::post(url, &id, Some(&key), &body, now);
        let silent = if self.allowed.is_list() {
            "it does not answer"
        } else {
            NOT_PUBLIC
        };
        send(&self.web, request, body, silent).await?;
        Ok(shown(delivery))
    }

    async fn close(&self, _: &Delivery, _: &Shown, _: &Card) -> Result<(), Undelivered> {
        Ok(())
    }
}

/// What the client would see if it looked.
fn ended(card: &Card) -> Value {
    let decision = card.end.as_ref().filter(|end| end.by.is_some()).map(|end| {
        json!({
            "code": end.code_or_plain(),
            "note": end.note.as_ref().filter(|_| !end.auto),
            "override": end.replacement,
            "rule_id": end.rule_id,
            "decided_by": end.by,
            "decided_at": end.at.millis().div_euclid(1000),
            "via": end.via,
        })
    });
    json!({
        "approval_id": card.id,
        "status": card.end.as_ref().map_or(Status::Pending, |end| end.status),
        "decision": decision,
        "session_id": card.session,
        "action_type": card.tool,
    })
}

/// Slack's own marks, made plain.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// In one line, for people who read it elsewhere.
fn words(card: &Card) -> String {
    match &card.end {
        _ if card.kind == Kind::Notice => format!("{} [{}]", card.heading(), card.id),
        None => format!("{}: waiting for a decision [{}]", card.heading(), card.id),
        Some(End { status, by, .. }) => {
            let status = json!(status);
            let by = by
                .as_ref()
                .map(|by| format!(" by {by}"))
                .unwrap_or_default();
            let status = status.as_str().unwrap_or_default();
            format!("{}: {status}{by} [{}]", card.heading(), card.id)
        }
    }
}

fn shown(delivery: &Delivery) -> Shown {
    Shown {
        key: delivery.id.to_string(),
        detail: Value::Null,
    }
}

fn never(why: &str) -> Undelivered {
    Undelivered::Never {
        why: why.to_owned(),
    }
}

fn plain(url: &str, kind: &'static str) -> Builder {
    Request::post(url).header(header::CONTENT_TYPE, kind)
}

async fn send(web: &Web, request: Builder, body: String, silent: &str) -> Result<(), Undelivered> {
    let request = request
        .body(Bytes::from(body))
        .map_err(|_| never("its address is not a URL"))?;
    if let Err(why) = web.prepare(request.uri()) {
        return Err(later(why, None));
    }
    // What failed may name the address, which may be a secret.
    let answer = web.exchange(request, TIMEOUT, LONGEST_ANSWER).await;
    let Ok(answer) = answer else {
        return Err(later(silent.to_owned(), None));
    };
    let after = retry_after(&answer.headers);
    match answer.status {
        status if status.is_success() => Ok(()),
        StatusCode::GONE => Err(never("it answered 410: it wants no more")),
        status => Err(later(format!("it answered {status}"), after)),
    }
}

fn later(why: String, after: Option<Duration>) -> Undelivered {
    Undelivered::Later { why, after }
}

fn retry_after(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let wait = Duration::from_secs(seconds.trim().parse().ok()?);
    Some(wait.min(LONGEST_WAIT))
}
