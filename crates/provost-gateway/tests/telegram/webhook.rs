//! Updates by webhook, through a door like the gateway's.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use provost_core::menu::Code;
use provost_gateway::channels::telegram::{Mode, SECRET_HEADER, Telegram};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::{
    desk::MemoryDesk,
    scene::{ALICE, PACE, Scene, telegram},
};

type Door = (Arc<Telegram>, Arc<MemoryDesk>);

async fn receive(
    State((telegram, desk)): State<Door>,
    headers: HeaderMap,
    Json(update): Json<Value>,
) -> StatusCode {
    let secret = headers
        .get(SECRET_HEADER)
        .map(axum::http::HeaderValue::as_bytes);
    if !telegram.verify_webhook_secret(secret) {
        return StatusCode::UNAUTHORIZED;
    }
    match telegram.handle_update(&*desk, &update).await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

async fn open(scene: &Scene) -> String {
    let secret = "a-secret_1".into();
    let telegram = telegram(&scene.fake.url, &[ALICE], Mode::Webhook { secret });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    telegram.set_webhook(&url).await.unwrap();
    let door = Router::new()
        .route("/hook", post(receive))
        .with_state((telegram, scene.desk.clone()));
    tokio::spawn(async { axum::serve(listener, door).await.unwrap() });
    url
}

#[tokio::test]
async fn only_telegram_comes_in() {
    let scene = Scene::new().await;
    let url = open(&scene).await;
    let set = scene.fake.asked("setWebhook").pop().unwrap();
    assert_eq!(set["secret_token"], "a-secret_1");
    assert_eq!(set["allowed_updates"], json!(["message", "callback_query"]));
    for secret in [
        json!(null),
        json!("a-secret_2"),
        json!("a-secret_1x"),
        json!("a-secret_"),
    ] {
        scene.fake.api().webhook = Some(json!({"url": url, "secret_token": secret}));
        assert_eq!(scene.fake.post(&scene.tap(scene.alice, "1")).await, 401);
    }
    scene.assert_undecided();
    scene.fake.api().webhook = Some(set);
    assert_eq!(scene.fake.post(&scene.tap(scene.alice, "1")).await, 200);
    assert_eq!(scene.desk.codes(), [Code::Once]);
}

#[tokio::test]
async fn what_was_not_recorded_is_sent_again_and_what_was_is_not_repeated() {
    let scene = Scene::new().await;
    open(&scene).await;
    let text = scene
        .fake
        .text(scene.alice, Some(scene.message), "4: use care");
    scene.desk.papers().failures = 1;
    assert_eq!(scene.fake.post(&text).await, 503);
    assert_eq!(scene.fake.post(&text).await, 200);
    assert_eq!(scene.fake.post(&text).await, 200);
    assert_eq!(scene.desk.codes(), [Code::Note]);
    assert_eq!(scene.said().len(), 1);
    // What cannot be read is not asked for again and again.
    assert_eq!(scene.fake.post(&json!({"update_id": "?"})).await, 200);
}

/// It would take the updates away from the webhook.
#[tokio::test]
async fn where_there_is_a_webhook_nobody_polls() {
    let scene = Scene::new().await;
    let secret = "a-secret_1".into();
    let telegram = telegram(&scene.fake.url, &[ALICE], Mode::Webhook { secret });
    telegram
        .poll(&*scene.desk, PACE, std::future::pending())
        .await;
    assert!(scene.fake.asked("deleteWebhook").is_empty());
}

#[tokio::test]
async fn where_updates_are_polled_no_secret_is_right() {
    let scene = Scene::new().await;
    for secret in [None, Some(&b""[..]), Some(b"a-secret_1")] {
        assert!(!scene.telegram.verify_webhook_secret(secret));
    }
}
