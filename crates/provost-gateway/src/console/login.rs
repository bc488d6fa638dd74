//! Signing in, by key or by one-time link, and out.

use std::{net::SocketAddr, sync::Arc};

use askama::Template;
use axum::{
    Json,
    extract::{ConnectInfo, Request, State},
    response::{IntoResponse as _, Redirect, Response},
};
use http::{HeaderMap, StatusCode, Uri, header};
use provost_core::{key::Key, ports::StoreError, sign_in::SignInLink};
use serde_json::json;

use super::{
    assets::Assets,
    cookie,
    error::{PageError, PageResult},
    fields::Fields,
    links::{self, one_time_link},
    page::html,
    visitor::{Posted, WELCOME, check_sender},
};
use crate::app::App;

#[derive(Template)]
#[template(path = "console/login.html")]
struct LoginPage {
    assets: &'static Assets,
    /// Of a one-time link.
    token: Option<String>,
    next: String,
    problem: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "console/go_on.html")]
struct GoOnPage<'a> {
    assets: &'static Assets,
    wanted: &'a str,
}

/// Where to sign in before going on to `wanted`.
pub(super) fn address(wanted: &str) -> String {
    if wanted == "/" {
        return "/console/login".to_owned();
    }
    Fields::default().address("/console/login", &[("next", Some(wanted))])
}

/// A page that goes on by itself: see [`super::visitor::Visitor`].
pub(super) fn go_on(wanted: &str) -> Response {
    html(&GoOnPage {
        assets: Assets::get(),
        wanted: local(Some(wanted)),
    })
}

/// A page of this console, whatever the address says.
fn local(wanted: Option<&str>) -> &str {
    wanted
        .filter(|path| {
            ["/console/", "/a/", "/?"]
                .iter()
                .any(|own| path.starts_with(own))
        })
        .filter(|path| !path.chars().any(|c| c.is_control() || c == '\\'))
        .unwrap_or("/")
}

pub(super) async fn page(uri: Uri) -> Response {
    let query = Fields::of_query(&uri);
    html(&LoginPage {
        assets: Assets::get(),
        token: query.text("token").map(str::to_owned),
        next: local(query.text("next")).to_owned(),
        problem: None,
    })
}

pub(super) async fn sign_in(
    State(app): State<Arc<App>>,
    ConnectInfo(remote): ConnectInfo<SocketAddr>,
    request: Request,
) -> PageResult {
    check_sender(request.headers())?;
    let headers = request.headers().clone();
    let fields = Fields::of_body(request, 64 * 1024).await?;
    let next = local(fields.text("next"));
    let token = fields.text("token");
    let Some(key) = known(&app, token, fields.text("key")).await? else {
        return Ok(refused(&app, remote, next, token.is_some()));
    };
    if !WELCOME.contains(&key.role) {
        let problem = "A key of this role asks, and never decides or looks. Sign in with the key of a person, an admin or a supervisor.";
        return Ok(again(StatusCode::FORBIDDEN, next, problem));
    }
    let (sessions, store) = (&app.console.sessions, app.gate.store());
    // Whoever signs in anew leaves no other session behind in this browser.
    if let Some(secret) = cookie::read(&headers) {
        sessions.close(&**store, secret).await?;
    }
    let secret = sessions.open(&**store, key.hash, app.gate.now()).await?;
    tracing::info!(key.name = %key.name, "signed in to the console");
    Ok(leave(next, cookie::set(&headers, &secret)))
}

async fn known(
    app: &App,
    token: Option<&str>,
    secret: Option<&str>,
) -> Result<Option<Arc<Key>>, StoreError> {
    let Some(token) = token else {
        let control = app.gate.control();
        return Ok(secret.and_then(|secret| control.key(secret)).cloned());
    };
    let Some(hash) = links::take(app, token).await? else {
        return Ok(None);
    };
    let control = app.gate.control();
    Ok(control.keys().find(|key| key.hash.same(&hash)).cloned())
}

/// Counted with the failures of the API. A valid key always passes.
fn refused(app: &App, remote: SocketAddr, next: &str, by_link: bool) -> Response {
    metrics::counter!("provost_auth_failures_total").increment(1);
    if let Some(seconds) = app.attempts.failed(remote.ip(), app.gate.now()) {
        let mut response = PageError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many attempts",
            format!("Wait {seconds} seconds, then try again."),
        )
        .into_response();
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, seconds.into());
        return response;
    }
    let problem = if by_link {
        "This link was used already, or its time is over. `provost console` prints a new one."
    } else {
        "This key is not known."
    };
    again(StatusCode::UNAUTHORIZED, next, problem)
}

fn again(status: StatusCode, next: &str, problem: &'static str) -> Response {
    let page = LoginPage {
        assets: Assets::get(),
        next: next.to_owned(),
        problem: Some(problem),
        token: None,
    };
    (status, html(&page)).into_response()
}

fn leave(to: &str, cookie: Option<http::HeaderValue>) -> Response {
    let mut response = Redirect::to(to).into_response();
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

pub(super) async fn sign_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    _: Posted,
) -> PageResult {
    if let Some(secret) = cookie::read(&headers) {
        let store = app.gate.store();
        app.console.sessions.close(&**store, secret).await?;
    }
    Ok(leave("/console/login", cookie::clear(&headers)))
}

/// `POST /console/links`: a one-time link for whoever holds the key that asks, over the API.
pub(crate) async fn link_for(
    app: &App,
    key: &Key,
) -> Result<Option<Json<serde_json::Value>>, StoreError> {
    let control = app.gate.control();
    // Somebody who decides without a key has none to sign in with.
    if !control.keys().any(|known| known.hash.same(&key.hash)) {
        return Ok(None);
    }
    Ok(Some(Json(json!({
        "path": one_time_link(app, key).await?,
        "expires_in_seconds": SignInLink::LIFE.as_secs(),
    }))))
}
