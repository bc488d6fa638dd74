//! `/mcp`: MCP over streamable HTTP. Agents list and call what policy could let them; supervisors and people
//! find the tools by which they decide. Every act passes the one gate.
//!
//! Our own thin layer and not `rmcp`'s server: its model knows the fields of today's schema and drops all
//! others, and its sessions belong to nobody. What a server says must pass as it was said.

mod acts;
mod call;
mod exchange;
mod hello;
mod message;
mod notices;
mod pages;
mod progress;
mod prompts;
mod reading;
mod resources;
mod servers;
mod session;
mod stream;
mod tools;
mod version;
mod virtual_tools;
mod waiting;
mod words;

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{Request as HttpRequest, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::{
    caller::Known,
    error::{ApiError, ApiResult},
    input,
};
use crate::{access::Caller, app::App};
use exchange::{Exchange, Form};
use message::{Answer, Fault, Message, Notification, Request};
use session::{Owner, Session};
use stream::Accepts;

pub(crate) use servers::Listed;
pub(crate) use session::Sessions;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

pub(super) async fn post(
    State(app): State<Arc<App>>,
    Known(caller): Known,
    request: HttpRequest,
) -> ApiResult {
    let headers = request.headers().clone();
    let text = input::read(request, app.live.load().body_limit).await?;
    match Message::read(&text) {
        Ok(Message::Request(request)) => asked(app, caller, &headers, request).await,
        Ok(Message::Notification(notification)) => told(&app, &caller, &headers, &notification),
        Ok(Message::Answer(answer)) => answered(&app, &caller, &headers, answer),
        Err(fault) => Ok(refused(&fault)),
    }
}

/// What happens, for as long as the client listens.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Known(caller): Known,
    headers: HeaderMap,
) -> ApiResult {
    let session = session_of(&app, &caller, &headers)?.ok_or_else(no_session)?;
    Ok(stream::listen(app, caller, session))
}

pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Known(caller): Known,
    headers: HeaderMap,
) -> ApiResult {
    let session = session_of(&app, &caller, &headers)?.ok_or_else(no_session)?;
    app.sessions.close(&session);
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn asked(app: Arc<App>, caller: Caller, headers: &HeaderMap, request: Request) -> ApiResult {
    let form = match version::stateless(headers, &request) {
        Ok(Some(declared)) => Form::Stateless(declared),
        Ok(None) if request.method == "initialize" => {
            return initialize(&app, &caller, request);
        }
        Ok(None) => match version::check_header(headers) {
            Ok(()) => session_of(&app, &caller, headers)?.map_or(Form::Alone, Form::Session),
            Err(fault) => return Ok(refused(&fault)),
        },
        Err(fault) => return Ok(refused(&fault)),
    };
    let (accepts, (out, said)) = (Accepts::of(headers), stream::channel());
    let out = accepts.streams().then_some(out);
    let exchange = match Exchange::new(app, caller, form, headers, &request, out) {
        Ok(exchange) => exchange,
        Err(fault) => return Ok(refused(&fault)),
    };
    Ok(stream::respond(exchange.answer(request), said, accepts).await)
}

fn initialize(app: &App, caller: &Caller, request: Request) -> ApiResult {
    let hello = match message::read_params::<hello::Hello>(request.params) {
        Ok(hello) => hello,
        Err(fault) => return Ok(answer(StatusCode::OK, &fault.answer(Some(&request.id)))),
    };
    let version = version::agreed(&hello.protocol_version);
    let takes_forms = version::takes_forms(version, hello.capabilities.as_ref());
    let now = app.gate.now();
    let session = app.sessions.open(Owner::of(caller), takes_forms, now);
    let session = session.ok_or_else(|| {
        ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_sessions",
            "too many MCP sessions are open, and all of them are in use",
        )
        .help("end sessions that are not needed with `DELETE /mcp`")
        .retry_after(Duration::from_secs(5))
    })?;
    let said = message::result(&request.id, &hello::initialized(app, version));
    let mut response = answer(StatusCode::OK, &said);
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(SESSION, id);
    }
    Ok(response)
}

fn told(app: &App, caller: &Caller, headers: &HeaderMap, told: &Notification) -> ApiResult {
    // Without a session there is nothing that a notification could be about.
    if let Some(session) = session_of(app, caller, headers)?
        && told.method == "notifications/cancelled"
        && let Some(id) = told.params.get("requestId")
        && let Ok(id) = serde_json::from_value(id.clone())
    {
        session.cancel(&id);
    }
    Ok(StatusCode::ACCEPTED.into_response())
}

fn answered(app: &App, caller: &Caller, headers: &HeaderMap, said: Answer) -> ApiResult {
    let session = session_of(app, caller, headers)?.ok_or_else(no_session)?;
    session.answer(said);
    Ok(StatusCode::ACCEPTED.into_response())
}

/// `None` where the client names none.
fn session_of(app: &App, caller: &Caller, headers: &HeaderMap) -> ApiResult<Option<Arc<Session>>> {
    let Some(id) = headers.get(SESSION) else {
        return Ok(None);
    };
    let found = id
        .to_str()
        .ok()
        .and_then(|id| app.sessions.find(id, &Owner::of(caller), app.gate.now()));
    found
        .map(Some)
        .ok_or_else(|| ApiError::not_found("this MCP session").help("initialize a new one"))
}

fn no_session() -> ApiError {
    ApiError::bad_request("this needs the header `Mcp-Session-Id`")
        .help("`initialize` opens a session; the stateless protocol has no use for this")
}

/// A message that is not even looked into.
fn refused(fault: &Fault) -> Response {
    answer(StatusCode::BAD_REQUEST, &fault.answer(None))
}

fn answer(status: StatusCode, said: &serde_json::Value) -> Response {
    (status, Json(said)).into_response()
}
