//! A page of approvals held as values in memory, written as JSON for every request.

use std::{fs, path::Path, sync::Arc};

use axum::{
    Json, Router,
    extract::State,
    response::{IntoResponse as _, Response},
    routing::get,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// In the order in which the gateway writes them, so that the bytes are the same.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Approval {
    id: String,
    kind: String,
    agent_id: String,
    tool: String,
    params: Map<String, Value>,
    policy_rule: String,
    policy: String,
    created_at: String,
    digest: String,
    injection_risk: bool,
    trace_id: String,
    door: String,
    executor: String,
    status: String,
    level: String,
    expires_at: String,
    remaining: String,
}

pub(super) fn router(page: &Path) -> anyhow::Result<Router> {
    let page: Vec<Approval> = serde_json::from_slice(&fs::read(page)?)?;
    Ok(Router::new()
        .route("/approvals", get(list))
        .with_state(Arc::new(page)))
}

async fn list(State(page): State<Arc<Vec<Approval>>>) -> Response {
    Json(&*page).into_response()
}
