//! How a call is to be made, beside the call itself: what its headers and query say. Read by name, because
//! a copy of all headers would cost more than the decision.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::{HeaderMap, HeaderName, Uri, request::Parts};
use provost_core::{gate::Wait, ids::TraceId};

use crate::{
    app::App,
    doors::http::{
        error::ApiError,
        input::{Params, wait},
    },
};

const SESSION: HeaderName = HeaderName::from_static("x-session-id");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

pub(in crate::doors::http) struct Manner {
    pub(super) wait: Wait,
    pub(super) session: Option<String>,
    pub(super) idempotency_key: Option<String>,
    /// The caller's trace id.
    pub(super) trace_id: Option<TraceId>,
    /// The caller's span.
    pub(super) parent: Option<String>,
}

impl FromRequestParts<Arc<App>> for Manner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        Self::of(&parts.headers, &parts.uri)
    }
}

impl Manner {
    pub(super) fn of(headers: &HeaderMap, uri: &Uri) -> Result<Self, ApiError> {
        let params = Params::of_query(uri)?.known(&["wait"])?;
        Ok(Self {
            wait: wait(headers, &params)?,
            session: text(headers, &SESSION).map(str::to_owned),
            idempotency_key: idempotency_key(headers)?,
            trace_id: given_trace_id(headers),
            parent: parent_span(headers),
        })
    }

    pub(in crate::doors::http) fn take_session(&mut self) -> Option<String> {
        self.session.take()
    }
}

/// Unreadable text is text all the same, and no good name.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers
        .get(name)
        .map(|value| value.to_str().unwrap_or_default())
}

pub(in crate::doors::http) fn idempotency_key(
    headers: &HeaderMap,
) -> Result<Option<String>, ApiError> {
    match text(headers, &IDEMPOTENCY_KEY) {
        None => Ok(None),
        Some(key) if (1..=255).contains(&key.len()) => Ok(Some(key.to_owned())),
        Some(_) => Err(ApiError::bad_request(
            "`Idempotency-Key` is 1 to 255 printable characters",
        )),
    }
}

/// The second part of a `traceparent`, or `X-Trace-Id`.
pub(in crate::doors::http) fn given_trace_id(headers: &HeaderMap) -> Option<TraceId> {
    text(headers, &TRACEPARENT)
        .and_then(|parent| parent.split('-').nth(1))
        .or_else(|| text(headers, &TRACE_ID))
        .and_then(TraceId::parse)
}

/// The third part of a `traceparent`.
pub(in crate::doors::http) fn parent_span(headers: &HeaderMap) -> Option<String> {
    let parent = text(headers, &TRACEPARENT)?.split('-').nth(2)?;
    (parent.len() == 16 && parent.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| parent.to_ascii_lowercase())
}
