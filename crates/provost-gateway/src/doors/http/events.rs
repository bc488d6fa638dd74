//! `GET /events`: what happens, as server-sent events. `Last-Event-ID` takes up where a client left off.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse as _, Response,
        sse::{Event as Sse, KeepAlive, Sse as Stream},
    },
};
use futures_util::{
    FutureExt as _,
    future::{self, BoxFuture},
    stream,
};
use http::HeaderMap;
use provost_core::{
    approval::Level,
    event::Numbered,
    key::{Key, Role},
    ports::StoreError,
};
use tokio::sync::broadcast::{self, error::RecvError};

use super::{
    caller::Reviewer,
    error::{ApiError, ApiResult},
    input::Params,
};
use crate::{
    access::{Caller, Standing},
    app::App,
};

const PAGE: usize = 200;
const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(super) async fn events(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    headers: HeaderMap,
    params: Params,
) -> ApiResult {
    let params = params.known(&["after"])?;
    let given = match headers.get("last-event-id") {
        Some(value) => Some(
            value
                .to_str()
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .ok_or_else(|| ApiError::bad_request("`Last-Event-ID` is a number"))?,
        ),
        None => params.number("after")?,
    };
    let standing = Standing::of(&Caller::Decider(key.clone()), &app.gate.control());
    feed(app, key, given, move |app| {
        future::ready(standing.holds(&app.gate.control(), &app.live.load().access)).boxed()
    })
    .await
}

/// The feed for the holder of a key, from after an event on, for as long as `still` says.
pub(crate) async fn feed<E: From<StoreError>>(
    app: Arc<App>,
    key: Arc<Key>,
    given: Option<u64>,
    still: impl Fn(Arc<App>) -> BoxFuture<'static, bool> + Send + 'static,
) -> Result<Response, E> {
    // Subscribed before the place is read, so that nothing falls between history and the live feed.
    let live = app.feed.subscribe();
    let last = app.gate.store().last_event().await?;
    // A place beyond the last is another feed's: that one ended, this one goes on from here.
    let after = given.map_or(last, |given| given.min(last));
    let reader = Reader {
        app,
        key,
        still: Box::new(still),
        after,
        live,
        backlog: Vec::new(),
    };
    let events = stream::unfold(reader, |mut reader| async move {
        let numbered = reader.next().await?;
        Some((sse(&numbered), reader))
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Stream::new(events).keep_alive(keep_alive).into_response())
}

fn sse(numbered: &Numbered) -> Result<Sse, axum::Error> {
    Sse::default()
        .id(numbered.id.to_string())
        .event(numbered.event.name())
        .json_data(numbered)
}

/// One listener: reads the store until it has caught up, then waits for the feed to say there is more.
struct Reader {
    app: Arc<App>,
    key: Arc<Key>,
    still: Box<dyn Fn(Arc<App>) -> BoxFuture<'static, bool> + Send>,
    after: u64,
    live: broadcast::Receiver<Arc<Numbered>>,
    /// Read and not yet sent, newest first.
    backlog: Vec<Numbered>,
}

impl Reader {
    async fn next(&mut self) -> Option<Numbered> {
        loop {
            let still = (self.still)(self.app.clone());
            if !still.await {
                return None;
            }
            if let Some(numbered) = self.backlog.pop() {
                self.after = numbered.id;
                if concerns(&self.key, &numbered) {
                    return Some(numbered);
                }
                continue;
            }
            match self.read().await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "events cannot be read"),
            }
            tokio::select! {
                more = self.live.recv() => if matches!(more, Err(RecvError::Closed)) { return None },
                () = self.app.stopping() => return None,
            }
        }
    }

    async fn read(&mut self) -> Result<bool, StoreError> {
        self.backlog = self.app.gate.store().events(self.after, PAGE).await?;
        self.backlog.reverse();
        Ok(!self.backlog.is_empty())
    }
}

/// A supervisor hears of its own tools at its own level, and of their leaving it.
fn concerns(key: &Key, numbered: &Numbered) -> bool {
    if key.role != Role::Supervisor {
        return true;
    }
    match numbered.event.about() {
        Some(about) => {
            key.may_see(&about.tool)
                && (about.level == Level::Supervisor || numbered.event.name() != "approval.created")
        }
        None => matches!(numbered.event.name(), "stop" | "resume"),
    }
}
