//! `/grants`: standing permissions.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    call::is_name,
    gate::NewGrant,
    glob::Glob,
    grant::Grant,
    ids::GrantId,
    key::Key,
    policy::compile_when,
    review::mask_value,
    time::{Time, format_duration, parse_duration},
};
use provost_runner::json_error;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    caller::{Admin, Person, Reviewer},
    error::{ApiError, ApiResult},
    input::{Body, Params, Segment},
};
use crate::app::App;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantBody {
    agent: String,
    tools: String,
    duration: String,
    when: Option<String>,
    max_uses: Option<u64>,
    session_id: Option<String>,
    reasoning: Option<String>,
}

#[derive(Serialize)]
struct GrantView<'a> {
    #[serde(flatten)]
    grant: &'a Grant,
    remaining: String,
    /// What it permits of its tools, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// What a grant is about may quote arguments: secrets in it are masked.
pub(super) fn grant_view(grant: &Grant, now: Time) -> Value {
    let remaining = grant.expires_at.map_or_else(
        || "until revoked".to_owned(),
        |at| format_duration(at.since(now)),
    );
    let mut view = json!(GrantView {
        grant,
        remaining,
        scope: grant.scope_words(),
    });
    // By a digest of the arguments, what is short and not shown would be found.
    if let Some(remembered) = view.get_mut("remembered").and_then(Value::as_object_mut) {
        remembered.retain(|name, _| !matches!(name.as_str(), "digest" | "rest"));
    }
    mask_value(&view)
}

pub(super) async fn list(
    State(app): State<Arc<App>>,
    Reviewer(key): Reviewer,
    params: Params,
) -> ApiResult {
    params.known(&[])?;
    Ok(Json(active(&app, |grant| seen_by(&key, grant)).await?).into_response())
}

/// What a supervisor sees is within its tools.
pub(super) fn seen_by(key: &Key, grant: &Grant) -> bool {
    key.tools.is_empty() || key.tools.iter().any(|tools| tools.covers(&grant.tools))
}

/// The grants in force that the reader may see.
pub(super) async fn active(app: &App, sees: impl Fn(&Grant) -> bool) -> ApiResult<Value> {
    app.gate.refresh_control().await?;
    let (now, control) = (app.gate.now(), app.gate.control());
    let grants = control.grants.iter().map(|active| &active.grant);
    Ok(grants
        .filter(|grant| grant.active_at(now) && sees(grant))
        .map(|grant| grant_view(grant, now))
        .collect())
}

pub(super) async fn create(
    State(app): State<Arc<App>>,
    Admin(key): Admin,
    Body(body): Body<GrantBody>,
) -> ApiResult {
    let made = make(&app, &key, body).await?;
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// `key` is an admin's.
pub(super) async fn make(app: &App, key: &Key, body: GrantBody) -> ApiResult<Value> {
    let new = body.checked(app.gate.settings().max_grant)?;
    let granted = app.gate.grant(new, &key.identity()).await?;
    let mut view = grant_view(&granted.grant, app.gate.now());
    if let Some(view) = view.as_object_mut() {
        view.insert("released".into(), granted.released.into());
    }
    Ok(view)
}

pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Segment(id): Segment,
) -> ApiResult {
    Ok(Json(unmake(&app, &key, id).await?).into_response())
}

/// Whoever made a grant may revoke it, and an admin any: through every door.
pub(super) async fn unmake(app: &App, key: &Key, id: String) -> ApiResult<Value> {
    let id = GrantId::from(id);
    app.gate.refresh_control().await?;
    let control = app.gate.control();
    let mut grants = control.grants.iter().map(|active| &active.grant);
    let found = grants.find(|grant| grant.id == id);
    if found.is_some_and(|grant| !grant.is_revocable_by(key)) {
        return Err(
            ApiError::forbidden("this grant was made by somebody else").help(
                "whoever made a grant may revoke it; for any other it needs a key of role admin",
            ),
        );
    }
    if app.gate.revoke(&id, &key.identity()).await? {
        return Ok(json!({"id": id, "status": "revoked"}));
    }
    Err(ApiError::not_found("grant"))
}

/// The same for a form, whose fields are those of the body: why not, in words.
pub(crate) async fn make_by_form(app: &App, key: &Key, body: Value) -> Result<(), String> {
    let body = serde_json::from_value(body).map_err(|error| json_error::told(&error))?;
    let made = make(app, key, body).await;
    made.map(drop).map_err(|error| error.words())
}

pub(crate) async fn revoke_by_form(app: &App, key: &Key, id: String) -> Result<(), String> {
    let revoked = unmake(app, key, id).await;
    revoked.map(drop).map_err(|error| error.words())
}

impl GrantBody {
    fn checked(self, longest: Duration) -> ApiResult<NewGrant> {
        let glob = |name: &str, text: &str| {
            Glob::new(text)
                .map_err(|error| ApiError::bad_request(format!("`{name}` is a bad glob: {error}")))
        };
        let duration = parse_duration(&self.duration)
            .filter(|duration| !duration.is_zero())
            .ok_or_else(|| ApiError::bad_request("`duration` is a duration such as 30m or 2h"))?;
        if duration > longest {
            return Err(ApiError::bad_request(format!(
                "no grant may last longer than {}",
                format_duration(longest)
            ))
            .help("grant less, or raise `grants.max_duration` in the config"));
        }
        if let Some(when) = &self.when {
            compile_when(when).map_err(|errors| bad_when(&errors))?;
        }
        if self.max_uses == Some(0) {
            return Err(ApiError::bad_request("`max_uses` is at least 1"));
        }
        if self
            .session_id
            .as_ref()
            .is_some_and(|session| !is_name(session))
        {
            return Err(ApiError::bad_request(
                "a session id is 1 to 256 printable characters",
            ));
        }
        Ok(NewGrant {
            agent: glob("agent", &self.agent)?,
            tools: glob("tools", &self.tools)?,
            session_id: self.session_id.map(Into::into),
            when: self.when,
            duration,
            max_uses: self.max_uses,
            reasoning: self.reasoning,
        })
    }
}

fn bad_when(errors: &[provost_core::policy::CompileError]) -> ApiError {
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let error = ApiError::bad_request(format!("`when` cannot be read: {}", messages.join("; ")));
    match errors.iter().find_map(|error| error.help.clone()) {
        Some(help) => error.help(help),
        None => error,
    }
}
