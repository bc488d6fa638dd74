//! Updates: made by tests, read once, forgotten when the reader goes on, posted where there is a webhook.

use std::time::Duration;

use http::Request;
use provost_gateway::web::Web;
use serde_json::{Value, json};

use super::{Answer, Fake, Shared, error, methods::chat_of};

/// Somebody in some chat.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) user: i64,
    pub(crate) chat: i64,
}

impl At {
    pub(crate) fn from(self) -> Value {
        json!({"id": self.user, "is_bot": false, "first_name": "Somebody"})
    }

    pub(crate) fn chat(self) -> Value {
        chat_of(self.chat)
    }
}

impl Fake {
    /// Somebody taps on a button. Tests change what they need to.
    pub(crate) fn tap(&self, at: At, message: i64, data: &str) -> Value {
        let mut api = self.api();
        api.last_update += 1;
        let query = format!("tap-{}", api.last_update);
        api.open_taps.insert(query.clone());
        let known = api.messages.get(&(at.chat, message)).cloned();
        let message =
            known.unwrap_or_else(|| json!({"message_id": message, "date": 0, "chat": at.chat()}));
        json!({
            "update_id": api.last_update,
            "callback_query": {
                "id": query,
                "from": at.from(),
                "message": message,
                "chat_instance": "1",
                "data": data,
            },
        })
    }

    /// Somebody writes, in reply to a message or not.
    pub(crate) fn text(&self, at: At, reply_to: Option<i64>, text: &str) -> Value {
        let mut api = self.api();
        api.last_update += 1;
        api.last_message += 1;
        let mut message = json!({
            "message_id": api.last_message,
            "date": 1_700_000_100,
            "from": at.from(),
            "chat": at.chat(),
            "text": text,
        });
        if let Some(reply_to) = reply_to {
            let known = api.messages.get(&(at.chat, reply_to)).cloned();
            message["reply_to_message"] = known
                .unwrap_or_else(|| json!({"message_id": reply_to, "date": 0, "chat": at.chat()}));
        }
        json!({"update_id": api.last_update, "message": message})
    }

    /// Gives an update to whoever polls.
    pub(crate) fn push(&self, update: Value) {
        self.api().updates.push_back(update);
        self.shared.changed.notify_waiters();
    }

    /// Posts an update to the webhook and gives the status of the answer.
    pub(crate) async fn post(&self, update: &Value) -> u16 {
        let webhook = self.api().webhook.clone().expect("a webhook");
        let mut request = Request::post(webhook["url"].as_str().unwrap())
            .header("content-type", "application/json");
        if let Some(secret) = webhook["secret_token"].as_str() {
            request = request.header("X-Telegram-Bot-Api-Secret-Token", secret);
        }
        let request = request.body(update.to_string().into()).unwrap();
        let posted = Web::new(1 << 20)
            .exchange(request, Duration::from_secs(10), 1 << 20)
            .await;
        posted.unwrap().status.as_u16()
    }
}

pub(super) async fn get(shared: &Shared, body: &Value) -> Answer {
    let me = {
        let mut api = shared.api.lock().unwrap();
        api.reader += 1;
        api.reader
    };
    // A reader who waits learns that another one came.
    shared.changed.notify_waiters();
    let wait = Duration::from_secs(body["timeout"].as_u64().unwrap_or_default());
    let read = async {
        loop {
            let changed = shared.changed.notified();
            if let Some(answer) = read(shared, body, me) {
                return answer;
            }
            changed.await;
        }
    };
    let read = tokio::time::timeout(wait, read).await;
    read.unwrap_or_else(|_| (200, json!({"ok": true, "result": []})))
}

/// `None` while there is nothing to read.
fn read(shared: &Shared, body: &Value, me: u64) -> Option<Answer> {
    let mut api = shared.api.lock().unwrap();
    if api.webhook.is_some() {
        return Some(error(
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        ));
    }
    if api.reader != me {
        api.conflicts += 1;
        return Some(error(
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        ));
    }
    if let Some(offset) = body["offset"].as_i64() {
        api.updates
            .retain(|update| update["update_id"].as_i64() >= Some(offset));
    }
    let limit = body["limit"].as_u64().unwrap_or(100) as usize;
    let updates: Vec<_> = api.updates.iter().take(limit).cloned().collect();
    (!updates.is_empty()).then(|| (200, json!({"ok": true, "result": updates})))
}
