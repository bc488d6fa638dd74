//! `POST /tool/{name}` and `POST /decide`: agents ask.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use provost_core::{
    approval::Approval,
    call::{Call, is_name},
    door::Door,
    gate::{Ask, Decided, End, Executed, Permit, Refusal},
    ids::{ApprovalId, TraceId},
    ports::Backend,
    trace::Answer,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json, value::RawValue};

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

#[derive(Serialize)]
struct CallAnswer<'a> {
    result: &'a RawValue,
    trace_id: &'a TraceId,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<&'a ApprovalId>,
    policy: &'a str,
    latency_ms: u64,
    /// The backend's.
    status_code: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
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
    answer(decided, &agent, &tool)
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

fn answer(decided: Decided, agent: &str, tool: &str) -> ApiResult {
    Ok(match decided {
        Decided::Permitted(permit) => permitted(&permit),
        Decided::Ran(executed) => executed_answer(&executed, agent, tool),
        Decided::Replayed(executed) => {
            let mut response = executed_answer(&executed, agent, tool);
            response
                .headers_mut()
                .insert("idempotency-replayed", HeaderValue::from_static("true"));
            response
        }
        Decided::Refused(refusal) => {
            return Err(refused(&refusal).with("agent", agent).with("tool", tool));
        }
        Decided::Waiting(approval) => waiting(&approval),
        Decided::KeyMismatch => {
            return Err(ApiError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "this idempotency key was used for another call",
            )
            .help("use a new key for a new call"));
        }
        Decided::KeyUnsettled(trace_id) => {
            return Err(ApiError::conflict(
                "outcome_unknown",
                "the call under this idempotency key was let through, and its outcome is not known yet",
            )
            .help("it is not made again; its trace tells when the outcome is known")
            .with("trace_id", trace_id.as_str())
            .retry_after(Duration::from_secs(1)));
        }
    })
}

fn traced(mut response: Response, id: &TraceId) -> Response {
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response
            .headers_mut()
            .insert(HeaderName::from_static("x-trace-id"), value);
    }
    response
}

fn permitted(permit: &Permit) -> Response {
    let call = permit.call();
    let approval_id = permit.approval_id();
    let decision = (permit.policy(), permit.rule(), permit.reason());
    permission(
        decision,
        (&call.agent, &call.tool),
        permit.trace_id(),
        approval_id,
    )
}

fn permission(
    (policy, rule, reason): (&str, &str, &str),
    (agent, tool): (&str, &str),
    trace_id: &TraceId,
    approval_id: Option<&ApprovalId>,
) -> Response {
    let body = json!({
        "action": "allow",
        "policy": policy,
        "rule": rule,
        "reason": reason,
        "agent": agent,
        "tool": tool,
        "trace_id": trace_id,
        "approval_id": approval_id,
    });
    traced(Json(body).into_response(), trace_id)
}

fn executed_answer(executed: &Executed, agent: &str, tool: &str) -> Response {
    let (status, code, message) = match &executed.end {
        End::Answered {
            status_code,
            result,
            error,
        } => {
            let failed = *status_code >= 400;
            let status = if failed {
                StatusCode::BAD_GATEWAY
            } else {
                StatusCode::OK
            };
            let error = error
                .as_ref()
                .map(|message| json!({"code": "backend_error", "message": message}));
            let body = CallAnswer {
                result,
                trace_id: &executed.trace_id,
                approval_id: executed.approval_id.as_ref(),
                policy: &executed.policy,
                latency_ms: executed.latency_ms,
                status_code: *status_code,
                error,
            };
            return traced((status, Json(body)).into_response(), &executed.trace_id);
        }
        End::Permitted { rule, reason } => {
            let decision = (&*executed.policy, &**rule, &**reason);
            let approval_id = executed.approval_id.as_ref();
            return permission(decision, (agent, tool), &executed.trace_id, approval_id);
        }
        End::BadArguments(message) => (StatusCode::BAD_REQUEST, "bad_arguments", message),
        End::Failed(message) => (StatusCode::BAD_GATEWAY, "backend_failed", message),
    };
    let error = ApiError::new(status, code, message)
        .with("trace_id", executed.trace_id.as_str())
        .with("policy", &*executed.policy)
        .with("latency_ms", executed.latency_ms);
    let error = match &executed.approval_id {
        Some(id) => error.with("approval_id", id.as_str()),
        None => error,
    };
    traced(error.into_response(), &executed.trace_id)
}

fn refused(refusal: &Refusal) -> ApiError {
    let (code, help) = match refusal.answer {
        Answer::Deny | Answer::Allow => ("denied", None),
        Answer::Stopped => ("stopped", Some("an admin can lift it: `provost resume`")),
        Answer::Expired => ("approval_timeout", Some("make the call again to ask again")),
        Answer::RateLimited => ("rate_limited", None),
    };
    let status =
        StatusCode::from_u16(refusal.answer.status_code()).unwrap_or(StatusCode::FORBIDDEN);
    let mut error = ApiError::new(status, code, &*refusal.reason)
        .with("action", "deny")
        .with("policy", &*refusal.policy)
        .with("rule", &*refusal.rule)
        .with("reason", &*refusal.reason)
        .with("trace_id", refusal.trace_id.as_str());
    if let Some(help) = help {
        error = error.help(help);
    }
    if let Some(id) = &refusal.approval_id {
        error = error.with("approval_id", id.as_str());
    }
    match (refusal.answer, refusal.retry_after) {
        (_, Some(after)) => error.retry_after(after),
        // A spent total does not come back by itself: a day is as good a time to look as any.
        (Answer::RateLimited, None) => error.retry_after(Duration::from_hours(24)),
        _ => error,
    }
}

fn waiting(approval: &Approval) -> Response {
    let question = &approval.question;
    let body = json!({
        "action": question.policy,
        "policy": question.policy,
        "rule": question.policy_rule,
        "status": approval.state.status,
        "approval_id": question.id,
        "trace_id": question.trace_id,
        "agent": question.agent_id,
        "tool": question.tool,
        "expires_at": approval.state.expires_at,
        "reason": "waiting for a decision; make the identical call again to take it",
    });
    traced(
        (StatusCode::ACCEPTED, Json(body)).into_response(),
        &question.trace_id,
    )
}
