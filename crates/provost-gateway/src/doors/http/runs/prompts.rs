//! `/v1/runs/{id}/prompts`: what a session that stays is asked, one prompt after another.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    response::IntoResponse as _,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

use super::{find, fleet, refused, view};
use crate::{
    app::App,
    doors::http::{
        caller::Person,
        calls::idempotency_key,
        error::{ApiError, ApiResult},
        input::{Body, Segment},
    },
    fleet::{PROMPT_FIELDS, Refused},
};

pub(in crate::doors::http) async fn add_prompt(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Segment(id): Segment,
    headers: HeaderMap,
    Body(body): Body<Map<String, Value>>,
) -> ApiResult {
    let fleet = fleet(&app)?;
    let run = find(fleet, &id)?;
    let known = idempotency_key(&headers)?;
    let added = fleet.prompt(&run, body, key.identity(), known).await;
    let (prompt, before) = added.map_err(|error| match error {
        Refused::Bad(_) => {
            refused(error).help(format!("a prompt takes {}", PROMPT_FIELDS.join(", ")))
        }
        _ => refused(error),
    })?;
    let made = json!({
        "promptId": prompt.prompt_id, "number": prompt.number, "state": prompt.state, "runId": run.record.id,
        "waiting": run.story().waiting(),
    });
    let mut response = (StatusCode::ACCEPTED, Json(made)).into_response();
    if before {
        let replayed = HeaderValue::from_static("true");
        response
            .headers_mut()
            .insert("idempotency-replayed", replayed);
    }
    Ok(response)
}

pub(in crate::doors::http) async fn prompts(
    State(app): State<Arc<App>>,
    Person(_): Person,
    Segment(id): Segment,
) -> ApiResult {
    let run = find(fleet(&app)?, &id)?;
    let prompts = view::prompts(&run).await;
    Ok(Json(json!({ "prompts": prompts })).into_response())
}

pub(in crate::doors::http) async fn cancel_prompt(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Path((id, prompt)): Path<(String, String)>,
    Body(body): Body<Map<String, Value>>,
) -> ApiResult {
    let fleet = fleet(&app)?;
    if let Some(unknown) = body.keys().next() {
        let error = ApiError::bad_request(format!("unknown field `{unknown}`"));
        return Err(error.help("the body is empty, or `{}`"));
    }
    let run = find(fleet, &id)?;
    let cancelled = fleet.cancel_prompt(&run, &prompt, &key.identity()).await;
    let cancelled = cancelled.map_err(refused)?;
    let cancelled = cancelled.ok_or_else(|| ApiError::not_found("prompt"))?;
    Ok((StatusCode::ACCEPTED, Json(view::prompt(&cancelled))).into_response())
}
