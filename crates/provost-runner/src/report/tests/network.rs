//! A network in memory: it answers as it is told and remembers what it was sent.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, value::RawValue};

use crate::{
    config::{Identity, Secret},
    report::{Callback, Clock, Event, Observe, Reporter, Settings, send::Post},
    web,
};

/// What the network does with one request.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    Status(u16, &'static str),
    /// With `Retry-After`.
    Later(u16, &'static str),
    Unreached,
    /// The receiver has it, we do not know.
    Lost,
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) reply: Reply,
    pub(super) at: tokio::time::Instant,
}

impl Request {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(super) fn sequence(&self) -> u64 {
        self.json()["sequence"].as_u64().unwrap()
    }

    pub(super) fn kind(&self) -> String {
        self.json()["kind"].as_str().unwrap().to_owned()
    }

    pub(super) fn arrived(&self) -> bool {
        matches!(self.reply, Reply::Status(200, _) | Reply::Lost)
    }

    /// The raw texts of its notifications.
    pub(super) fn notifications(&self) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Raw<'a> {
            #[serde(borrow, default)]
            notifications: Vec<&'a RawValue>,
        }
        let raw: Raw<'_> = serde_json::from_slice(&self.body).unwrap();
        let raw = raw.notifications.iter();
        raw.map(|one| one.get().to_owned()).collect()
    }
}

#[derive(Clone, Default)]
pub(super) struct Network {
    script: Arc<Mutex<VecDeque<Reply>>>,
    sent: Arc<Mutex<Vec<Request>>>,
}

impl Network {
    pub(super) fn plan(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().extend(replies);
    }

    pub(super) fn sent(&self) -> Vec<Request> {
        self.sent.lock().unwrap().clone()
    }

    pub(super) fn chained(&self) -> Vec<Request> {
        let mut sent = self.sent();
        sent.retain(|request| request.kind() != "heartbeat");
        sent
    }

    /// Heartbeats are answered apart: a script is for the chain.
    pub(super) fn start(&self, settings: Settings) -> Reporter {
        let quiet = Self {
            sent: Arc::clone(&self.sent),
            ..Self::default()
        };
        Reporter::with(settings, Some([self.post(), quiet.post()])).unwrap()
    }

    pub(super) fn start_with(&self, settings: Settings, pulse: &Self) -> Reporter {
        Reporter::with(settings, Some([self.post(), pulse.post()])).unwrap()
    }

    fn post(&self) -> Post {
        let network = self.clone();
        Arc::new(move |headers, body| {
            let script = network.script.lock().unwrap().pop_front();
            let reply = script.unwrap_or(Reply::Status(200, ""));
            network.sent.lock().unwrap().push(Request {
                headers,
                body,
                reply: reply.clone(),
                at: tokio::time::Instant::now(),
            });
            Box::pin(reply.answer())
        })
    }
}

impl Reply {
    pub(super) async fn answer(self) -> Result<web::Answer, web::Error> {
        let mut headers = HeaderMap::new();
        let (status, body) = match self {
            Self::Status(status, body) => (status, body),
            Self::Later(status, after) => {
                headers.insert("retry-after", after.parse().unwrap());
                (status, "")
            }
            Self::Unreached => return Err(web::Error::Unanswered("refused".to_owned())),
            Self::Lost => return Err(web::Error::Slow(Duration::from_secs(1))),
            Self::Never => return std::future::pending().await,
        };
        Ok(web::Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers,
            body: Bytes::from(body),
        })
    }
}

pub(super) fn settings() -> Settings {
    let identity = Identity {
        run_id: "r".to_owned(),
        task_id: "t".to_owned(),
        sandbox_id: "s".to_owned(),
        prompt_id: "p".to_owned(),
    };
    Settings {
        callback: Some(Callback {
            url: "http://127.0.0.1/".to_owned(),
            token: Secret::new("token"),
            signing_secret: None,
        }),
        clock: Clock::new(|| 1_700_000_000_000),
        ..Settings::new(identity)
    }
}

pub(super) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

/// Writes down what happens to which report.
pub(super) fn observer() -> (Observe, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&told);
    let observe: Observe = Arc::new(move |event| {
        let (name, sequence) = match event {
            Event::Queued { sequence, .. } => ("Queued", sequence),
            Event::Delivered { sequence, .. } => ("Delivered", sequence),
            Event::Again { sequence, .. } => ("Again", sequence),
            Event::Refused { sequence, .. } => ("Refused", sequence),
            Event::Dropped { sequence, .. } => ("Dropped", sequence),
            Event::Unauthorized { sequence, .. } => ("Unauthorized", sequence),
        };
        list.lock().unwrap().push(format!("{name} {sequence}"));
    });
    (observe, told)
}
