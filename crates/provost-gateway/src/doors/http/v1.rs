//! `/v1`: an agent asks a person itself, and people's standing answers.

mod approvals;
mod client;
mod inbox;
mod rules;
mod target;
mod telegram;
mod view;

pub(super) use approvals::{create, status};
pub(super) use inbox::email_reply;
pub(super) use rules::{allow_rules, revoke_rule, revoke_session, session_allows};
pub(super) use telegram::telegram_webhook;

use http::StatusCode;

use super::error::ApiError;

/// A body that can be read, and does not make sense.
fn unprocessable(code: &'static str, message: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
}
