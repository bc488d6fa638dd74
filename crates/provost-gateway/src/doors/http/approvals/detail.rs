//! `GET /approvals/{id}`: one approval with its context, what the agent did lately and what it is
//! already trusted with.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{
    approval::Approval,
    key::{Key, Role},
    ports::TraceFilter,
    trace::view::{Exposure, trace_view},
};
use serde_json::{Value, json};

use super::view::{exposure, view};
use crate::{
    app::App,
    doors::http::{
        caller::Reviewer,
        error::{ApiError, ApiResult},
        grants::grant_view,
        input::{Params, Segment},
    },
};

const RECENT: usize = 10;
const SHOWN: [&str; 8] = [
    "trace_id",
    "tool",
    "policy",
    "verdict",
    "timestamp",
    "params",
    "session_id",
    "outcome",
];

pub(in crate::doors::http) async fn detail(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    Segment(id): Segment,
    params: Params,
) -> ApiResult {
    let params = params.known(&["content"])?;
    let exposure = exposure(&app, &key, &params)?;
    let Some(approval) = app.gate.store().approval(&id).await? else {
        return Err(ApiError::not_found("approval"));
    };
    if !key.may_see(&approval.question.tool) {
        return Err(ApiError::forbidden(
            "this key's tools do not include the tool of this approval",
        ));
    }
    let mut body = view(&approval, exposure, app.gate.now());
    if let Some(body) = body.as_object_mut() {
        body.insert(
            "recent_traces".into(),
            recent_traces(&app, &key, &approval, exposure).await?,
        );
        body.insert("active_grants".into(), active_grants(&app, &approval));
    }
    Ok(Json(body).into_response())
}

async fn recent_traces(
    app: &App,
    key: &Key,
    approval: &Approval,
    exposure: Exposure,
) -> ApiResult<Value> {
    let filter = TraceFilter {
        agent: Some(approval.question.agent_id.to_string()),
        tools: if key.role == Role::Supervisor {
            key.tools.clone()
        } else {
            Vec::new()
        },
        limit: RECENT,
        ..Default::default()
    };
    let entries = app.gate.store().traces(&filter).await?;
    let views = entries.iter().map(|entry| {
        let mut view = trace_view(entry, exposure);
        view.retain(|name, _| SHOWN.contains(&name.as_str()));
        Value::Object(view)
    });
    Ok(views.collect())
}

fn active_grants(app: &App, approval: &Approval) -> Value {
    let now = app.gate.now();
    let control = app.gate.control();
    let grants = control.grants.iter().map(|active| &active.grant);
    grants
        .filter(|grant| grant.active_at(now) && grant.agent.matches(&approval.question.agent_id))
        .map(|grant| json!(grant_view(grant, now)))
        .collect()
}
