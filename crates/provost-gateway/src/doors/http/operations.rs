//! `/health`, `/ready`, `/version`, `/metrics`, `/openapi.json`: for those who run the gateway.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{StatusCode, header};
use provost_core::trace::view::Exposure;
use serde_json::{Map, Value, json};

use super::{
    error::{ApiError, ApiResult},
    input::Params,
};
use crate::{admission::OfProgram, app::App, channels::Standing, instance::LONGEST_CHALLENGE};

const OPENAPI: &str = include_str!("openapi.json");

/// Answers from counters and memory, and within a few seconds. 503 where the store does not take writes.
pub(super) async fn health(State(app): State<Arc<App>>) -> Response {
    let store = app.store_probe.queue(app.gate.store()).await;
    let mut told = Map::new();
    let status = tell(&app, &mut told);
    match store {
        Ok(queue) => {
            told.insert("pending".into(), queue.pending.into());
            told.insert("status".into(), status.into());
            Json(told).into_response()
        }
        Err(why) => {
            told.insert("status".into(), "failing".into());
            let error = unavailable(&why);
            let all = told.into_iter();
            let error = all.fold(error, |error, (name, value)| error.with(&name, value));
            error.into_response()
        }
    }
}

/// Everything that can be told without the store, and how that looks.
fn tell(app: &App, told: &mut Map<String, Value>) -> &'static str {
    let (policy, live) = (app.policy_state.load(), app.live.load());
    let (servers, record) = (app.mcp.summary(), app.record.standing());
    let channels = app.channels.load().standings();
    let failing = channels.values().any(Standing::is_failing);
    let unsound = record.gap.is_some() || record.not_read.is_some();
    let degraded = policy.error.is_some() || servers.down > 0 || failing || unsound;
    let control = app.gate.control();
    let declaring = live.access.declaring(&control);
    let stopped: Vec<_> = control
        .stops
        .iter()
        .map(|stop| stop.scope.to_string())
        .collect();
    let all = json!({
        "version": app.version,
        "uptime_seconds": app.started.elapsed().as_secs(),
        "store": app.gate.store().kind(),
        "record": record,
        "tools": app.backends.count(),
        "waiting": app.gate.waiting(),
        "stopped": stopped,
        "auth": {
            "open": live.access.open,
            "declared_agents": declaring.is_open(),
            "declared_agents_because": declaring.why(),
            "agent_keys": control.are_agents_keyed(),
        },
        "exposes_content": live.exposure == Exposure::Everything,
        "loop_limit": app.gate.settings().repeat.is_some(),
        "mcp_servers": servers,
        "channels": channels,
        "policy": &**policy,
    });
    if let Value::Object(all) = all {
        told.extend(all);
    }
    if degraded { "degraded" } else { "ok" }
}

fn unavailable(why: &str) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", why)
        .help("nothing is allowed until `GET /ready` answers 200; the gateway's log says more")
        .retry_after(Duration::from_secs(1))
}

pub(super) async fn ready(State(app): State<Arc<App>>) -> ApiResult {
    let store = app.store_probe.ask(app.gate.store(), Duration::ZERO).await;
    store.map_err(|why| unavailable(&why))?;
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
    let store = app.store_probe.queue(app.gate.store()).await;
    metrics::gauge!("provost_store_up").set(if store.is_ok() { 1.0 } else { 0.0 });
    if let Ok(queue) = store {
        let age = queue
            .oldest
            .map_or(0.0, |oldest| app.gate.now().since(oldest).as_secs_f64());
        metrics::gauge!("provost_approvals_pending").set(queue.pending as f64);
        metrics::gauge!("provost_approvals_oldest_seconds").set(age);
    }
    metrics::gauge!("provost_callers_waiting").set(app.gate.waiting() as f64);
    Ok((
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4")],
        recorder.render(),
    )
        .into_response())
}

pub(super) async fn openapi() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (Extension(OfProgram), kind, OPENAPI).into_response()
}
