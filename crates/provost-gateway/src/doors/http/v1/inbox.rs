//! `POST /v1/inbox/email-reply`: a reply that a mail forwarding service, or a person, brings.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    approval::{Approval, Status},
    delivery::Delivery,
    gate::{Decider, Resolving},
    key::{Key, Role},
    menu,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{client::Forwarder, unprocessable, view::view};
use crate::{
    app::App,
    channels::{email, person},
    desk::{self, Said},
    doors::http::{
        error::{ApiError, ApiResult},
        input::Body,
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::doors::http) struct Mail {
    #[serde(default)]
    subject: String,
    #[serde(default)]
    body: String,
    /// Who sent it, as the forwarding service knows.
    from: Option<String>,
    /// The message that it replies to.
    message_id: Option<String>,
}

pub(in crate::doors::http) async fn email_reply(
    State(app): State<Arc<App>>,
    Forwarder(key): Forwarder,
    Body(mail): Body<Mail>,
) -> ApiResult {
    let id = email::approval_id_in(&mail.subject, &mail.body).ok_or_else(|| {
        unprocessable(
            "approval_id_not_found",
            "approval_id not found in the subject or the body",
        )
    })?;
    let approval = app.gate.store().approval(&id).await?;
    // The beginning of an id, which is enough elsewhere, is not what our mails say.
    let approval = approval.filter(|approval| approval.question.id.as_str() == id);
    let approval = approval.ok_or_else(|| ApiError::not_found("approval"))?;
    let decider = sender(&app, &key, &approval, &mail).await?;
    if email::is_automatic_subject(&mail.subject) {
        return Err(unprocessable(
            "automatic_reply",
            "this is an absence note or a bounce, by its subject: it decides nothing",
        ));
    }
    let reply = email::reply_in_text(&mail.body).map_err(unclear)?;
    let id = approval.question.id.as_str();
    let resolving = desk::decide(&app, &decider, id, Said::reply(reply)).await?;
    answer(&app, resolving)
}

fn unclear(unclear: menu::Unclear) -> ApiError {
    unprocessable(unclear.as_str(), unclear.to_string())
}

/// Whose decision it is: a person's own by key; else that of whom the mail was sent to.
async fn sender(app: &App, key: &Key, approval: &Approval, mail: &Mail) -> ApiResult<Decider> {
    let copies = app.gate.store().deliveries(&approval.question.id).await?;
    let copies: Vec<Delivery> = copies
        .into_iter()
        .map(|delivered| delivered.delivery)
        .filter(|delivery| &*delivery.plan.channel == email::CHANNEL)
        .collect();
    let is_forwarder = key.role == Role::Inbox;
    if app.channels.load().requires_sender() && (mail.from.is_none() || mail.message_id.is_none()) {
        return Err(unprocessable(
            "sender_required",
            "`from` and `message_id` are needed: `channels.email.require_from` is set",
        ));
    }
    let named = mail.from.is_some() || mail.message_id.is_some();
    if !named && !is_forwarder {
        return Ok(Decider::of(key));
    }
    if !named && !is_to_one(&copies) {
        return Err(unprocessable(
            "sender_required",
            "`from` or `message_id` is needed: several people were asked",
        ));
    }
    let Some(copy) = copies.iter().find(|copy| is_from(copy, mail)) else {
        return Err(ApiError::forbidden(
            "this mail is not from whom the approval was sent to",
        ));
    };
    if !is_forwarder {
        return Ok(Decider::of(key));
    }
    let name = name(app, copy).ok_or_else(|| {
        ApiError::forbidden("nobody in `people` has the address that was asked any more")
    })?;
    Ok(person(app, name, email::CHANNEL.into()))
}

/// Then whose reply it is goes without saying.
fn is_to_one(copies: &[Delivery]) -> bool {
    let mut addresses = copies.iter().map(|copy| &copy.plan.address);
    let first = addresses.next();
    addresses.all(|other| Some(other) == first)
}

fn is_from(copy: &Delivery, mail: &Mail) -> bool {
    let asked = email::Address::of_target(&copy.plan.address).ok();
    let is_asked = |from: &String| asked.is_some() && email::sender_named(from) == asked;
    let shown = copy.shown.as_ref().map(|shown| bare(&shown.key));
    let is_shown = |id: &String| shown == Some(bare(id));
    mail.from.as_ref().is_none_or(is_asked) && mail.message_id.as_ref().is_none_or(is_shown)
}

/// A message's id, with or without its brackets.
fn bare(id: &str) -> &str {
    id.trim().trim_start_matches('<').trim_end_matches('>')
}

/// Who has the address that was asked. Whoever was asked as one of `people`, and is no more, is nobody.
fn name(app: &App, copy: &Delivery) -> Option<Arc<str>> {
    let people = app.gate.people();
    if let Some(person) = people.person(email::CHANNEL, &copy.plan.address) {
        return Some(person.name.clone());
    }
    if copy.plan.person.is_some() {
        return None;
    }
    Some(match email::Address::of_target(&copy.plan.address) {
        Ok(address) => format!("{}:{}", email::CHANNEL, address.folded()).into(),
        Err(_) => email::CHANNEL.into(),
    })
}

fn answer(app: &App, resolving: Resolving) -> ApiResult {
    let shown = |approval: &Approval| -> Value { view(approval, app.gate.now()) };
    let why = resolving.why().unwrap_or_default();
    match resolving {
        Resolving::Done(approval)
        | Resolving::Counted(approval)
        | Resolving::CountedBefore(approval) => {
            Ok(Json(with_remembered(&approval, shown(&approval))).into_response())
        }
        Resolving::Already(approval) => Err(over(&approval, &shown(&approval), app)),
        Resolving::Unfit(_) => Err(unprocessable("unfit", why)),
        Resolving::Denied { .. } => Err(unprocessable("changed_call_denied", why)),
        Resolving::Forbidden(_) => Err(ApiError::forbidden(why)),
        Resolving::Held(_) => Err(ApiError::conflict("claimed", why)),
        Resolving::NotFound => Err(ApiError::not_found("approval")),
    }
}

/// With what 2 or 6 made of a call, as an approval by key tells it.
fn with_remembered(approval: &Approval, mut shown: Value) -> Value {
    let decision = approval.state.decision.as_deref();
    let remembered = decision.and_then(|decision| decision.remembered.as_ref());
    if let (Some(remembered), Some(shown)) = (remembered, shown.as_object_mut()) {
        shown.insert("remembered".into(), json!(remembered));
        let made = decision.and_then(|decision| decision.made_grant.as_ref());
        shown.insert("grant_id".into(), json!(made));
    }
    shown
}

/// The loser learns what was decided, and the late one that it is too late.
fn over(approval: &Approval, shown: &Value, app: &App) -> ApiError {
    let error = if approval.state.status_at(app.gate.now()) == Status::Expired {
        ApiError::new(StatusCode::GONE, "expired", "expired before it was decided")
    } else {
        ApiError::conflict("already_resolved", "decided already")
    };
    error
        .with("status", shown.get("status").cloned())
        .with("decision", shown.get("decision").cloned())
        .with("approval_id", json!(approval.question.id))
}
