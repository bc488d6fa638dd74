//! What has pages of runs look again: a word whenever something changed, and not too often.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Path, State},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use http::HeaderMap;
use tokio::{sync::watch, time::sleep};

use super::{PageError, PageResult, Visitor, fleet};
use crate::app::App;

const BETWEEN: Duration = Duration::from_millis(500);
/// How late it is noticed that somebody has signed out.
const LOOK: Duration = Duration::from_secs(15);

/// Of all runs: where they stand.
pub(in crate::console) async fn of_all(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    headers: HeaderMap,
) -> PageResult {
    let changes = fleet(&app, &visitor)?.watch();
    Ok(feed(app, changes, headers))
}

/// Of one run: whatever happens in it.
pub(in crate::console) async fn of_one(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> PageResult {
    let run = fleet(&app, &visitor)?.run(&id);
    let changes = run.ok_or_else(PageError::not_found)?.watch();
    Ok(feed(app, changes, headers))
}

fn feed(app: Arc<App>, changes: watch::Receiver<u64>, headers: HeaderMap) -> Response {
    let from = (app, changes, headers);
    let events = stream::unfold(from, |(app, mut changes, headers)| async move {
        loop {
            Visitor::of(&app, &headers, false).await.ok()??;
            tokio::select! {
                changed = changes.changed() => changed.ok()?,
                () = sleep(LOOK) => continue,
                () = app.stopping() => return None,
            }
            sleep(BETWEEN).await;
            changes.borrow_and_update();
            let event = Event::default().event("changed").data("{}");
            return Some((Ok::<_, axum::Error>(event), (app, changes, headers)));
        }
    });
    let keep_alive = KeepAlive::new().interval(LOOK);
    Sse::new(events).keep_alive(keep_alive).into_response()
}
