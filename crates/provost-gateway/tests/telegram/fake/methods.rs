//! What the methods do, once their fields are right.

use serde_json::{Value, json};

use super::{Api, BOT, html};

type Done = Result<Value, (u16, &'static str)>;

impl Api {
    pub(super) fn call(&mut self, method: &str, body: &Value) -> Done {
        match method {
            "getMe" => Ok(
                json!({"id": BOT, "is_bot": true, "first_name": "Provost", "username": "provost_bot"}),
            ),
            "getChat" => match body["chat_id"].as_i64() {
                Some(chat) if self.never_started.contains(&chat) => {
                    Err((400, "Bad Request: chat not found"))
                }
                Some(chat) => Ok(chat_of(chat)),
                None => Ok(chat_of(-1_000_500)),
            },
            "sendMessage" => self.send(body),
            "editMessageText" | "editMessageReplyMarkup" => self.edit(body),
            "answerCallbackQuery" => self.answer_tap(body),
            "setWebhook" => {
                self.webhook = Some(body.clone());
                Ok(json!(true))
            }
            "deleteWebhook" => {
                self.webhook = None;
                Ok(json!(true))
            }
            _ => Err((404, "Not Found")),
        }
    }

    fn send(&mut self, body: &Value) -> Done {
        // Names stand for one public group.
        let chat = body["chat_id"].as_i64().unwrap_or(-1_000_500);
        if self.blocked.contains(&chat) {
            return Err((403, "Forbidden: bot was blocked by the user"));
        }
        if chat == 0 {
            return Err((400, "Bad Request: chat not found"));
        }
        self.last_message += 1;
        let message = json!({
            "message_id": self.last_message,
            "date": 1_700_000_000,
            "from": {"id": BOT, "is_bot": true, "first_name": "Provost"},
            "chat": chat_of(chat),
            "text": shown(body),
            "reply_markup": body["reply_markup"],
        });
        self.messages
            .insert((chat, self.last_message), message.clone());
        Ok(message)
    }

    fn edit(&mut self, body: &Value) -> Done {
        let key = (
            body["chat_id"].as_i64().unwrap(),
            body["message_id"].as_i64().unwrap(),
        );
        let message = self.messages.get_mut(&key);
        let message = message.ok_or((400, "Bad Request: message to edit not found"))?;
        let before = message.clone();
        if body.get("text").is_some() {
            message["text"] = shown(body);
        }
        message["reply_markup"] = body["reply_markup"].clone();
        if *message == before {
            return Err((
                400,
                "Bad Request: message is not modified: specified new message content and reply markup are \
                 exactly the same as a current content and reply markup of the message",
            ));
        }
        Ok(message.clone())
    }

    fn answer_tap(&mut self, body: &Value) -> Done {
        let id = body["callback_query_id"].as_str().unwrap();
        if self.open_taps.remove(id) {
            return Ok(json!(true));
        }
        Err((
            400,
            "Bad Request: query is too old and response timeout expired or query ID is invalid",
        ))
    }
}

pub(super) fn chat_of(chat: i64) -> Value {
    match chat {
        -1_000_500 => json!({"id": chat, "type": "supergroup", "title": "Ops", "username": "ops"}),
        1.. => json!({"id": chat, "type": "private", "first_name": "Somebody"}),
        _ => json!({"id": chat, "type": "supergroup", "title": "Group"}),
    }
}

fn shown(body: &Value) -> Value {
    let text = body["text"].as_str().unwrap();
    if body.get("parse_mode").is_some() {
        html::shown(text).unwrap().into()
    } else {
        text.into()
    }
}
