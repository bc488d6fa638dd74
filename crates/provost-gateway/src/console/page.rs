//! What every page shows around its content, and the headers that go with it.

use std::sync::Arc;

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use provost_core::ports::StoreError;

use super::{assets::Assets, inbox, visible::visible, visitor::Visitor};
use crate::app::App;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// For whatever the console answers. A form's `Origin` would be `null` under the policy `no-referrer`, and
/// refused as foreign; `same-origin`, too, tells other sites nothing.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// A place in the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    Inbox,
    Traces,
    Sessions,
    Runs,
    Agents,
    Grants,
    Policy,
    Stop,
}

pub(super) struct Shell {
    pub(super) assets: &'static Assets,
    pub(super) here: Here,
    pub(super) name: Arc<str>,
    pub(super) role: &'static str,
    pub(super) admin: bool,
    /// A human or an admin.
    pub(super) person: bool,
    /// Agents are run here, and this is somebody who may see them.
    pub(super) runs: bool,
    pub(super) csrf: Arc<str>,
    pub(super) pending: usize,
    /// What is stopped, in words.
    pub(super) stopped: Vec<String>,
}

impl Shell {
    pub(super) async fn new(app: &App, visitor: &Visitor, here: Here) -> Result<Self, StoreError> {
        let key = &visitor.key;
        let control = app.gate.control();
        Ok(Self {
            assets: Assets::get(),
            here,
            name: key.name.clone(),
            role: key.role.as_str(),
            admin: visitor.is_admin(),
            person: visitor.is_person(),
            runs: visitor.is_person() && app.fleet.get().is_some(),
            csrf: visitor.session.csrf.clone(),
            pending: inbox::count(app, key).await?,
            stopped: control
                .stops
                .iter()
                .map(|stop| stop.scope.to_string())
                .collect(),
        })
    }

    pub(super) fn current(&self, here: &str) -> bool {
        let named = match self.here {
            Here::Inbox => "inbox",
            Here::Traces => "traces",
            Here::Sessions => "sessions",
            Here::Runs => "runs",
            Here::Agents => "agents",
            Here::Grants => "grants",
            Here::Policy => "policy",
            Here::Stop => "stop",
        };
        named == here
    }
}

/// A rendered page, with everything that hides made visible.
pub(super) fn html(page: &impl Template) -> Response {
    match page.render() {
        Ok(text) => Html(visible(&text).into_owned()).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

pub(super) async fn secured(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}
