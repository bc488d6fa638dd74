//! `POST /v1/approvals` and `GET /v1/approvals/{id}`.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use http::{HeaderMap, StatusCode, Uri};
use provost_core::{
    approval::{Approval, Request},
    call::is_name,
    gate::{GateError, NewRequest, Requested, Wait},
    trace::Answer,
};
use serde_json::{Map, Value};

use super::{
    client::{Client, Owner, client_id},
    target, unprocessable,
    view::view,
};
use crate::{
    app::App,
    channels::{CallbackAddress, email::CHANNEL},
    doors::http::{
        calls::idempotency_key,
        error::{ApiError, ApiResult},
        input::{Body, Params, Segment},
    },
    web::{is_off_limits, plain_address},
};

const USUAL_EXPIRY: u64 = 3600;
const LONGEST_EXPIRY: u64 = 30 * 24 * 3600;
const LONGEST_TITLE: usize = 1024;
const LONGEST_PREVIEW: usize = 64 * 1024;
const LONGEST_URL: usize = 2048;
/// Nobody can say: people decide when they do.
const UNTIL_SOME_ARE_DECIDED: Duration = Duration::from_mins(1);
const LONGEST_WAIT: Duration = Duration::from_mins(2);

pub(in crate::doors::http) async fn create(
    State(app): State<Arc<App>>,
    Client(key): Client,
    headers: HeaderMap,
    Body(body): Body<Map<String, Value>>,
) -> ApiResult {
    let request = read(&app, client_id(&key), &body)?;
    let people = app.gate.people();
    let person = people.person(&request.channel, &request.target);
    if request.channel == CHANNEL && person.is_none() && people.has_any_on(CHANNEL) {
        return Err(unprocessable(
            "unknown_target",
            "the target is not one of `people`, and only they may be asked here",
        )
        .help("name the address of one of them, or add it to `people` in the config"));
    }
    let new = NewRequest {
        agent: key.name.clone(),
        session: name(&body, "session_id")?,
        action_type: name(&body, "action_type")?.ok_or_else(|| needed("action_type"))?,
        person: person.map(|person| person.name.clone()),
        request,
        callback_url: callback_url(&app, &body)?,
        expires_in: expiry(&body)?,
        idempotency_key: idempotency_key(&headers)?,
    };
    let calls_back = new.callback_url.is_some();
    match app.gate.request(new).await? {
        Requested::Made(approval) => {
            let mut made = view(&approval, app.gate.now());
            let key = app.channels.load().callback_key(&client_id(&key));
            if let (true, Some(key), Some(made)) = (calls_back, key, made.as_object_mut()) {
                made.insert("callback_secret".into(), key.text().into());
            }
            Ok(Json(made).into_response())
        }
        Requested::Refused { answer, reason } => Err(refused(answer, &reason)),
        Requested::Limited(limited) => {
            let error = ApiError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                limited.reason,
            );
            Err(match limited.retry_after {
                Some(after) => error.retry_after(after),
                None => error,
            })
        }
        Requested::Crowded(most) => Err(ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_pending",
            format!("{most} requests of this agent wait already"),
        )
        .help("wait until people have decided some, or raise `approval.max_pending_per_agent`")
        .retry_after(UNTIL_SOME_ARE_DECIDED)),
        Requested::KeyMismatch => Err(unprocessable(
            "idempotency_key_reused",
            "this Idempotency-Key stands for another request",
        )),
    }
}

pub(in crate::doors::http) async fn status(
    State(app): State<Arc<App>>,
    owner: Owner,
    Segment(id): Segment,
    params: Params,
) -> ApiResult {
    let params = params.known(&["wait"])?;
    let patience = params.duration("wait")?.unwrap_or_default();
    let approval = owned(&app, &owner, &id).await?;
    let wait = Wait::AtMost(patience.min(LONGEST_WAIT));
    let (id, agent) = (&approval.question.id, &approval.question.agent_id);
    let settled = match app.gate.await_decision(wait, id, agent).await {
        Ok(settled) => settled.unwrap_or(approval),
        Err(GateError::Closing) => approval,
        Err(error) => return Err(error.into()),
    };
    Ok(Json(view(&settled, app.gate.now())).into_response())
}

