//! `POST /tool/{name}` and `POST /decide`: agents ask.

mod answer;

use std::sync::Arc;

use axum::extract::State;
use http::{HeaderMap, StatusCode};
use provost_core::{
    call::{Call, is_name},
    door::Door,
    gate::Ask,
    ids::TraceId,
    ports::Backend,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    caller::Agent,
    error::{ApiError, ApiResult},
    input::{Body, Params, Segment, wait},
};
use crate::{app::App, telemetry::CallSpan};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCall {
    #[serde(default, alias = "arguments")]
    params: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideCall {
    agent: Option<String>,
    tool: String,
    #[serde(default, alias = "params")]
    arguments: Map<String, Value>,
    session_id: Option<String>,
}

pub(super) async fn tool(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Segment(tool): Segment,
    headers: HeaderMap,
    params: Params,
    Body(body): Body<ToolCall>,
) -> ApiResult {
    let params = params.known(&["wait"])?;
    // A dispatcher's call is judged, and recorded, as the command it runs.
    let tool = app.backends.judged_name(&tool, &body.params);
    let Some(backend) = app.backends.find(&tool) else {
        return Err(ApiError::new(
            StatusCode::NOT_FOUND,
            "unknown_tool",
            format!("unknown tool `{tool}`"),
        )
        .help("`GET /tools` lists the tools there are"));
    };
    let session = session(&headers, None)?;
    let call = Call {
        agent,
        session,
        tool: (&*tool).into(),
        params: body.params,
    };
    pass(&app, call, Some(backend), &headers, &params).await
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    headers: HeaderMap,
    params: Params,
    Body(body): Body<DecideCall>,
) -> ApiResult {
    let params = params.known(&["wait"])?;
    if body.agent.as_ref().is_some_and(|named| **named != *agent) {
        return Err(ApiError::forbidden(format!(
            "this caller is `{agent}` and may not ask for another agent"
        )));
    }
    if !is_name(&body.tool) {
        return Err(ApiError::bad_request(
            "`tool` is 1 to 256 printable characters",
        ));
    }
    let session = session(&headers, body.session_id)?;
    let call = Call {
        agent,
        session,
        tool: body.tool.into(),
        params: body.arguments,
    };
    pass(&app, call, None, &headers, &params).await
}

/// Through the gate, to a backend where there is one, and back.
async fn pass(
    app: &App,
    call: Call,
    backend: Option<Arc<dyn Backend>>,
    headers: &HeaderMap,
    params: &Params,
) -> ApiResult {
    let began_at = app.gate.now();
    let (agent, tool, session) = (call.agent.clone(), call.tool.clone(), call.session.clone());
    let door = if backend.is_some() {
        Door::Http
    } else {
        Door::Decide
    };
    let ask = ask(app, call, door, headers, params).await?;
    let trace_id = ask.trace_id.clone();
    let decided = match backend {
        Some(backend) => app.gate.run(ask, backend).await?,
        None => app.gate.decide(ask).await?,
    };
    if let Some(spans) = &app.spans {
        let (verdict, failed) = decided.summary();
        let parent = parent_span(headers);
        let ended_at = app.gate.now();
        let (agent, session, tool) = (agent.clone(), session, tool.clone());
        spans.call(CallSpan {
            trace_id,
            parent,
            agent,
            session,
            tool,
            began_at,
            ended_at,
            verdict,
            failed,
        });
    }
    answer::answer(decided, &agent, &tool)
}

/// The third part of a `traceparent`.
fn parent_span(headers: &HeaderMap) -> Option<String> {
    let parent = headers
        .get("traceparent")?
        .to_str()
        .ok()?
        .split('-')
        .nth(2)?;
    (parent.len() == 16 && parent.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| parent.to_ascii_lowercase())
}

async fn ask(
    app: &App,
    call: Call,
    door: Door,
    headers: &HeaderMap,
    params: &Params,
) -> ApiResult<Ask> {
    let wait = wait(headers, params)?;
    let idempotency_key = match headers.get("idempotency-key") {
        None => None,
        Some(value) => match value.to_str() {
            Ok(key) if (1..=255).contains(&key.len()) => Some(key.to_owned()),
            _ => {
                return Err(ApiError::bad_request(
                    "`Idempotency-Key` is 1 to 255 printable characters",
                ));
            }
        },
    };
    Ok(Ask {
        call,
        trace_id: trace_id(app, headers).await?,
        door,
        wait,
        idempotency_key,
    })
}

/// The caller's trace id, if no call had it yet: a record must never be taken for another's.
async fn trace_id(app: &App, headers: &HeaderMap) -> ApiResult<TraceId> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let given = text("traceparent")
        .and_then(|parent| parent.split('-').nth(1))
        .or_else(|| text("x-trace-id"));
    let now = app.gate.now();
    if let Some(id) = given.and_then(TraceId::parse)
        && app.gate.store().reserve_trace_id(&id, now).await?
    {
        return Ok(id);
    }
    Ok(TraceId::at(now))
}

fn session(headers: &HeaderMap, given: Option<String>) -> ApiResult<Option<Arc<str>>> {
    let header = headers
        .get("x-session-id")
        .map(|value| value.to_str().unwrap_or_default().to_owned());
    match given.or(header) {
        None => Ok(None),
        Some(session) if is_name(&session) => Ok(Some(session.into())),
        Some(_) => Err(ApiError::bad_request(
            "a session id is 1 to 256 printable characters",
        )),
    }
}
