//! What keeps pages fresh: the feed of events, and the count of what waits.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse as _};
use http::HeaderMap;

use super::{
    error::{PageError, PageResult},
    inbox,
    visitor::Visitor,
};
use crate::{app::App, doors::http::feed};

/// The feed of `GET /events`, for a browser that is signed in; it ends with the session.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    headers: HeaderMap,
) -> PageResult {
    let after = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.trim().parse().ok());
    let key = visitor.key.clone();
    let still = move |app: &App| Visitor::of(app, &headers, false).is_some();
    feed::<PageError>(app, key, after, still).await
}

pub(super) async fn count(State(app): State<Arc<App>>, visitor: Visitor) -> PageResult {
    let pending = inbox::count(&app, &visitor.key).await?;
    Ok(pending.to_string().into_response())
}
