//! A strict Bot API: it checks every field and limit, forgets updates as Telegram does, lets one reader read,
//! and keeps what it was asked. A request that breaks the rules fails the test, too.

mod check;
mod html;
mod markup;
mod methods;
mod updates;

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{StatusCode, Uri},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify, task::JoinHandle};

pub(crate) const TOKEN: &str = "4242:test-TOKEN_of-the-bot";
pub(crate) const BOT: i64 = 4242;

pub(crate) struct Fake {
    pub(crate) url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    api: Mutex<Api>,
    changed: Notify,
}

/// What the server knows.
#[derive(Default)]
pub(crate) struct Api {
    /// Every request in its order.
    pub(crate) asked: Vec<(String, Value)>,
    pub(crate) messages: BTreeMap<(i64, i64), Value>,
    /// Who blocked the bot.
    pub(crate) blocked: HashSet<i64>,
    /// Who never pressed Start.
    pub(crate) never_started: HashSet<i64>,
    /// Taps that were not answered yet.
    pub(crate) open_taps: HashSet<String>,
    pub(crate) webhook: Option<Value>,
    pub(crate) updates: VecDeque<Value>,
    /// Errors to be answered next, by method.
    scripted: HashMap<&'static str, VecDeque<Answer>>,
    violations: Vec<String>,
    last_update: i64,
    last_message: i64,
    /// The reader that came last is the one who reads.
    reader: u64,
    /// How often a reader was told that there is another.
    pub(crate) conflicts: usize,
}

pub(crate) use updates::At;

pub(crate) type Answer = (u16, Value);

impl Fake {
    pub(crate) async fn start() -> Self {
        let shared = Arc::new(Shared {
            api: Mutex::new(Api {
                last_update: 1000,
                last_message: 10,
                ..Api::default()
            }),
            changed: Notify::new(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(shared.clone());
        let server = tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            shared,
            server,
        }
    }

    pub(crate) fn api(&self) -> MutexGuard<'_, Api> {
        self.shared.api.lock().unwrap()
    }

    /// Answers the next call of a method with an error.
    pub(crate) fn fail_next(&self, method: &'static str, code: u16, description: &str) {
        self.script(method, error(code, description));
    }

    pub(crate) fn script(&self, method: &'static str, answer: Answer) {
        let mut api = self.api();
        api.scripted.entry(method).or_default().push_back(answer);
    }

    /// The bodies of all calls of a method.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let api = self.api();
        let of_method = api.asked.iter().filter(|(name, _)| name == method);
        of_method.map(|(_, body)| body.clone()).collect()
    }

    /// Waits until what the server knows is so.
    pub(crate) async fn until<T>(&self, mut found: impl FnMut(&Api) -> Option<T>) -> T {
        let wait = async {
            loop {
                let changed = self.shared.changed.notified();
                if let Some(found) = found(&self.api()) {
                    return found;
                }
                changed.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wait)
            .await
            .expect("it did not happen in time")
    }

    /// Waits for so many calls of a method.
    pub(crate) async fn until_asked(&self, method: &str, times: usize) -> Vec<Value> {
        self.until(|api| {
            (api.asked.iter().filter(|(name, _)| name == method).count() >= times).then_some(())
        })
        .await;
        self.asked(method)
    }

    /// What was wrong with the requests, for a test that makes wrong ones.
    pub(crate) fn violations(&self) -> Vec<String> {
        std::mem::take(&mut self.api().violations)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
        if !std::thread::panicking() {
            let violations = self.violations();
            assert!(
                violations.is_empty(),
                "rules of the Bot API were broken: {violations:#?}"
            );
        }
    }
}

pub(crate) fn error(code: u16, description: &str) -> Answer {
    (
        code,
        json!({"ok": false, "error_code": code, "description": description}),
    )
}

pub(crate) fn too_many(seconds: u64) -> Answer {
    let (code, mut answer) = error(429, "Too Many Requests: retry later");
    answer["parameters"] = json!({"retry_after": seconds});
    (code, answer)
}

async fn serve(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    body: Bytes,
) -> (StatusCode, Json<Value>) {
    let (code, answer) = answer(&shared, uri.path(), &body).await;
    shared.changed.notify_waiters();
    (StatusCode::from_u16(code).unwrap(), Json(answer))
}

async fn answer(shared: &Shared, path: &str, body: &[u8]) -> Answer {
    let parts = path
        .strip_prefix("/bot")
        .and_then(|rest| rest.split_once('/'));
    let Some((token, method)) = parts else {
        return error(404, "Not Found");
    };
    if token != TOKEN {
        return error(401, "Unauthorized");
    }
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        return error(400, "Bad Request: can't parse JSON object");
    };
    {
        let mut api = shared.api.lock().unwrap();
        api.asked.push((method.to_owned(), body.clone()));
        shared.changed.notify_waiters();
        if let Some(scripted) = api.scripted.get_mut(method).and_then(VecDeque::pop_front) {
            return scripted;
        }
        if let Err(violation) = check::check(method, &body) {
            api.violations.push(format!("{method}: {violation}"));
            return error(400, &format!("Bad Request: {violation}"));
        }
    }
    if method == "getUpdates" {
        return updates::get(shared, &body).await;
    }
    let mut api = shared.api.lock().unwrap();
    match api.call(method, &body) {
        Ok(result) => (200, json!({"ok": true, "result": result})),
        Err((code, description)) => error(code, description),
    }
}
