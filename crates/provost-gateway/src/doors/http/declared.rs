//! `/agents/declared`: whether agents may come in by their word, and which of them do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{
    approval::{Question, Status},
    ports::ApprovalFilter,
    time::Time,
};
use serde_json::json;

use super::{caller::Admin, error::ApiResult};
use crate::{access::DeclaredAgents, app::App, fleet::PREFIX};

/// Who was not seen for longer is not missed.
const SEEN_WITHIN: Duration = Duration::from_hours(30 * 24);
/// The newest sessions are looked at, up to so many.
const SESSIONS: usize = 10_000;
/// And so many questions that wait.
const QUESTIONS: usize = 1000;

pub(super) async fn list(State(app): State<Arc<App>>, _: Admin) -> ApiResult {
    let control = app.gate.control();
    let live = app.live.load();
    let declaring = live.access.declaring(&control);
    let until_first_key = live.access.declared_agents == DeclaredAgents::UntilFirstKey;
    let since = app.gate.now().minus(SEEN_WITHIN);
    let mut seen: BTreeMap<String, Time> = BTreeMap::new();
    for (agent, at) in active(&app).await? {
        let has_key = control.is_keyed(&agent) || agent.starts_with(PREFIX);
        if at >= since && !has_key {
            let last = seen.entry(agent).or_default();
            *last = at.max(*last);
        }
    }
    let seen: Vec<_> = seen
        .into_iter()
        .map(|(agent, last_at)| json!({"agent_id": agent, "last_at": last_at}))
        .collect();
    Ok(Json(json!({
        "allowed": declaring.is_open(),
        "because": declaring.why(),
        "ends_with_first_key": declaring.is_open() && until_first_key,
        "seen": seen,
    }))
    .into_response())
}

/// Agents and when they were last active. What an agent waits for is not recorded yet, and counts, too.
async fn active(app: &App) -> ApiResult<Vec<(String, Time)>> {
    let store = app.gate.store();
    let sessions = store.activity(SESSIONS).await?.into_iter();
    let mut active: Vec<_> = sessions
        .map(|session| (session.agent_id, session.last_at))
        .collect();
    let pending = ApprovalFilter {
        status: Some(Status::Pending),
        limit: QUESTIONS,
        ..ApprovalFilter::default()
    };
    let pending = store.approvals(&pending, app.gate.now()).await?;
    for row in pending.rows() {
        if let Ok(question) = serde_json::from_slice::<Question>(row.question) {
            active.push((question.agent_id.to_string(), question.created_at));
        }
    }
    Ok(active)
}
