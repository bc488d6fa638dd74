//! The Bot API of the product's tests: it keeps every message, lets people tap, and can hold its answers. The
//! strict one, which holds the gateway to Telegram's limits, stands beside the channel's own tests.

use std::{
    io::{BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{echo::request, harness::eventually};

/// So long a poll waits for an update, and a held answer for its release.
const POLL: Duration = Duration::from_millis(200);
const LONGEST_HOLD: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub(crate) struct Bot {
    pub(crate) addr: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    sent: Vec<Value>,
    edited: Vec<Value>,
    updates: Vec<Value>,
    updates_made: i64,
    /// Messages are taken, and not answered, while this is set.
    holds: bool,
    token_is_wrong: bool,
    /// Who never pressed Start.
    never_started: Vec<i64>,
}

impl Bot {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let addr = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let shared = state.clone();
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || serve(&stream, &state));
            }
        });
        Self { addr, state }
    }

    /// As it stands in a configuration file.
    pub(crate) fn channel(&self, allow: &[i64]) -> String {
        format!(
            "channels:\n  telegram: {{token: '1:abc', api_url: 'http://{}', allow: {allow:?}}}\n",
            self.addr
        )
    }

    pub(crate) fn hold(&self, holds: bool) {
        self.state.inner.lock().unwrap().holds = holds;
        self.state.changed.notify_all();
    }

    pub(crate) fn refuse_token(&self, refuses: bool) {
        self.state.inner.lock().unwrap().token_is_wrong = refuses;
    }

    pub(crate) fn never_started(&self, users: &[i64]) {
        self.state.inner.lock().unwrap().never_started = users.to_vec();
    }

    pub(crate) fn sent(&self) -> Vec<Value> {
        self.state.inner.lock().unwrap().sent.clone()
    }

    pub(crate) fn edited(&self) -> Vec<Value> {
        self.state.inner.lock().unwrap().edited.clone()
    }

    /// The messages, once there are so many.
    #[track_caller]
    pub(crate) fn messages(&self, count: usize) -> Vec<Value> {
        eventually("a message", || {
            Some(self.sent()).filter(|sent| sent.len() >= count)
        })
    }

    /// Somebody taps the button of a code under a message.
    #[track_caller]
    pub(crate) fn tap(&self, message: &Value, code: &str, user: i64) {
        let update = self.tapped(message, code, user);
        let mut inner = self.state.inner.lock().unwrap();
        inner.updates.push(update);
        self.state.changed.notify_all();
    }

    /// The update that tells of it.
    #[track_caller]
    pub(crate) fn tapped(&self, message: &Value, code: &str, user: i64) -> Value {
        let rows = message["reply_markup"]["inline_keyboard"]
            .as_array()
            .unwrap();
        let buttons = rows.iter().flat_map(|row| row.as_array().unwrap());
        let mut data = buttons.filter_map(|button| button["callback_data"].as_str());
        let own = format!("{code}:");
        let data = data.find(|data| data.starts_with(&own)).unwrap();
        let chat = &message["chat_id"];
        let mut inner = self.state.inner.lock().unwrap();
        inner.updates_made += 1;
        json!({"update_id": inner.updates_made, "callback_query": {
            "id": "1", "chat_instance": "1", "data": data,
            "from": {"id": user, "is_bot": false, "first_name": "Somebody"},
            "message": {"message_id": message["message_id"], "date": 0, "text": "…",
                "chat": {"id": chat, "type": "private"}},
        }})
    }
}

impl State {
    fn refusal(&self, method: &str, body: &Value) -> Option<Value> {
        let inner = self.inner.lock().unwrap();
        let chat = body["chat_id"].as_i64();
        let unknown = chat.is_some_and(|chat| inner.never_started.contains(&chat));
        let (code, words) = match method {
            _ if inner.token_is_wrong => (401, "Unauthorized"),
            "getChat" | "sendMessage" if unknown => (400, "Bad Request: chat not found"),
            _ => return None,
        };
        Some(json!({"ok": false, "error_code": code, "description": words}))
    }

    fn answer(&self, method: &str, body: &Value) -> Value {
        match method {
            "getMe" => json!({"id": 1, "is_bot": true, "first_name": "bot", "username": "bot"}),
            "sendMessage" => self.send(body),
            "editMessageText" => {
                self.inner.lock().unwrap().edited.push(body.clone());
                message(&body["message_id"], &body["chat_id"])
            }
            "getUpdates" => self.updates(body),
            _ => json!(true),
        }
    }

    fn send(&self, body: &Value) -> Value {
        let mut inner = self.inner.lock().unwrap();
        let id = json!(inner.sent.len() + 1);
        let mut sent = body.clone();
        sent["message_id"] = id.clone();
        inner.sent.push(sent);
        let held = |inner: &mut Inner| inner.holds;
        let waited = self.changed.wait_timeout_while(inner, LONGEST_HOLD, held);
        drop(waited);
        message(&id, &body["chat_id"])
    }

    fn updates(&self, body: &Value) -> Value {
        let inner = self.inner.lock().unwrap();
        let none = |inner: &mut Inner| inner.updates.is_empty();
        let (mut inner, _) = self.changed.wait_timeout_while(inner, POLL, none).unwrap();
        let offset = body["offset"].as_i64().unwrap_or(0);
        inner
            .updates
            .retain(|update| update["update_id"].as_i64().unwrap() >= offset);
        inner.updates.clone().into()
    }
}

fn message(id: &Value, chat: &Value) -> Value {
    json!({"message_id": id, "date": 0, "chat": {"id": chat, "type": "private"}})
}

fn serve(stream: &TcpStream, state: &State) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Ok((path, body)) = request(&mut reader) {
        let method = path.rsplit('/').next().unwrap_or_default();
        let refusal = state.refusal(method, &body);
        let status = if refusal.is_some() {
            "400 Bad Request"
        } else {
            "200 OK"
        };
        let answer = refusal
            .unwrap_or_else(|| json!({"ok": true, "result": state.answer(method, &body)}))
            .to_string();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
        let whole = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
        let mut stream = stream;
        if stream.write_all(whole.as_bytes()).is_err() {
            return;
        }
    }
}
