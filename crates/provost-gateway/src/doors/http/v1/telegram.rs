//! `POST /v1/telegram/webhook`: what people did in Telegram, from Telegram itself.

use std::sync::Arc;

use axum::{
    Json,
    extract::{FromRequest as _, Request, State},
    response::IntoResponse as _,
};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use crate::{
    app::App,
    channels::{Office, telegram::SECRET_HEADER},
    doors::http::{
        error::{ApiError, ApiResult},
        input::Body,
    },
};

pub(in crate::doors::http) async fn telegram_webhook(
    State(app): State<Arc<App>>,
    request: Request,
) -> ApiResult {
    let channels = app.channels.load_full();
    // Before the body is read: anybody may send one, as slowly as they like.
    let secret = request
        .headers()
        .get(SECRET_HEADER)
        .map(HeaderValue::as_bytes);
    let telegram = channels.telegram();
    let Some(telegram) = telegram.filter(|telegram| telegram.verify_webhook_secret(secret)) else {
        return Err(ApiError::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "this is for Telegram, which shows the secret of the webhook",
        ));
    };
    let Body(update) = Body::<Value>::from_request(request, &app).await?;
    let desk = Office(app.clone());
    telegram.handle_update(&desk, &update).await?;
    Ok(Json(json!({"ok": true})).into_response())
}