/// Another client's request is none.
async fn owned(app: &App, owner: &Owner, id: &str) -> ApiResult<Approval> {
    let found = app.gate.store().approval(id).await?;
    found
        .filter(|approval| {
            let request = approval.question.request.as_ref();
            approval.question.id.as_str() == id
                && request.is_some_and(|request| owner.owns(&request.client_id))
        })
        .ok_or_else(|| ApiError::not_found("approval"))
}

fn read(app: &App, client_id: String, body: &Map<String, Value>) -> ApiResult<Request> {
    let channel = text(body, "channel", 32)?.ok_or_else(|| needed("channel"))?;
    let nothing = Value::Null;
    let target = target::address(&channel, body.get("target").unwrap_or(&nothing))?;
    if !app.channels.load().has(&channel) {
        return Err(unprocessable(
            "channel_not_configured",
            format!("the channel `{channel}` is not configured"),
        )
        .help(format!(
            "set `channels.{channel}` in the config, or use another channel"
        )));
    }
    Ok(Request {
        client_id,
        title: text(body, "title", LONGEST_TITLE)?
            .filter(|title| !title.trim().is_empty())
            .ok_or_else(|| needed("title"))?,
        preview: text(body, "preview", LONGEST_PREVIEW)?.unwrap_or_default(),
        channel,
        target,
    })
}

fn needed(name: &str) -> ApiError {
    unprocessable("missing_field", format!("`{name}` is needed"))
}

fn text(body: &Map<String, Value>, name: &str, longest: usize) -> ApiResult<Option<String>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= longest => Ok(Some(text.clone())),
        Some(Value::String(_)) => Err(unprocessable(
            "too_long",
            format!("`{name}` is longer than {longest} bytes"),
        )),
        Some(_) => Err(unprocessable("wrong_type", format!("`{name}` is text"))),
    }
}

fn name(body: &Map<String, Value>, name: &str) -> ApiResult<Option<Arc<str>>> {
    let Some(text) = text(body, name, usize::MAX)? else {
        return Ok(None);
    };
    if is_name(&text) {
        return Ok(Some(text.into()));
    }
    let message = format!("`{name}` is 1 to 256 printable characters");
    Err(unprocessable("bad_name", message))
}

fn expiry(body: &Map<String, Value>) -> ApiResult<Duration> {
    let seconds = match body.get("expires_in_sec") {
        None | Some(Value::Null) => Some(USUAL_EXPIRY),
        Some(given) => given.as_u64(),
    };
    seconds
        .filter(|seconds| (1..=LONGEST_EXPIRY).contains(seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| {
            let message = format!("`expires_in_sec` is a whole number from 1 to {LONGEST_EXPIRY}");
            unprocessable("bad_expiry", message)
        })
}

fn callback_url(app: &App, body: &Map<String, Value>) -> ApiResult<Option<String>> {
    let Some(url) = text(body, "callback_url", LONGEST_URL)? else {
        return Ok(None);
    };
    let fits = |uri: &Uri| {
        // Where a name leads is judged when it is called.
        CallbackAddress::of(uri)
            .is_some_and(|server| !plain_address(&server.host).is_some_and(is_off_limits))
    };
    let Some(uri) = url.parse().ok().filter(fits) else {
        let message = "`callback_url` is an http or https address with a plain name or address, a port from 1 to \
                       65535 and no user in it, and none that is link-local, unspecified, multicast or a \
                       cloud's own";
        return Err(unprocessable("bad_callback_url", message));
    };
    let channels = app.channels.load();
    if channels.may_call_back(&uri) {
        return Ok(Some(url));
    }
    let message = if channels.lists_callbacks() {
        "`callback_url` is none of the addresses that `channels.callbacks.allow` names"
    } else {
        "`callback_url` is not a public address: this machine and private networks are called back only \
         where `channels.callbacks.allow` names them"
    };
    Err(unprocessable("callback_not_allowed", message).help(how_to_allow(&uri)))
}

fn how_to_allow(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("https");
    let at = uri.authority().map_or("host", http::uri::Authority::as_str);
    format!(
        "add `{scheme}://{at}/*` to `channels.callbacks.allow` in the config and restart, or leave \
         `callback_url` out and poll"
    )
}

fn refused(answer: Answer, reason: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, answer.as_str(), reason)
}
