//! `POST /v1/mcp-calls`: `provost mcp -- COMMAND` asks for a call of the MCP server that it wraps, and
//! `POST /v1/mcp-calls/{id}/outcome` tells how the call went.
//!
//! Such a call is recorded as every other of an MCP client, door and outcome included, although the server is not
//! ours. An outcome is taken only from whom the permission was given to: the answer carries a token for its trace.
//! Without it, an agent could write the outcome of a call that a backend of ours executes.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, StatusCode};
use provost_core::{
    door::Door,
    gate::Told,
    ids::{TraceId, hex},
    ports::StoreError,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{
    caller::Agent,
    calls::{DecideCall, Manner, decide_call, pass},
    error::{ApiError, ApiResult},
    input::{Body, Segment},
};
use crate::app::App;

/// The name of the secret that tokens are made with.
const SECRET: &str = "outcomes";
const TOKEN: &str = "x-outcome-token";
/// What is kept of an error.
const LONGEST_ERROR: usize = 2048;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrappedCall {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    session_id: Option<String>,
    /// Why the arguments do not fit the schema that the wrapped server gave: only its wrapper has seen it. Saying
    /// so gains an agent nothing but a refusal.
    misfit: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    token: String,
    error: Option<String>,
    /// Bytes of the result.
    #[serde(default)]
    size: usize,
    #[serde(default)]
    latency_ms: u64,
}

pub(super) async fn ask(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    mut manner: Manner,
    Body(body): Body<WrappedCall>,
) -> ApiResult {
    let misfit = body.misfit.map(|why| bounded(why).into());
    let call = DecideCall {
        agent: None,
        tool: body.tool,
        arguments: body.arguments,
        session_id: body.session_id,
    };
    let asked = decide_call(agent, manner.take_session(), call);
    let asked = asked.map(|asked| asked.through(Door::Mcp).misfitting(misfit));
    let mut answer = pass(app.clone(), asked, manner).await?;
    if answer.status() != StatusCode::OK {
        return Ok(answer);
    }
    let trace = answer.headers().get("x-trace-id");
    if let Some(trace) = trace.and_then(|trace| trace.to_str().ok()) {
        let token = token(&app, trace).await?;
        if let Ok(token) = HeaderValue::from_str(&token) {
            answer.headers_mut().insert(TOKEN, token);
        }
    }
    Ok(answer)
}

pub(super) async fn outcome(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Segment(trace): Segment,
    Body(outcome): Body<Outcome>,
) -> ApiResult {
    let expected = token(&app, &trace).await?;
    if !bool::from(expected.as_bytes().ct_eq(outcome.token.as_bytes())) {
        return Err(ApiError::forbidden("this token is not for this call"));
    }
    let told = Told {
        error: outcome.error.map(bounded),
        size: outcome.size,
        latency_ms: outcome.latency_ms,
    };
    let trace_id = TraceId::parse(&trace).ok_or_else(|| ApiError::not_found("trace"))?;
    if !app.gate.told(&agent, &trace_id, Door::Mcp, told).await? {
        return Err(ApiError::not_found("trace"));
    }
    Ok(Json(json!({ "trace_id": trace_id })).into_response())
}

async fn token(app: &App, trace: &str) -> Result<String, StoreError> {
    let secret = app.gate.store().secret(SECRET).await?;
    let mut seal = Hmac::<Sha256>::new_from_slice(&secret)
        .map_err(|_| StoreError::Failed("a secret is unusable".into()))?;
    seal.update(trace.as_bytes());
    Ok(hex(&seal.finalize().into_bytes()))
}

fn bounded(mut error: String) -> String {
    error.truncate(error.floor_char_boundary(LONGEST_ERROR));
    error
}
