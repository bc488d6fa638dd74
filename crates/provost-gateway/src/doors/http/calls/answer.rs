//! What an agent is told: the result, the refusal with its reason, or that its question is open.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use provost_core::{
    approval::Approval,
    gate::{Decided, End, Executed, Permit, Refusal},
    ids::{ApprovalId, TraceId},
    json::Object,
    trace::Answer,
};
use serde_json::{Map, Value, json};

use crate::doors::http::error::{ApiError, ApiResult};

struct Permission<'a> {
    policy: &'a str,
    rule: &'a str,
    reason: &'a str,
    agent: &'a str,
    tool: &'a str,
    trace_id: &'a TraceId,
    approval_id: Option<&'a ApprovalId>,
    /// These are to be executed, not those of the request: a person changed them, or the retry writes its
    /// numbers in another way than the question that was decided.
    arguments: Option<&'a Map<String, Value>>,
}

pub(super) fn answer(decided: Decided, agent: &str, tool: &str) -> ApiResult {
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
        Decided::KeyUnsettled { trace_id, running } => return Err(unsettled(&trace_id, running)),
    })
}

/// The call under a key is never made twice, whatever became of the first.
fn unsettled(trace_id: &TraceId, running: bool) -> ApiError {
    let error = if running {
        ApiError::conflict(
            "in_progress",
            "the call under this idempotency key is being executed",
        )
        .help("ask again with the same key for its result")
        .retry_after(Duration::from_secs(1))
    } else {
        ApiError::conflict(
            "outcome_unknown",
            "the call under this idempotency key was let through, and its outcome was lost",
        )
        .help("look whether it took effect before you make it again under another key")
    };
    error.with("trace_id", trace_id.as_str())
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
    permission(&Permission {
        policy: permit.policy(),
        rule: permit.rule(),
        reason: permit.reason(),
        agent: &call.agent,
        tool: &call.tool,
        trace_id: permit.trace_id(),
        approval_id: permit.approval_id(),
        arguments: permit.changed(),
    })
}

fn permission(permission: &Permission<'_>) -> Response {
    let object = Object::with_capacity(384)
        .word("action", "allow")
        .text("policy", permission.policy)
        .text("rule", permission.rule)
        .text("reason", permission.reason)
        .text("agent", permission.agent)
        .text("tool", permission.tool)
        .text("trace_id", permission.trace_id.as_str());
    let object = match permission.approval_id {
        Some(id) => object.text("approval_id", id.as_str()),
        None => object.json("approval_id", "null"),
    };
    let object = object.value_if("arguments", permission.arguments);
    written(StatusCode::OK, object, permission.trace_id)
}

fn written(status: StatusCode, object: Object, trace_id: &TraceId) -> Response {
    let mut response = Response::new(Body::from(object.end()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    traced(response, trace_id)
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
            let approval_id = executed.approval_id.as_ref().map(ApprovalId::as_str);
            let object = Object::with_capacity(256 + result.get().len())
                .json("result", result.get())
                .text("trace_id", executed.trace_id.as_str())
                .text_if("approval_id", approval_id)
                .text("policy", &executed.policy)
                .number("latency_ms", executed.latency_ms)
                // The backend's.
                .number("status_code", u64::from(*status_code))
                .value_if("error", error.as_ref());
            return written(status, object, &executed.trace_id);
        }
        End::Permitted {
            rule,
            reason,
            arguments,
        } => {
            return permission(&Permission {
                policy: &executed.policy,
                rule,
                reason,
                agent,
                tool,
                trace_id: &executed.trace_id,
                approval_id: executed.approval_id.as_ref(),
                arguments: arguments.as_ref(),
            });
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
        Answer::Deny | Answer::Allow | Answer::Unsupervised => ("denied", None),
        Answer::Stopped => (
            "stopped",
            Some("an admin can lift it; `provost doctor` shows the command"),
        ),
        Answer::Expired => ("approval_timeout", Some("make the call again to ask again")),
        Answer::RateLimited => ("rate_limited", None),
        Answer::Invalid => (
            "invalid_arguments",
            Some(
                "`GET /tools` shows the schema of the tool's arguments; nothing was decided or run",
            ),
        ),
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
        "reason": "waiting for a decision; repeat the call to collect the answer",
    });
    traced(
        (StatusCode::ACCEPTED, Json(body)).into_response(),
        &question.trace_id,
    )
}
