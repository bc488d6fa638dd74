//! `POST /tool/{name}` and `POST /decide`: agents ask.

mod answer;
mod direct;
mod manner;

use std::{borrow::Cow, sync::Arc};

use axum::extract::State;
use futures_util::{FutureExt as _, future::ready};
use http::StatusCode;
use provost_core::{
    call::{Call, NOT_EXACT, is_exact, is_name},
    door::Door,
    gate::{Ask, Decided},
    ids::TraceId,
    ports::Backend,
    trace::Answer,
};
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use direct::{Target, direct};
pub(super) use manner::idempotency_key;

use super::{
    caller::Agent,
    error::{ApiError, ApiResult},
    input::{Body, Segment},
    servers,
};
use crate::{app::App, backends, telemetry::CallSpan};

pub(super) use manner::{Manner, given_trace_id, parent_span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolCall {
    #[serde(default, alias = "arguments")]
    params: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideCall {
    pub(super) agent: Option<String>,
    pub(super) tool: String,
    #[serde(default, alias = "params")]
    pub(super) arguments: Map<String, Value>,
    pub(super) session_id: Option<String>,
}

/// A call, how it came in, and what executes it, if that is not the caller's own business.
pub(super) struct Asked {
    call: Call,
    door: Door,
    backend: Option<Arc<dyn Backend>>,
    folder: Option<Box<str>>,
    /// Why the arguments do not fit the tool, where the door knows already.
    misfit: Option<Box<str>>,
    /// There is no such tool: that is recorded, and this is the answer.
    unknown: Option<Box<ApiError>>,
}

impl Asked {
    /// A call that the agent executes itself.
    pub(super) fn decided(call: Call, door: Door, folder: Option<Box<str>>) -> Self {
        Self {
            call,
            door,
            backend: None,
            folder,
            misfit: None,
            unknown: None,
        }
    }

    pub(super) fn through(self, door: Door) -> Self {
        Self { door, ..self }
    }

    pub(super) fn misfitting(self, misfit: Option<Box<str>>) -> Self {
        Self { misfit, ..self }
    }
}

// No async functions from here to the gate: each would hold its arguments and a copy of them while the
// caller waits, and thousands may wait.

pub(super) fn tool(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    Segment(tool): Segment,
    mut manner: Manner,
    Body(body): Body<ToolCall>,
) -> impl Future<Output = ApiResult> {
    let asked = tool_call(&app, agent, &tool, manner.take_session(), body);
    pass(app, asked, manner)
}

fn tool_call(
    app: &App,
    agent: Arc<str>,
    tool: &str,
    session: Option<String>,
    mut body: ToolCall,
) -> ApiResult<Asked> {
    // A dispatcher's call is judged, and recorded, as the command it runs.
    let tool = app.backends.judged(tool, &mut body.params);
    let backend = app.backends.find(&tool);
    let unknown = match &backend {
        Some(_) => None,
        None => Some(Box::new(not_found(app, &tool)?)),
    };
    let call = Call {
        agent,
        session: self::session(session)?,
        tool: (&*tool).into(),
        params: body.params,
    };
    Ok(Asked {
        backend,
        misfit: unknown.as_ref().map(|_| no_such_tool(&tool).into()),
        unknown,
        ..Asked::decided(call, Door::Http, None)
    })
}

/// The answer to a call of a tool that nobody has. Where a server should have it, or no tool can be called that, there
/// is nothing to record.
fn not_found(app: &App, tool: &str) -> ApiResult<ApiError> {
    if let Some(error) = servers::not_to_be_had(app, tool) {
        return Err(error);
    }
    let error = ApiError::new(StatusCode::NOT_FOUND, "unknown_tool", no_such_tool(tool))
        .help("`GET /tools` lists the tools there are");
    if is_name(tool) { Ok(error) } else { Err(error) }
}

/// What a call of a tool that nobody has is told, by every door.
pub(super) fn no_such_tool(tool: &str) -> String {
    format!("unknown tool `{tool}`")
}

pub(super) fn decide(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    mut manner: Manner,
    Body(body): Body<DecideCall>,
) -> impl Future<Output = ApiResult> {
    let asked = decide_call(agent, manner.take_session(), body);
    pass(app, asked, manner)
}

pub(super) fn decide_call(
    agent: Arc<str>,
    session: Option<String>,
    body: DecideCall,
) -> ApiResult<Asked> {
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
    let call = Call {
        agent,
        session: self::session(body.session_id.or(session))?,
        tool: body.tool.into(),
        params: body.arguments,
    };
    Ok(Asked::decided(call, Door::Decide, None))
}

pub(super) fn pass(
    app: Arc<App>,
    asked: ApiResult<Asked>,
    manner: Manner,
) -> impl Future<Output = ApiResult> {
    match asked.and_then(exact) {
        Ok(asked) => decided(app, asked, manner).left_future(),
        Err(error) => ready(Err(error)).right_future(),
    }
}

fn exact(asked: Asked) -> ApiResult<Asked> {
    if asked.call.params.values().all(is_exact) {
        return Ok(asked);
    }
    Err(ApiError::bad_request(NOT_EXACT).help("send it as text"))
}

/// Through the gate, to a backend where there is one, and back.
fn decided(app: Arc<App>, asked: Asked, manner: Manner) -> impl Future<Output = ApiResult> {
    let began_at = app.gate.now();
    let Asked {
        mut call,
        door,
        backend,
        folder,
        misfit,
        unknown,
    } = asked;
    // A call that only asks may name a tool of ours as well.
    if backend.is_none()
        && let Cow::Owned(tool) = app.backends.judged(&call.tool, &mut call.params)
    {
        call.tool = tool.into();
    }
    let misfit = misfit.or_else(|| match &backend {
        Some(backend) => backends::misfit(&**backend, &call.tool, &mut call.params),
        None => app.backends.misfit(&call.tool, &mut call.params),
    });
    let (agent, tool, session) = (call.agent.clone(), call.tool.clone(), call.session.clone());
    let mut ask = Ask {
        call,
        trace_id: TraceId::at(began_at),
        door,
        wait: manner.wait,
        idempotency_key: manner.idempotency_key,
        folder,
        misfit,
    };
    let (given, parent) = (manner.trace_id, manner.parent);
    async move {
        // The caller's trace id, if no call had it yet: a record must never be taken for another's.
        if let Some(given) = given
            && app.gate.store().reserve_trace_id(&given, began_at).await?
        {
            ask.trace_id = given;
        }
        let trace_id = ask.trace_id.clone();
        let decided = app.gate.walk(ask, backend).await?;
        if let Some(spans) = &app.spans {
            let (verdict, failed) = decided.summary();
            spans.call(CallSpan {
                trace_id,
                parent,
                agent: agent.clone(),
                session,
                tool: tool.clone(),
                began_at,
                ended_at: app.gate.now(),
                verdict,
                failed,
            });
        }
        match (decided, unknown) {
            (Decided::Refused(refusal), Some(unknown)) if refusal.answer == Answer::Invalid => {
                Err(unknown.with("trace_id", refusal.trace_id.as_str()))
            }
            (decided, _) => answer::answer(decided, &agent, &tool),
        }
    }
}

pub(super) fn session(given: Option<String>) -> ApiResult<Option<Arc<str>>> {
    match given {
        None => Ok(None),
        Some(session) if is_name(&session) => Ok(Some(session.into())),
        Some(_) => Err(ApiError::bad_request(
            "a session id is 1 to 256 printable characters",
        )),
    }
}
