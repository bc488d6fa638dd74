//! How an answer goes out: as JSON where it is there at once, as a stream of events where something is to be
//! said before it or where it is long in coming.

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use axum::response::{
    IntoResponse as _, Response,
    sse::{Event, KeepAlive, Sse},
};
use futures_util::stream;
use http::{HeaderMap, StatusCode, header};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    answer,
    notices::Heard,
    session::{Session, Stream},
};
use crate::{
    access::{Caller, Standing},
    app::App,
};

/// What is said in the course of one request.
const MOST_SAID: usize = 64;
/// A connection on which nothing is heard is taken for dead by many.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Where what is said before the answer goes.
pub(super) type Out = mpsc::Sender<Value>;
pub(super) type Said = mpsc::Receiver<Value>;

/// `None`: the request was cancelled, and is not answered.
pub(super) type Answered = Option<(StatusCode, Value)>;

pub(super) fn channel() -> (Out, Said) {
    mpsc::channel(MOST_SAID)
}

/// What the client reads.
#[derive(Clone, Copy)]
pub(super) struct Accepts {
    streams: bool,
}

impl Accepts {
    /// Who says nothing, or `*/*`, gets plain answers.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(header::ACCEPT).iter();
        let streams = accepted
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.contains("text/event-stream"));
        Self { streams }
    }

    pub(super) fn streams(self) -> bool {
        self.streams
    }
}

/// Answers when `work` is done. When the client goes away, `work` is dropped.
pub(super) async fn respond(
    work: impl Future<Output = Answered> + Send + 'static,
    mut said: Said,
    accepts: Accepts,
) -> Response {
    let mut work: Working = Box::pin(work);
    if !accepts.streams {
        return plain(work.await);
    }
    let first = tokio::select! {
        biased;
        Some(first) = said.recv() => Some(first),
        answered = &mut work => return match answered {
            Some(_) => plain(answered),
            None => Sse::new(stream::empty::<Result<Event, axum::Error>>()).into_response(),
        },
        () = tokio::time::sleep(KEEP_ALIVE) => None,
    };
    let speaking = Speaking {
        work: Some(work),
        said,
        ready: first.into_iter().collect(),
    };
    let events = stream::unfold(speaking, |mut speaking| async move {
        let message = speaking.next().await?;
        Some((event(&message), speaking))
    });
    Sse::new(events).keep_alive(keep_alive()).into_response()
}

/// A request that was cancelled has no answer.
fn plain(answered: Answered) -> Response {
    match answered {
        Some((status, said)) => answer(status, &said),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

type Working = Pin<Box<dyn Future<Output = Answered> + Send>>;

struct Speaking {
    work: Option<Working>,
    said: Said,
    ready: VecDeque<Value>,
}

impl Speaking {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let work = self.work.as_mut()?;
            tokio::select! {
                biased;
                Some(said) = self.said.recv() => return Some(said),
                answered = work => {
                    self.work = None;
                    // The answer is the last that is said.
                    while let Ok(said) = self.said.try_recv() {
                        self.ready.push_back(said);
                    }
                    self.ready.extend(answered.map(|(_, answer)| answer));
                }
            }
        }
    }
}

/// What happens beside the client's requests, until it or the gateway goes away.
pub(super) fn listen(app: Arc<App>, caller: Caller, session: Arc<Session>) -> Response {
    let listening = Listening {
        standing: Standing::of(&caller, &app.gate.control()),
        open: session.listen(),
        heard: Heard::of(&app),
        ready: VecDeque::new(),
        app,
        caller,
        session,
    };
    let events = stream::unfold(listening, |mut listening| async move {
        let message = listening.next().await?;
        Some((event(&message), listening))
    });
    Sse::new(events).keep_alive(keep_alive()).into_response()
}

struct Listening {
    app: Arc<App>,
    caller: Caller,
    standing: Standing,
    session: Arc<Session>,
    open: Stream,
    heard: Heard,
    ready: VecDeque<Value>,
}

impl Listening {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if !self
                .standing
                .holds(&self.app.gate.control(), &self.app.live.load().access)
            {
                return None;
            }
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            tokio::select! {
                () = self.app.stopping() => return None,
                () = self.open.ended.cancelled() => return None,
                said = self.heard.for_session(&self.app, &self.caller, &self.session) => {
                    self.ready.extend(said);
                }
            }
        }
    }
}

fn event(message: &Value) -> Result<Event, axum::Error> {
    Event::default().event("message").json_data(message)
}

fn keep_alive() -> KeepAlive {
    KeepAlive::new().interval(KEEP_ALIVE)
}
