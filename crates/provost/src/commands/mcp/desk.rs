//! Where calls wait for their decisions, each beside the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::ids::{hex, random_bytes};
use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, task::AbortHandle};

use super::{
    line::Line,
    message::{Act, Call, progress},
    outcomes::{Outcomes, Ticket},
    tell, words,
};
use crate::client::{Answer, Client, ClientError, Target};

/// Where calls are decided whose outcome is told.
pub(super) const CALLS: &str = "/v1/mcp-calls";
/// Clients give up on what is silent for a minute.
const BETWEEN_SIGNS: Duration = Duration::from_secs(10);

pub(super) struct Desk {
    client: Client,
    server: String,
    session: String,
    to_server: mpsc::Sender<Line>,
    outcomes: Arc<Outcomes>,
    /// By the id of the request, as text.
    waiting: Mutex<HashMap<String, AbortHandle>>,
}

impl Desk {
    pub(super) fn new(client: Client, server: String, to_server: mpsc::Sender<Line>) -> Self {
        Self {
            outcomes: Arc::new(Outcomes::new(client.clone())),
            client,
            server,
            session: format!("mcp-{}", hex(&random_bytes::<8>())),
            to_server,
            waiting: Mutex::default(),
        }
    }

    pub(super) fn outcomes(&self) -> Arc<Outcomes> {
        self.outcomes.clone()
    }

    pub(super) async fn pass(&self, line: Line) {
        // The server is gone: its end is noticed elsewhere.
        let _ = self.to_server.send(line).await;
    }

    /// Decides a call beside the others.
    pub(super) fn ask(self: Arc<Self>, call: Call) {
        let (id, desk) = (call.id.to_string(), self.clone());
        // Held until the call is in it: a decision may be quicker than we are.
        let mut waiting = self.waiting();
        let deciding = tokio::spawn(async move {
            let id = call.id.clone();
            match desk.decide(&call).await {
                Ok(permitted) => {
                    let arguments = permitted.arguments;
                    let arguments = arguments.unwrap_or_else(|| call.arguments.clone());
                    desk.forget(&id);
                    if let Some(ticket) = permitted.ticket {
                        desk.outcomes.began(&id, call.act, ticket);
                    }
                    desk.pass(call.line(arguments)).await;
                }
                Err(reason) => {
                    desk.forget(&id);
                    tell(&call.refusal(&reason));
                }
            }
        });
        waiting.insert(id, deciding.abort_handle());
    }

    /// A yes, or why not.
    async fn decide(&self, call: &Call) -> Result<Permitted, String> {
        let body = json!({
            "tool": format!("{}.{}", self.server, call.tool),
            "arguments": call.arguments,
            "session_id": self.session,
        });
        let target = match call.act {
            // Nobody can be asked while somebody types.
            Act::Completion => Target::new(CALLS).query("wait", 0),
            _ => Target::new(CALLS),
        };
        let deciding = self.client.post(target, &body);
        tokio::pin!(deciding);
        let mut signs = 0;
        loop {
            tokio::select! {
                decided = &mut deciding => return permitted(decided, &call.shown),
                () = tokio::time::sleep(BETWEEN_SIGNS) => {
                    signs += 1;
                    if let Some(token) = call.progress() {
                        tell(&progress(token, signs));
                    }
                }
            }
        }
    }

    pub(super) fn cancel(&self, id: &Value) -> bool {
        let waiting = self.waiting().remove(&id.to_string());
        waiting.is_some_and(|waiting| {
            waiting.abort();
            true
        })
    }

    /// Nobody waits any more.
    pub(super) fn end(&self) {
        for (_, waiting) in self.waiting().drain() {
            waiting.abort();
        }
    }

    fn forget(&self, id: &Value) {
        self.waiting().remove(&id.to_string());
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A yes.
struct Permitted {
    /// What a person changed the call to.
    arguments: Option<Map<String, Value>>,
    /// With which its outcome is told.
    ticket: Option<Ticket>,
}

/// Only a clear yes is one.
fn permitted(decided: Result<Answer, ClientError>, shown: &str) -> Result<Permitted, String> {
    let Answer { headers, body } = decided.map_err(|error| words::refused(&error, shown))?;
    if body.get("action").and_then(Value::as_str) != Some("allow") {
        let why = "what answers there is not a provost gateway";
        return Err(words::undecided(why, shown));
    }
    let arguments = match body.get("arguments") {
        None => None,
        Some(Value::Object(arguments)) => Some(arguments.clone()),
        Some(_) => {
            let why = "the gateway's answer cannot be read";
            return Err(words::undecided(why, shown));
        }
    };
    let ticket = Ticket::of(&headers, &body);
    Ok(Permitted { arguments, ticket })
}
