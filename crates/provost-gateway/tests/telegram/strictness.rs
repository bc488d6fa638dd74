//! That the strict Bot API is strict: a fake that lets everything pass would prove nothing.

use std::time::Duration;

use http::Request;
use provost_gateway::web::Web;
use serde_json::{Value, json};

use crate::fake::{Fake, TOKEN};

async fn ask(fake: &Fake, token: &str, method: &str, body: Value) -> (u16, Value) {
    let request = Request::post(format!("{}/bot{token}/{method}", fake.url))
        .body(body.to_string().into())
        .unwrap();
    let answer = Web::new(1 << 20)
        .exchange(request, Duration::from_secs(10), 1 << 20)
        .await;
    let answer = answer.unwrap();
    (
        answer.status.as_u16(),
        serde_json::from_slice(&answer.body).unwrap(),
    )
}

#[tokio::test]
async fn wrong_requests_are_refused() {
    let fake = Fake::start().await;
    let button = |data: &str| json!({"inline_keyboard": [[{"text": "x", "callback_data": data}]]});
    for (method, body) in [
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "x".repeat(4097)}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "👍".repeat(2049)}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "<b>x", "parse_mode": "HTML"}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "<i>x</i>", "parse_mode": "HTML"}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "a & b", "parse_mode": "HTML"}),
        ),
        ("sendMessage", json!({"chat_id": 1, "text": " \n"})),
        ("sendMessage", json!({"chat_id": "1", "text": "x"})),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "disable_all": true}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "reply_markup": button("")}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "reply_markup": button(&"d".repeat(65))}),
        ),
        (
            "sendMessage",
            json!({"chat_id": 1, "text": "x", "reply_markup": {"inline_keyboard": [{}]}}),
        ),
        ("editMessageText", json!({"chat_id": 1, "text": "x"})),
        (
            "answerCallbackQuery",
            json!({"callback_query_id": "1", "text": "x".repeat(201)}),
        ),
        ("getUpdates", json!({"limit": 101})),
        ("getUpdates", json!({"allowed_updates": ["message"]})),
        (
            "setWebhook",
            json!({"url": "https://x", "secret_token": "a b"}),
        ),
        ("sendDice", json!({"chat_id": 1})),
    ] {
        let (code, answer) = ask(&fake, TOKEN, method, body.clone()).await;
        assert_eq!(code, 400, "{method} {body} {answer}");
        assert_eq!(fake.violations().len(), 1, "{method} {body}");
    }
    let fits = json!({"chat_id": 1, "text": format!("<b>{}</b>", "👍".repeat(2048)), "parse_mode": "HTML"});
    assert_eq!(ask(&fake, TOKEN, "sendMessage", fits).await.0, 200);
    assert_eq!(ask(&fake, "1:x", "getMe", json!({})).await.0, 401);
}

#[tokio::test]
async fn updates_are_forgotten_only_when_the_reader_goes_on() {
    let fake = Fake::start().await;
    for id in [5, 6, 7] {
        fake.push(json!({ "update_id": id }));
    }
    for (offset, left) in [
        (json!(null), vec![5, 6]),
        (json!(5), vec![5, 6]),
        (json!(7), vec![7]),
    ] {
        let mut body = json!({"timeout": 0, "limit": 2, "offset": offset});
        if offset.is_null() {
            body.as_object_mut().unwrap().remove("offset");
        }
        let (_, answer) = ask(&fake, TOKEN, "getUpdates", body).await;
        let ids: Vec<_> = answer["result"]
            .as_array()
            .unwrap()
            .iter()
            .map(|update| update["update_id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, left);
    }
    fake.api().webhook = Some(json!({}));
    assert_eq!(ask(&fake, TOKEN, "getUpdates", json!({})).await.0, 409);
}
