//! `/stop` and `/resume`: the switch for everything, agents or one session.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use provost_core::{call::is_name, control::Scope};
use serde::Deserialize;
use serde_json::json;

use super::{
    caller::{Admin, Person},
    error::{ApiError, ApiResult},
    input::Body,
};
use crate::{app::App, seen};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopBody {
    agent: Option<String>,
    session: Option<String>,
    reasoning: Option<String>,
}

impl StopBody {
    fn scope(&self) -> ApiResult<Scope> {
        let names = self.agent.iter().chain(&self.session);
        if names.into_iter().any(|name| !is_name(name)) {
            return Err(ApiError::bad_request(
                "a name is 1 to 256 printable characters",
            ));
        }
        match (&self.agent, &self.session) {
            (None, None) => Ok(Scope::Everything),
            (Some(agent), None) => Ok(Scope::Agent(agent.as_str().into())),
            (None, Some(session)) => Ok(Scope::Session(session.as_str().into())),
            (Some(_), Some(_)) => Err(ApiError::bad_request(
                "name an agent or a session, not both",
            )),
        }
    }
}

pub(super) async fn list(State(app): State<Arc<App>>, _: Person) -> ApiResult {
    Ok(Json(json!(app.gate.control().stops)).into_response())
}

pub(super) async fn stop(
    State(app): State<Arc<App>>,
    Admin(key): Admin,
    Body(body): Body<StopBody>,
) -> ApiResult {
    let scope = body.scope()?;
    let denied = app
        .gate
        .stop(scope.clone(), &key.identity(), body.reasoning)
        .await?;
    Ok(Json(json!({
        "stopped": scope.to_string(),
        "denied": denied,
        "agents": seen::agents_in(&app.gate, &scope).await?,
    }))
    .into_response())
}

pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Admin(key): Admin,
    Body(body): Body<StopBody>,
) -> ApiResult {
    let scope = body.scope()?;
    if app.gate.resume(&scope, &key.identity()).await? {
        return Ok(Json(json!({"resumed": scope.to_string()})).into_response());
    }
    Err(ApiError::not_found(&format!("a stop of {scope}"))
        .help("`GET /stop` lists what is stopped"))
}
