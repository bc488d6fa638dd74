//! `GET /approvals/{id}`: one approval with its context, what the agent did lately and what it is
//! already trusted with.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{
    approval::{Approval, Status},
    card::{Offer, offers},
    gate::Decider,
    heavy::{self, Lane},
    key::{Key, Role},
    menu::Code,
    people::Waiting,
    ports::{TraceEntry, TraceFilter},
    trace::view::{Exposure, trace_view},
};
use serde_json::{Map, Value, json};

use super::view::{exposure, view};
use crate::{
    app::App,
    channels::Prospects,
    doors::http::{
        caller::Reviewer,
        error::{ApiError, ApiResult},
        grants::grant_view,
        input::{Params, Segment},
    },
};

const RECENT: usize = 10;
const SHOWN: [&str; 9] = [
    "trace_id",
    "tool",
    "policy",
    "verdict",
    "timestamp",
    "params",
    "edited",
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
    Ok(Json(whole(&app, &key, &id, &params).await?).into_response())
}

/// All of one approval.
pub(in crate::doors::http) async fn whole(
    app: &App,
    key: &Key,
    id: &str,
    params: &Params,
) -> ApiResult<Value> {
    let exposure = exposure(app, key, params)?;
    let Some(approval) = app.gate.store().approval(id).await? else {
        return Err(ApiError::not_found("approval"));
    };
    if !key.may_see(&approval.question.tool) {
        return Err(ApiError::forbidden(
            "this key's tools do not include the tool of this approval",
        ));
    }
    let now = app.gate.now();
    let mut body = heavy::run(Lane::Deciders, approval.question.bytes(), || {
        view(&approval, exposure, now)
    })
    .await;
    if let Some(body) = body.as_object_mut() {
        body.insert(
            "recent_traces".into(),
            recent_traces(app, key, &approval, exposure).await?,
        );
        body.insert("active_grants".into(), active_grants(app, &approval));
        body.extend(prospects(app, key, &approval).await?);
        if let Some(offered) = remember(app, key, &approval).await {
            body.insert("remember".into(), offered);
        }
    }
    Ok(body)
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
    let view = |entry: &TraceEntry| {
        let mut view = trace_view(entry, exposure);
        view.retain(|name, _| SHOWN.contains(&name.as_str()));
        Value::Object(view)
    };
    let views = heavy::each(Lane::Deciders, entries.iter(), |entry| entry.bytes(), view);
    Ok(Value::Array(views.await))
}

/// Who has a say in it: whether the reader has approved it already, who is waited for, and who is asked next.
async fn prospects(app: &App, key: &Key, approval: &Approval) -> ApiResult<Map<String, Value>> {
    let (mut told, now) = (Map::new(), app.gate.now());
    if approval.state.status_at(now) != Status::Pending {
        return Ok(told);
    }
    if approval.question.needed > 1 {
        let voted = Decider::of(key).has_approved(approval);
        told.insert("you_approved".into(), voted.into());
    }
    let store = app.gate.store();
    let Waiting { people, next } = Prospects::of(&**store, approval, now).await?.waiting;
    if !people.is_empty() {
        told.insert("waiting_for".into(), json!(people));
    }
    if let Some(next) = next {
        told.insert("asked_next".into(), json!(next.people));
        told.insert("escalates_at".into(), json!(next.at));
    }
    Ok(told)
}

/// What a person may have remembered, the narrow scope first, each with its words.
pub(in crate::doors::http) async fn remember(
    app: &App,
    key: &Key,
    approval: &Approval,
) -> Option<Value> {
    if key.role == Role::Supervisor || approval.state.status != Status::Pending {
        return None;
    }
    let longest = app.gate.settings().max_grant;
    // As the desk decides, whatever this reader asked to see.
    let exposure = app.live.load().exposure;
    let question = &approval.question;
    let offers = || offers(question, exposure, longest, key.role);
    let offers = heavy::run(Lane::Deciders, question.bytes(), offers).await;
    let shown = |offer: &Offer| {
        let mut shown = json!(offer);
        if let Some(shown) = shown.as_object_mut() {
            let how_long = if offer.code == Code::Session {
                "session"
            } else {
                "always"
            };
            shown.insert("remember".into(), how_long.into());
            shown.insert("label".into(), offer.label().into());
        }
        shown
    };
    Some(offers.iter().map(shown).collect())
}

fn active_grants(app: &App, approval: &Approval) -> Value {
    let now = app.gate.now();
    let control = app.gate.control();
    let grants = control.grants.iter().map(|active| &active.grant);
    grants
        .filter(|grant| grant.active_at(now) && grant.agent.matches(&approval.question.agent_id))
        .map(|grant| grant_view(grant, now))
        .collect()
}
