//! Errors as callers see them: a code to program against, a message to read, help where we know it.

use std::time::Duration;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use provost_core::{gate::GateError, ports::StoreError};
use serde_json::{Map, Value, json};

use crate::admission::Full;

/// The code of those who are not let in for want of room. Their connection is closed.
const TOO_MANY: &str = "too_many_requests";

#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    help: Option<String>,
    retry_after: Option<Duration>,
    /// Fields beside `error`.
    beside: Map<String, Value>,
}

pub(super) type ApiResult<T = Response> = Result<T, ApiError>;

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            help: None,
            retry_after: None,
            beside: Map::new(),
        }
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(super) fn not_found(what: &str) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            format!("{what} not found"),
        )
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(super) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(super) fn stopping() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "stopping",
            "this gateway is going down",
        )
        .help("make the identical call again: an open question and its decision are kept")
        .retry_after(Duration::from_secs(1))
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Help for a bad request that has none of its own.
    pub(super) fn help_with_request(self, help: &str) -> Self {
        if self.status == StatusCode::BAD_REQUEST && self.help.is_none() {
            return self.help(help);
        }
        self
    }

    pub(super) fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// For somebody who reads it as text.
    pub(crate) fn words(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.beside.insert(name.to_owned(), value.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(help), Some(error)) = (self.help, error.as_object_mut()) {
            error.insert("help".into(), help.into());
        }
        let mut body = self.beside;
        body.insert("error".into(), error);
        let trace_id = body
            .get("trace_id")
            .and_then(Value::as_str)
            .and_then(|id| HeaderValue::from_str(id).ok());
        let mut response = (self.status, Json(body)).into_response();
        if let Some(trace_id) = trace_id {
            response.headers_mut().insert("x-trace-id", trace_id);
        }
        if let Some(after) = self.retry_after {
            let seconds = after.as_millis().div_ceil(1000).max(1) as u64;
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == TOO_MANY {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// What went wrong inside is logged here, once, and never told.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed a request");
        // It does not come back by itself, and everybody may read why.
        if let StoreError::Lost(why) = error {
            let code = "store_unavailable";
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, code, &*why);
        }
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "store_unavailable",
            "the store does not answer, so the answer is no",
        )
        .help("nothing was allowed; try again when `GET /ready` answers 200")
        .retry_after(Duration::from_secs(1))
    }
}

/// Whoever is not let in is not kept waiting either.
impl From<Full> for ApiError {
    fn from(full: Full) -> Self {
        let (message, help) = match full {
            Full::Own(most) => (
                format!("{most} requests of this caller are in progress already"),
                "wait until some are answered; `limits.max_requests_per_agent` sets how many an agent may have",
            ),
            Full::Agents(most) => (
                format!("{most} requests of agents are in progress already"),
                "try again soon; with a higher limit of open files (`ulimit -n`) there is room for more",
            ),
            Full::Supervisors(most) => (
                format!("{most} requests of supervisors are in progress already"),
                "try again soon; with a higher limit of open files (`ulimit -n`) there is room for more",
            ),
            Full::Strangers(most) => (
                format!("{most} requests without a key are in progress already"),
                "try again soon, or send a key",
            ),
            Full::Address(most) => (
                format!("{most} connections come from this address already"),
                "close some, or raise `limits.max_connections_per_address`",
            ),
            Full::Bytes(most) => (
                format!("the requests in progress hold {most} bytes already"),
                "try again soon, send less, or raise `limits.held_bytes`",
            ),
        };
        Self::new(StatusCode::TOO_MANY_REQUESTS, TOO_MANY, message)
            .help(help)
            .retry_after(Duration::from_secs(1))
    }
}

impl From<GateError> for ApiError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Store(error) => error.into(),
            GateError::Closing => Self::stopping(),
            GateError::Busy | GateError::Crowded => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", error.to_string())
                    .retry_after(Duration::from_secs(1))
            }
        }
    }
}
