//! How calls went that the server answered: told to the gateway, beside the answers and never before them.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use http::HeaderMap;
use provost_gateway::backends::mcp::failure;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use tokio_util::task::TaskTracker;

use super::{desk::CALLS, message::Act};
use crate::{
    client::{Client, Target},
    commands::view::text,
    output,
};

const UNANSWERED: &str = "the server ended without an answer: whether it acted is not known";
const CANCELLED: &str = "the client cancelled it: whether it took effect is not known";
const NO_RESULT: &str = "the server's answer has no result";
/// What is told of an error.
const LONGEST_ERROR: usize = 400;

/// What the gateway gave with its permission.
#[derive(Debug)]
pub(super) struct Ticket {
    trace: String,
    token: String,
}

impl Ticket {
    /// `None` from a gateway that wants to hear nothing.
    pub(super) fn of(headers: &HeaderMap, body: &Value) -> Option<Self> {
        let token = headers.get("x-outcome-token")?.to_str().ok()?.to_owned();
        let trace = text(body, "trace_id").to_owned();
        (!trace.is_empty()).then_some(Self { trace, token })
    }
}

struct Running {
    act: Act,
    ticket: Ticket,
    began: Instant,
}

pub(super) struct Outcomes {
    client: Client,
    /// What the server was asked and has not answered, by the id of the request, as text.
    running: Mutex<HashMap<String, Running>>,
    telling: TaskTracker,
}

/// As much of an answer as says how it went. `result: null` is an answer, too.
#[derive(Deserialize)]
struct Message<'a> {
    id: Option<Value>,
    method: Option<IgnoredAny>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    error: Option<Value>,
}

impl Outcomes {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            running: Mutex::default(),
            telling: TaskTracker::new(),
        }
    }

    /// The server is about to be asked.
    pub(super) fn began(&self, id: &Value, act: Act, ticket: Ticket) {
        let running = Running {
            act,
            ticket,
            began: Instant::now(),
        };
        let before = self.running().insert(id.to_string(), running);
        if let Some(before) = before {
            self.tell(before, Some("another request took its id".to_owned()), 0);
        }
    }

    /// A line of the server, which may be an answer.
    pub(super) fn answered(&self, line: &[u8]) {
        if self.running().is_empty() {
            return;
        }
        // As the client is given it.
        let line = String::from_utf8_lossy(line);
        let Ok(Message {
            id: Some(id),
            method: None,
            result,
            error,
        }) = serde_json::from_str::<Message<'_>>(&line)
        else {
            return;
        };
        let Some(running) = self.running().remove(&id.to_string()) else {
            return;
        };
        let error = match (error, result) {
            (Some(fault), _) => Some(format!("the server refused: {}", text(&fault, "message"))),
            // The server asks its user something. The call goes on with the answer, which is decided, too.
            (None, Some(result)) if asks_for_input(result) => None,
            (None, Some(result)) if running.act == Act::Tool => failure(result),
            (None, None) => Some(NO_RESULT.to_owned()),
            (None, Some(_)) => None,
        };
        let size = result.map_or(0, |result| result.get().len());
        self.tell(running, error, size);
    }

    pub(super) fn cancelled(&self, id: &Value) {
        if let Some(running) = self.running().remove(&id.to_string()) {
            self.tell(running, Some(CANCELLED.to_owned()), 0);
        }
    }

    /// Nothing more is answered. Completes when everything is told.
    pub(super) async fn finish(&self) {
        let left: Vec<Running> = self.running().drain().map(|(_, running)| running).collect();
        for running in left {
            self.tell(running, Some(UNANSWERED.to_owned()), 0);
        }
        self.telling.close();
        self.telling.wait().await;
    }

    fn tell(&self, running: Running, error: Option<String>, size: usize) {
        let Running { ticket, began, .. } = running;
        let error = error.map(|mut error| {
            error.truncate(error.floor_char_boundary(LONGEST_ERROR));
            error
        });
        let body = json!({
            "token": ticket.token,
            "error": error,
            "size": size,
            "latency_ms": began.elapsed().as_millis() as u64,
        });
        let target = Target::new(CALLS).step(&ticket.trace).step("outcome");
        let client = self.client.clone();
        self.telling.spawn(async move {
            if let Err(error) = client.post(target, &body).await {
                output::note(format_args!(
                    "provost: an outcome was not recorded: {error}"
                ));
            }
        });
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn asks_for_input(result: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow, rename = "resultType")]
        kind: Option<Cow<'a, str>>,
    }
    let kind = serde_json::from_str::<Kind<'_>>(result.get());
    kind.is_ok_and(|result| result.kind.as_deref() == Some("input_required"))
}
