//! Where calls wait for their decisions, each beside the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::ids::{hex, random_bytes};
use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, task::AbortHandle};
use tokio_util::task::TaskTracker;

use super::{
    line::Line,
    message::{Act, Call, failure, progress},
    outcomes::{Outcomes, Ticket},
    schemas::Schemas,
    tell, words,
};
use crate::client::{Answer, Client, ClientError, Target};

/// Where calls are decided whose outcome is told.
pub(super) const CALLS: &str = "/v1/mcp-calls";
const UNDECIDED: &str = "not run: the client ended before this was decided";
/// Clients give up on what is silent for a minute.
const BETWEEN_SIGNS: Duration = Duration::from_secs(10);

pub(super) struct Desk {
    client: Client,
    server: String,
    session: String,
    to_server: mpsc::Sender<Line>,
    outcomes: Arc<Outcomes>,
    schemas: Arc<Schemas>,
    /// By the id of the request, as text.
    waiting: Mutex<HashMap<String, Waiting>>,
    deciding: TaskTracker,
}

struct Waiting {
    id: Value,
    task: AbortHandle,
}

impl Desk {
    pub(super) fn new(client: Client, server: String, to_server: mpsc::Sender<Line>) -> Self {
        Self {
            outcomes: Arc::new(Outcomes::new(client.clone())),
            client,
            server,
            session: format!("mcp-{}", hex(&random_bytes::<8>())),
            to_server,
            schemas: Arc::default(),
            waiting: Mutex::default(),
            deciding: TaskTracker::new(),
        }
    }

    pub(super) fn outcomes(&self) -> Arc<Outcomes> {
        self.outcomes.clone()
    }

    pub(super) fn schemas(&self) -> Arc<Schemas> {
        self.schemas.clone()
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
        let call_id = call.id.clone();
        let deciding = self.deciding.spawn(async move {
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
                Err(refused) => {
                    desk.forget(&id);
                    tell(&refused.answer(&call));
                }
            }
        });
        let task = deciding.abort_handle();
        waiting.insert(id, Waiting { id: call_id, task });
    }

    /// A yes, or why not.
    async fn decide(&self, call: &Call) -> Result<Permitted, Refused> {
        let body = json!({
            "tool": format!("{}.{}", self.server, call.tool),
            "arguments": call.arguments,
            "session_id": self.session,
            "misfit": self.schemas.misfit(call),
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
            waiting.task.abort();
            true
        })
    }

    /// Until all that was asked is decided and with the server.
    pub(super) async fn finish(&self) {
        self.deciding.close();
        self.deciding.wait().await;
    }

    /// Nobody waits any more: what is still undecided is answered with that.
    pub(super) fn end(&self) {
        let left: Vec<Waiting> = self.waiting().drain().map(|(_, waiting)| waiting).collect();
        for Waiting { id, task } in left {
            task.abort();
            tell(&failure(&id, -32000, UNDECIDED));
        }
    }

    fn forget(&self, id: &Value) {
        self.waiting().remove(&id.to_string());
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
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

/// A no, or nothing that could be taken for a yes.
enum Refused {
    /// The arguments are not what the tool takes.
    Misfit(String),
    No(String),
}

impl Refused {
    fn answer(&self, call: &Call) -> Value {
        match self {
            Self::Misfit(reason) => call.misfit(reason),
            Self::No(reason) => call.refusal(reason),
        }
    }

    fn undecided(why: &str, shown: &str) -> Self {
        Self::No(words::undecided(why, shown))
    }
}

/// Only a clear yes is one.
fn permitted(decided: Result<Answer, ClientError>, shown: &str) -> Result<Permitted, Refused> {
    let Answer { headers, body, .. } = decided.map_err(|error| {
        let reason = words::refused(&error, shown);
        match error.refusal() {
            Some(refusal) if refusal.code() == "invalid_arguments" => Refused::Misfit(reason),
            _ => Refused::No(reason),
        }
    })?;
    if body.get("action").and_then(Value::as_str) != Some("allow") {
        let why = "what answers there is not a provost gateway";
        return Err(Refused::undecided(why, shown));
    }
    let arguments = match body.get("arguments") {
        None => None,
        Some(Value::Object(arguments)) => Some(arguments.clone()),
        Some(_) => {
            let why = "the gateway's answer cannot be read";
            return Err(Refused::undecided(why, shown));
        }
    };
    let ticket = Ticket::of(&headers, &body);
    Ok(Permitted { arguments, ticket })
}
