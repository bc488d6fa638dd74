//! What a journal says that a receiver is to be told, line by line, of a run that told nobody.

use provost_runner::{
    acp::Message,
    config::Identity,
    journal::What,
    report::{End, Phase, State},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::end;

/// One thing to tell.
#[derive(Debug)]
pub(super) enum Tell {
    /// Another run begins.
    Run(Identity),
    Session(String),
    Update(Box<RawValue>, Phase),
    Agent(String, Option<Box<RawValue>>),
    State(State),
    Settled(String, String),
    End(End),
}

/// What of the lines before a line needs to be known.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// Our `session/load`, as long as it is not answered: what comes meanwhile was said before.
    loading: Option<u64>,
    prompt: Option<u64>,
    answer: Option<Box<RawValue>>,
    ended: bool,
}

#[derive(Deserialize)]
struct Event {
    started: Option<Started>,
    session: Option<String>,
    ended: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    run_id: String,
    task_id: String,
    #[serde(default)]
    sandbox_id: String,
    prompt_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Decision {
    permission_id: String,
    outcome: String,
}

impl Story {
    pub(super) fn hear(&mut self, what: &What) -> Vec<Tell> {
        match what {
            What::In(message) => self.heard(message),
            What::Out(message) => self.said(message),
            What::Decision(decision) => decided(decision),
            What::Event(event) => self.event(event),
            What::Noise(_) | What::Err(_) | What::Report(_) | What::Sent(_) | What::Other => {
                Vec::new()
            }
        }
    }

    /// What is to be told when no line follows: a run that was killed may have been answered before.
    pub(super) fn close(&mut self) -> Vec<Tell> {
        let end = self.answer.take().and_then(|answer| end::answered(&answer));
        self.ends(end)
    }

    fn heard(&mut self, message: &RawValue) -> Vec<Tell> {
        match Message::parse(message.get()) {
            Message::Notification { method, params } => match (&*method, params) {
                ("session/update", Some(params)) => vec![Tell::Update(params, self.phase())],
                ("$/cancel_request", _) => Vec::new(),
                (_, params) => vec![Tell::Agent(method, params)],
            },
            Message::Request { method, .. } if method == "session/request_permission" => {
                vec![Tell::State(State::WaitingPermission)]
            }
            Message::Response { id, result } => {
                if self.loading == Some(id) {
                    self.loading = None;
                }
                if self.prompt == Some(id) {
                    self.answer = result.ok().flatten();
                }
                Vec::new()
            }
            Message::Request { .. } | Message::Noise => Vec::new(),
        }
    }

    fn said(&mut self, message: &RawValue) -> Vec<Tell> {
        let Message::Request { id, method, .. } = Message::parse(message.get()) else {
            return Vec::new();
        };
        let id = id.get().parse().ok();
        match &*method {
            "session/load" => self.loading = id,
            "session/prompt" => {
                self.prompt = id;
                return vec![Tell::State(State::Running)];
            }
            _ => {}
        }
        Vec::new()
    }

    fn phase(&self) -> Phase {
        match self.loading {
            Some(_) => Phase::Replay,
            None => Phase::Live,
        }
    }

    fn event(&mut self, event: &RawValue) -> Vec<Tell> {
        let Ok(event) = serde_json::from_str::<Event>(event.get()) else {
            return Vec::new();
        };
        if let Some(started) = event.started {
            *self = Self::default();
            return vec![Tell::Run(Identity {
                run_id: started.run_id,
                task_id: started.task_id,
                sandbox_id: started.sandbox_id,
                prompt_id: started.prompt_id,
            })];
        }
        if let Some(session) = event.session {
            return vec![Tell::Session(session)];
        }
        let Some(ended) = event.ended else {
            return Vec::new();
        };
        match end::failed(&ended) {
            Some(failed) => self.ends(Some(failed)),
            None => self.close(),
        }
    }

    /// A run ends once.
    fn ends(&mut self, end: Option<End>) -> Vec<Tell> {
        let news = end.filter(|_| !self.ended);
        self.ended |= news.is_some();
        news.map(Tell::End).into_iter().collect()
    }
}

fn decided(decision: &RawValue) -> Vec<Tell> {
    match serde_json::from_str::<Decision>(decision.get()) {
        Ok(decision) => vec![
            Tell::Settled(decision.permission_id, decision.outcome),
            Tell::State(State::Running),
        ],
        Err(_) => Vec::new(),
    }
}
