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
    /// A session is opened again, and waits for a prompt.
    Waits,
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
    /// Whose reports they are: of the run, and of the prompt that is under way.
    identity: Option<Identity>,
    session: Option<String>,
}

#[derive(Deserialize)]
struct Event {
    started: Option<Started>,
    session: Option<String>,
    prompt: Option<Box<RawValue>>,
    ended: Option<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Prompted {
    prompt_id: String,
    state: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    run_id: String,
    task_id: String,
    #[serde(default)]
    sandbox_id: String,
    /// `None`: it waits for its first one.
    prompt_id: Option<String>,
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
            let waits = started.prompt_id.is_none();
            let identity = Identity {
                run_id: started.run_id,
                task_id: started.task_id,
                sandbox_id: started.sandbox_id,
                prompt_id: started.prompt_id.unwrap_or_default(),
            };
            *self = Self {
                identity: Some(identity.clone()),
                ..Self::default()
            };
            return vec![if waits {
                Tell::Waits
            } else {
                Tell::Run(identity)
            }];
        }
        if let Some(session) = event.session {
            self.session = Some(session.clone());
            return vec![Tell::Session(session)];
        }
        if let Some(prompt) = event.prompt {
            return self.prompted(&prompt);
        }
        let Some(ended) = event.ended else {
            return Vec::new();
        };
        match end::failed(&ended) {
            Some(failed) => self.ends(Some(failed)),
            None => self.close(),
        }
    }

    /// A prompt of a session: each is told of as a run of its own would be.
    fn prompted(&mut self, event: &RawValue) -> Vec<Tell> {
        let prompt: Prompted = serde_json::from_str(event.get()).unwrap_or_default();
        match prompt.state.as_str() {
            "running" | "not_begun" => self.follows(prompt.prompt_id),
            "done" | "failed" => {
                let told = self.answer.take();
                let told = told.and_then(|answer| end::answered(&answer));
                let end = end::failed(event).or(told);
                // One that was taken back has no answer of the agent's.
                self.ends(end.or_else(|| end::answered(event)))
            }
            _ => Vec::new(),
        }
    }

    fn follows(&mut self, prompt: String) -> Vec<Tell> {
        let Some(mut identity) = self.identity.clone() else {
            return Vec::new();
        };
        if identity.prompt_id == prompt {
            return Vec::new();
        }
        identity.prompt_id = prompt;
        *self = Self {
            identity: Some(identity.clone()),
            session: self.session.take(),
            ..Self::default()
        };
        let session = self.session.clone().map(Tell::Session);
        [Tell::Run(identity)].into_iter().chain(session).collect()
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
