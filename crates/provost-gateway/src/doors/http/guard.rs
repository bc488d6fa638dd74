//! What every request passes before its handler: ours or a foreign page's, and a request id.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http::{HeaderName, HeaderValue, StatusCode};
use provost_core::ids::TraceId;

use super::error::ApiError;
use crate::{
    access::{Foreign, check_origin},
    app::App,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let id = request_id(&request, &app);
    let mut response = match check_origin(request.headers(), request.uri(), &app.access.hosts) {
        Ok(()) => next.run(request).await,
        Err(foreign) => refuse(&foreign).into_response(),
    };
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The caller's own id, where it is one; else a new one.
fn request_id(request: &Request, app: &App) -> HeaderValue {
    let given = request.headers().get(&REQUEST_ID).filter(|value| {
        let bytes = value.as_bytes();
        (1..=128).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
    });
    given.cloned().unwrap_or_else(|| {
        HeaderValue::from_str(TraceId::at(app.gate.now()).as_str())
            .unwrap_or(HeaderValue::from_static("unknown"))
    })
}

fn refuse(foreign: &Foreign) -> ApiError {
    match foreign {
        Foreign::Host => ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_host",
            "the Host header does not name this gateway",
        )
        .help(
            "reach it by its address or `localhost`, or list the name under `hosts:` in the config",
        ),
        Foreign::Origin => ApiError::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "pages of other sites may not call this gateway",
        ),
    }
}

pub(super) async fn not_found() -> ApiError {
    ApiError::not_found("this address").help("`GET /openapi.json` lists all there are")
}

pub(super) async fn method_not_allowed() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take that method",
    )
    .help("`GET /openapi.json` lists all there are")
}
