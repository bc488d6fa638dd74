//! What keeps pages fresh: the feed of events, and the count of what waits.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse as _};
use futures_util::FutureExt as _;
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
    let still = move |app: Arc<App>| {
        let headers = headers.clone();
        async move {
            let visitor = Visitor::of(&app, &headers, false).await;
            matches!(visitor, Ok(Some(_)))
        }
        .boxed()
    };
    feed::<PageError>(app, key, after, still).await
}

pub(super) async fn count(State(app): State<Arc<App>>, visitor: Visitor) -> PageResult {
    let pending = inbox::count(&app, &visitor.key).await?;
    Ok(pending.to_string().into_response())
}
