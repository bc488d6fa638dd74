//! Roles as extractors: a handler that takes [`Admin`] cannot be reached without an admin's key.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::extract::{ConnectInfo, FromRequestParts};
use http::{HeaderMap, StatusCode, request::Parts};
use provost_core::{
    gate::Decider,
    key::{Key, Role},
};

use super::error::ApiError;
use crate::{
    access::{Caller, Refused},
    app::App,
};

/// An agent: may ask.
pub(super) struct Agent(pub(super) Arc<str>);

/// A supervisor, a human or an admin: may look and decide.
pub(super) struct Reviewer(pub(super) Arc<Key>);

/// A human or an admin.
pub(super) struct Person(pub(super) Arc<Key>);

pub(super) struct Admin(pub(super) Arc<Key>);

/// Anybody who is let in at all.
pub(super) struct Anybody;

/// The same, by who it is.
pub(super) struct Known(pub(super) Caller);

impl Agent {
    pub(super) fn by(headers: &HeaderMap, remote: SocketAddr, app: &App) -> Result<Self, ApiError> {
        match identify_by(headers, remote, app)? {
            Caller::Agent(name) => Ok(Self(name)),
            Caller::Decider(key) => Err(ApiError::forbidden(format!(
                "a key of role {} decides, and never asks",
                key.role
            ))
            .help(how_to_ask(app))),
        }
    }
}

/// What an agent asks with here.
fn how_to_ask(app: &App) -> &'static str {
    let live = app.live.load();
    if live.access.declaring(&app.gate.control()).is_open() {
        "use an agent's key, or from this machine `Authorization: Bearer agent:NAME`"
    } else {
        "use an agent's key: `provost keys create --role agent NAME` makes one"
    }
}

impl Reviewer {
    pub(super) fn decider(&self) -> Decider {
        Decider::of(&self.0)
    }
}

fn identify(parts: &Parts, app: &App) -> Result<Caller, ApiError> {
    identify_by(&parts.headers, remote(parts)?, app)
}

fn identify_by(headers: &HeaderMap, remote: SocketAddr, app: &App) -> Result<Caller, ApiError> {
    match whoever(headers, remote, app)? {
        Caller::Decider(key) if key.role == Role::Inbox => Err(ApiError::forbidden(
            "a key of role inbox brings replies to `/v1/inbox`, and may do nothing else",
        )),
        caller => Ok(caller),
    }
}

/// The key of whoever has one. Nobody's word counts.
pub(super) fn keyed(parts: &Parts, app: &App) -> Result<Arc<Key>, ApiError> {
    match whoever(&parts.headers, remote(parts)?, app)? {
        Caller::Decider(key) => Ok(key),
        Caller::Agent(name) => {
            let control = app.gate.control();
            let mut keys = control.keys();
            let own = keys.find(|key| key.role == Role::Agent && key.name == name);
            own.cloned().ok_or_else(|| refused(Refused::NoKey))
        }
    }
}

/// Who it is, if it is somebody. Failed attempts are not counted here.
pub(super) fn known(headers: &HeaderMap, remote: SocketAddr, app: &App) -> Option<Caller> {
    if let Some(agent) = run_here(headers, app) {
        return Some(Caller::Agent(agent));
    }
    let live = app.live.load();
    let caller = live.access.identify(headers, remote, &app.gate.control());
    caller.ok()
}

fn whoever(headers: &HeaderMap, remote: SocketAddr, app: &App) -> Result<Caller, ApiError> {
    if let Some(agent) = run_here(headers, app) {
        return Ok(Caller::Agent(agent));
    }
    let live = app.live.load();
    let caller = live.access.identify(headers, remote, &app.gate.control());
    if matches!(caller, Err(Refused::UnknownKey)) {
        count_failure(app, remote)?;
    }
    caller.map_err(refused)
}

/// An agent that is run here, by the key of its run.
fn run_here(headers: &HeaderMap, app: &App) -> Option<Arc<str>> {
    let fleet = app.fleet.get()?;
    let given = headers.get(http::header::AUTHORIZATION)?;
    let (_, key) = given.to_str().ok()?.split_once(' ')?;
    fleet.agent_of(key.trim())
}

fn count_failure(app: &App, remote: SocketAddr) -> Result<(), ApiError> {
    metrics::counter!("provost_auth_failures_total").increment(1);
    match app.attempts.failed(remote.ip(), app.gate.now()) {
        None => Ok(()),
        Some(retry_after) => Err(ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_attempts",
            "too many attempts with unknown keys",
        )
        .retry_after(Duration::from_secs(retry_after))),
    }
}

/// Whoever may decide: by key, or by nobody asking for one.
fn decider(parts: &Parts, app: &App) -> Result<Arc<Key>, ApiError> {
    let remote = remote(parts)?;
    if let Some(open) = app.live.load().access.open_decider(&parts.headers, remote) {
        return Ok(open);
    }
    match identify(parts, app)? {
        Caller::Decider(key) => Ok(key),
        Caller::Agent(_) if !parts.headers.contains_key(http::header::AUTHORIZATION) => Err(refused(Refused::NoKey)),
        Caller::Agent(_) => Err(ApiError::forbidden("an agent asks, and never decides or looks")
            .help("use a key of role supervisor, human or admin: `provost keys create --role human NAME`")),
    }
}

fn remote(parts: &Parts) -> Result<SocketAddr, ApiError> {
    parts
        .extensions
        .get::<ConnectInfo<SocketAddr>>()
        .map(|info| info.0)
        .ok_or_else(|| ApiError::forbidden("the caller's address is not known"))
}

fn refused(refused: Refused) -> ApiError {
    let unauthorized =
        |message: &str| ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
    match refused {
        Refused::NoKey => unauthorized("this needs a key")
            .help("send `Authorization: Bearer <key>`; `provost keys create` makes one"),
        Refused::UnknownKey => unauthorized("the key is not known")
            .help("it may have been removed: `provost keys list`"),
        Refused::NotDeclared {
            why,
            opens_by_setting: true,
        } => unauthorized(why).help(
            "give the agent a key: `provost keys create --role agent NAME`; `auth.declared_agents: loopback` in \
             the config lets agents on this machine go by their word",
        ),
        Refused::NotDeclared { why, .. } => unauthorized(why)
            .help("give the agent a key: `provost keys create --role agent NAME`"),
        Refused::NameTaken => {
            ApiError::forbidden("the declared name belongs to a key").help("use that agent's key")
        }
        Refused::BadName => {
            ApiError::bad_request("an agent's name is 1 to 256 printable characters")
        }
    }
}

pub(super) fn require(key: Arc<Key>, roles: &[Role]) -> Result<Arc<Key>, ApiError> {
    if roles.contains(&key.role) {
        return Ok(key);
    }
    let wanted: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
    Err(
        ApiError::forbidden(format!("a key of role {} may not do this", key.role))
            .help(format!("it needs a key of role {}", wanted.join(" or "))),
    )
}

impl FromRequestParts<Arc<App>> for Agent {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        Self::by(&parts.headers, remote(parts)?, app)
    }
}

impl FromRequestParts<Arc<App>> for Reviewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        decider(parts, app).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for Person {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        require(decider(parts, app)?, &[Role::Human, Role::Admin]).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        require(decider(parts, app)?, &[Role::Admin]).map(Self)
    }
}

impl FromRequestParts<Arc<App>> for Anybody {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        identify(parts, app).map(|_| Self)
    }
}

impl FromRequestParts<Arc<App>> for Known {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        identify(parts, app).map(Self)
    }
}
