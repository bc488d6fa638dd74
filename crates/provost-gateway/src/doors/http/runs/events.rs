//! `GET /v1/runs/{id}/events`: what happens in a run, as server-sent events. An event's id is its place in the
//! journal: `Last-Event-ID` goes on from there, after a restart as well.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse as _,
        sse::{Event as Sse, KeepAlive, Sse as Stream},
    },
};
use futures_util::stream;
use http::{HeaderMap, StatusCode};
use tokio::{sync::watch, task::spawn_blocking};

use super::{find, fleet};
use crate::{
    access::{Caller, Standing},
    app::App,
    doors::http::{
        caller::Person,
        error::{ApiError, ApiResult},
        input::{Params, Segment},
    },
    fleet::{Entry, Run},
};

const KEEP_ALIVE: Duration = Duration::from_secs(15);

pub(in crate::doors::http) async fn events(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Segment(id): Segment,
    headers: HeaderMap,
    params: Params,
) -> ApiResult {
    let run = find(fleet(&app)?, &id)?;
    let params = params.known(&["after", "follow"])?;
    let follow = match params.text("follow").as_deref() {
        None | Some("true") => true,
        Some("false") => false,
        Some(_) => return Err(ApiError::bad_request("`follow` is true or false")),
    };
    let after = match headers.get("last-event-id") {
        Some(given) => {
            let given = given
                .to_str()
                .ok()
                .and_then(|text| text.trim().parse().ok());
            given.ok_or_else(|| ApiError::bad_request("`Last-Event-ID` is a number"))?
        }
        None => params.number("after")?.unwrap_or_default(),
    };
    let mut reader = Reader {
        standing: Standing::of(&Caller::Decider(key), &app.gate.control()),
        more: run.watch(),
        app,
        run,
        after,
        follow,
        backlog: VecDeque::new(),
    };
    // By this a browser knows that it need not come back.
    if headers.contains_key("last-event-id") && reader.is_over().await {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let events = stream::unfold(reader, |mut reader| async move {
        let entry = reader.next().await?;
        let event = Sse::default()
            .id(entry.id.to_string())
            .event(entry.kind)
            .data(entry.line);
        Some((Ok::<_, axum::Error>(event), reader))
    });
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(Stream::new(events).keep_alive(keep_alive).into_response())
}

/// One listener. It ends with the run, when everything is told.
struct Reader {
    app: Arc<App>,
    standing: Standing,
    run: Arc<Run>,
    after: u64,
    /// It goes on with what happens from now on.
    follow: bool,
    more: watch::Receiver<u64>,
    backlog: VecDeque<Entry>,
}

impl Reader {
    async fn is_over(&mut self) -> bool {
        self.run.story().has_ended() && !self.read().await && self.backlog.is_empty()
    }

    async fn next(&mut self) -> Option<Entry> {
        loop {
            if !self
                .standing
                .holds(&self.app.gate.control(), &self.app.live.load().access)
            {
                return None;
            }
            if let Some(entry) = self.backlog.pop_front() {
                return Some(entry);
            }
            // Before it is read: what is written after the reading is seen as more.
            self.more.borrow_and_update();
            let ended = self.run.story().has_ended();
            if self.read().await {
                continue;
            }
            if ended || !self.follow {
                return None;
            }
            tokio::select! {
                more = self.more.changed() => more.ok()?,
                () = self.app.stopping() => return None,
            }
        }
    }

    /// Whether there was any more.
    async fn read(&mut self) -> bool {
        let (run, after) = (Arc::clone(&self.run), self.after);
        match spawn_blocking(move || run.read(after)).await {
            Ok(Ok((entries, end))) => {
                self.backlog.extend(entries);
                std::mem::replace(&mut self.after, end) != end
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the journal of a run cannot be read");
                false
            }
            Err(error) => {
                tracing::error!(%error, "reading a journal failed");
                false
            }
        }
    }
}
