//! `/agents/declared`: whether agents may come in by their word, and which of them do.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::time::Time;
use serde_json::json;

use super::{caller::Admin, error::ApiResult};
use crate::{access::DeclaredAgents, app::App, fleet::PREFIX, seen};

/// Who was not seen for longer is not missed.
const SEEN_WITHIN: Duration = Duration::from_hours(30 * 24);
pub(super) async fn list(State(app): State<Arc<App>>, _: Admin) -> ApiResult {
    let control = app.gate.control();
    let live = app.live.load();
    let declaring = live.access.declaring(&control);
    let until_first_key = live.access.declared_agents == DeclaredAgents::UntilFirstKey;
    let since = app.gate.now().minus(SEEN_WITHIN);
    let mut agents: BTreeMap<String, Time> = BTreeMap::new();
    for agent in seen::seen(&app.gate).await? {
        let has_key = control.is_keyed(&agent.agent) || agent.agent.starts_with(PREFIX);
        if agent.last_at >= since && !has_key {
            let last = agents.entry(agent.agent).or_default();
            *last = agent.last_at.max(*last);
        }
    }
    let agents: Vec<_> = agents
        .into_iter()
        .map(|(agent, last_at)| json!({"agent_id": agent, "last_at": last_at}))
        .collect();
    Ok(Json(json!({
        "allowed": declaring.is_open(),
        "because": declaring.why(),
        "ends_with_first_key": declaring.is_open() && until_first_key,
        "seen": agents,
    }))
    .into_response())
}
