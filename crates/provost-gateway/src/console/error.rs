//! What goes wrong, as a page that says what to do next.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use provost_core::{gate::GateError, ports::StoreError};

use super::{assets::Assets, page::html};

#[derive(Debug)]
pub(super) struct PageError {
    status: StatusCode,
    title: String,
    message: String,
}

pub(super) type PageResult = Result<Response, PageError>;

#[derive(Template)]
#[template(path = "console/error.html")]
struct ErrorPage<'a> {
    assets: &'static Assets,
    title: &'a str,
    message: &'a str,
}

impl PageError {
    pub(super) fn new(
        status: StatusCode,
        title: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            status,
            title: title.into(),
            message: message.into(),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "That does not fit", message)
    }

    pub(super) fn not_found() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "Nothing is here",
            "This page does not exist, or what it showed was removed.",
        )
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "That is not yours to do", message)
    }

    pub(super) fn foreign() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            "This form was not ours",
            "It did not come from a page of this console, or that page is too old. Go back, reload it and try again.",
        )
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let page = ErrorPage {
            assets: Assets::get(),
            title: &self.title,
            message: &self.message,
        };
        (self.status, html(&page)).into_response()
    }
}

/// What went wrong inside is logged here, once, and never told.
impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed a page");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The store does not answer",
            "Nothing was decided. Try again in a moment; `provost doctor` says what is wrong.",
        )
    }
}

impl From<GateError> for PageError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::Store(error) => error.into(),
            other => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Not now",
                format!("Nothing was decided: {other}. Try again in a moment."),
            ),
        }
    }
}
