//! `/health`, `/ready`, `/version`, `/metrics`, `/openapi.json`: for those who run the gateway.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, header};
use provost_core::trace::view::Exposure;
use serde_json::json;

use super::{
    error::{ApiError, ApiResult},
    input::Params,
};
use crate::{app::App, channels::Standing, instance::LONGEST_CHALLENGE};

const OPENAPI: &str = include_str!("openapi.json");

/// Answers from counters and memory: no row is looked at.
pub(super) async fn health(State(app): State<Arc<App>>) -> ApiResult {
    let (policy, live) = (app.policy_state.load(), app.live.load());
    let queue = app.gate.store().queue_depth().await?;
    let servers = app.mcp.summary();
    let channels = app.channels.load().standings();
    let failing = channels.values().any(Standing::is_failing);
    let status = if policy.error.is_some() || servers.down > 0 || failing {
        "degraded"
    } else {
        "ok"
    };
    let stopped: Vec<_> = app
        .gate
        .control()
        .stops
        .iter()
        .map(|stop| stop.scope.to_string())
        .collect();
    Ok(Json(json!({
        "status": status,
        "version": app.version,
        "uptime_seconds": app.started.elapsed().as_secs(),
        "store": app.gate.store().kind(),
        "tools": app.backends.count(),
        "pending": queue.pending,
        "waiting": app.gate.waiting(),
        "stopped": stopped,
        "auth": {"open": live.access.open, "declared_agents": live.access.declared_agents},
        "exposes_content": live.exposure == Exposure::Everything,
        "loop_limit": app.gate.settings().repeat.is_some(),
        "mcp_servers": servers,
        "channels": channels,
        "policy": &**policy,
    }))
    .into_response())
}

pub(super) async fn ready(State(app): State<Arc<App>>) -> ApiResult {
    app.gate.store().ready().await?;
    Ok(Json(json!({"status": "ready"})).into_response())
}

pub(super) async fn version(State(app): State<Arc<App>>) -> Response {
    Json(json!({"name": "provost", "version": app.version})).into_response()
}

/// Proves to whoever can read the data folder that this is its gateway.
pub(super) async fn instance(State(app): State<Arc<App>>, asked: Params) -> ApiResult {
    let Some(instance) = app.instance.get() else {
        return Err(ApiError::not_found("proof of this gateway"));
    };
    let asked = asked.known(&["challenge"])?;
    let challenge = asked.text("challenge").unwrap_or_default();
    if challenge.is_empty() || challenge.len() > LONGEST_CHALLENGE {
        return Err(ApiError::bad_request(format!(
            "`challenge` is 1 to {LONGEST_CHALLENGE} bytes"
        )));
    }
    let proof = instance.prove(&challenge);
    Ok(Json(json!({"proof": proof})).into_response())
}

pub(super) async fn metrics(State(app): State<Arc<App>>) -> ApiResult {
    let Some(recorder) = &app.metrics else {
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "no_metrics",
            "metrics are not recorded",
        ));
    };
    let queue = app.gate.store().queue_depth().await?;
    let age = queue
        .oldest
        .map_or(0.0, |oldest| app.gate.now().since(oldest).as_secs_f64());
    metrics::gauge!("provost_approvals_pending").set(queue.pending as f64);
    metrics::gauge!("provost_approvals_oldest_seconds").set(age);
    metrics::gauge!("provost_callers_waiting").set(app.gate.waiting() as f64);
    Ok((
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        recorder.render(),
    )
        .into_response())
}

pub(super) async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
