//! `/v1/allow-rules` and `/v1/session-allows`: the grants that people made from the menu.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{control::Control, grant::Grant, ids::GrantId};
use serde_json::{Value, json};

use super::{
    client::{Owner, client_id},
    view::seconds,
};
use crate::{
    app::App,
    doors::http::{
        error::{ApiError, ApiResult},
        input::{Params, Segment},
    },
};

pub(in crate::doors::http) async fn allow_rules(
    State(app): State<Arc<App>>,
    owner: Owner,
    params: Params,
) -> ApiResult {
    params.known(&[])?;
    list(&app, &owner, is_rule).await
}

pub(in crate::doors::http) async fn session_allows(
    State(app): State<Arc<App>>,
    owner: Owner,
    params: Params,
) -> ApiResult {
    params.known(&[])?;
    list(&app, &owner, is_session_allow).await
}

pub(in crate::doors::http) async fn revoke_rule(
    State(app): State<Arc<App>>,
    owner: Owner,
    Segment(id): Segment,
) -> ApiResult {
    revoke(&app, &owner, &id, is_rule, "allow rule").await
}

pub(in crate::doors::http) async fn revoke_session(
    State(app): State<Arc<App>>,
    owner: Owner,
    Segment(id): Segment,
) -> ApiResult {
    revoke(&app, &owner, &id, is_session_allow, "session allow").await
}

fn is_rule(grant: &Grant) -> bool {
    grant.session_id.is_none() && grant.expires_at.is_none()
}

fn is_session_allow(grant: &Grant) -> bool {
    grant.session_id.is_some() && grant.expires_at.is_none()
}

/// An agent sees, and may give up, what is its own alone.
fn may_touch(owner: &Owner, grant: &Grant) -> bool {
    owner.is_person() || (grant.agent.is_literal() && grant.agent.matches(&owner.0.name))
}

async fn list(app: &App, owner: &Owner, kind: fn(&Grant) -> bool) -> ApiResult {
    app.gate.refresh_control().await?;
    let (now, control) = (app.gate.now(), app.gate.control());
    let grants = control.grants.iter().map(|active| &active.grant);
    let rules: Vec<Value> = grants
        .filter(|grant| kind(grant) && grant.active_at(now) && may_touch(owner, grant))
        .map(|grant| view(grant, &control))
        .collect();
    Ok(Json(rules).into_response())
}

fn view(grant: &Grant, control: &Control) -> Value {
    let mut keys = control
        .keys()
        .filter(|key| grant.agent.is_literal() && grant.agent.matches(&key.name));
    json!({
        "rule_id": grant.id,
        "client_id": keys.next().map(|key| client_id(key)),
        "agent": grant.agent,
        "session_id": grant.session_id,
        "action_type": grant.tools,
        "enabled": true,
        "created_at": seconds(grant.created_at),
        "granted_by": grant.granted_by,
        "uses": grant.uses,
    })
}

async fn revoke(
    app: &App,
    owner: &Owner,
    id: &str,
    kind: fn(&Grant) -> bool,
    what: &str,
) -> ApiResult {
    app.gate.refresh_control().await?;
    let (now, control, id) = (app.gate.now(), app.gate.control(), GrantId::from(id));
    let mut grants = control.grants.iter().map(|active| &active.grant);
    let known = grants.any(|grant| {
        grant.id == id && kind(grant) && grant.active_at(now) && may_touch(owner, grant)
    });
    if known && app.gate.revoke(&id, &owner.0.identity()).await? {
        return Ok(Json(json!({"rule_id": id, "enabled": false})).into_response());
    }
    Err(ApiError::not_found(what))
}
