//! `POST /tool/{name}` and `POST /decide`: agents ask.

mod answer;
mod manner;

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use provost_core::{
    call::{Call, is_exact, is_name},
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
    input::{Body, Segment},
};
use crate::{app::App, telemetry::CallSpan};
use manner::Manner;

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
    manner: Manner,
    Body(body): Body<ToolCall>,
) -> ApiResult {
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
    let session = session(manner.session.clone())?;
    let call = Call {
        agent,
        session,
        tool: (&*tool).into(),
        params: body.params,
    };
    pass(&app, call, Some(backend), manner).await
}

pub(super) async fn decide(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    manner: Manner,
    Body(body): Body<DecideCall>,
) -> ApiResult {
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
    let session = session(body.session_id.or_else(|| manner.session.clone()))?;
    let call = Call {
        agent,
        session,
        tool: body.tool.into(),
        params: body.arguments,
    };
    pass(&app, call, None, manner).await
}

/// Through the gate, to a backend where there is one, and back.
async fn pass(
    app: &App,
    call: Call,
    backend: Option<Arc<dyn Backend>>,
    manner: Manner,
) -> ApiResult {
    if !call.params.values().all(is_exact) {
        return Err(
            ApiError::bad_request("a number beyond 64 bits cannot be carried exactly")
                .help("send it as text"),
        );
    }
    let began_at = app.gate.now();
    let (agent, tool, session) = (call.agent.clone(), call.tool.clone(), call.session.clone());
    let door = if backend.is_some() {
        Door::Http
    } else {
        Door::Decide
    };
    let trace_id = trace_id(app, manner.trace_id).await?;
    let ask = Ask {
        call,
        trace_id: trace_id.clone(),
        door,
        wait: manner.wait,
        idempotency_key: manner.idempotency_key,
    };
    let decided = match backend {
        Some(backend) => app.gate.run(ask, backend).await?,
        None => app.gate.decide(ask).await?,
    };
    if let Some(spans) = &app.spans {
        let (verdict, failed) = decided.summary();
        let ended_at = app.gate.now();
        let (agent, session, tool) = (agent.clone(), session, tool.clone());
        spans.call(CallSpan {
            trace_id,
            parent: manner.parent,
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

/// The caller's trace id, if no call had it yet: a record must never be taken for another's.
async fn trace_id(app: &App, given: Option<TraceId>) -> ApiResult<TraceId> {
    let now = app.gate.now();
    match given {
        Some(id) if app.gate.store().reserve_trace_id(&id, now).await? => Ok(id),
        _ => Ok(TraceId::at(now)),
    }
}

fn session(given: Option<String>) -> ApiResult<Option<Arc<str>>> {
    match given {
        None => Ok(None),
        Some(session) if is_name(&session) => Ok(Some(session.into())),
        Some(_) => Err(ApiError::bad_request(
            "a session id is 1 to 256 printable characters",
        )),
    }
}
