//! `POST /console/links`: a one-time link to the console for whoever holds the key that asks.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse as _};
use http::StatusCode;

use super::{
    caller::Reviewer,
    error::{ApiError, ApiResult},
};
use crate::{app::App, console::link_for};

pub(super) async fn create(State(app): State<Arc<App>>, Reviewer(key): Reviewer) -> ApiResult {
    match link_for(&app, &key).await? {
        Some(link) => Ok((StatusCode::CREATED, link).into_response()),
        None => Err(
            ApiError::forbidden("who decides without a key has none to sign in with")
                .help("send `Authorization: Bearer <key>`"),
        ),
    }
}
