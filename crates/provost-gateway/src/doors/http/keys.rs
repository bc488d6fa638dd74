//! `/keys`: who may come in. A secret is shown once, when it is made.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::{
    call::is_name,
    glob::Glob,
    key::{Key, KeyHash, Role, new_secret},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    caller::Admin,
    error::{ApiError, ApiResult},
    input::{Body, Segment},
};
use crate::app::App;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyBody {
    name: String,
    role: Role,
    #[serde(default)]
    tools: Vec<Glob>,
    person: Option<String>,
}

pub(super) async fn list(State(app): State<Arc<App>>, _: Admin) -> ApiResult {
    let control = app.gate.control();
    let mut keys: Vec<_> = control.keys().collect();
    keys.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Json(json!(keys)).into_response())
}

pub(super) async fn create(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    Body(body): Body<KeyBody>,
) -> ApiResult {
    if !is_name(&body.name) || body.name.contains(':') {
        return Err(ApiError::bad_request(
            "a key's name is 1 to 256 printable characters without `:`",
        ));
    }
    if !body.tools.is_empty() && body.role != Role::Supervisor {
        return Err(ApiError::bad_request(
            "`tools` narrows a supervisor's key; other roles have none",
        ));
    }
    let person = body.person.as_deref();
    let person = person.map(|name| person_of(&app, body.role, name));
    let secret = new_secret();
    let key = Key {
        name: body.name.as_str().into(),
        role: body.role,
        tools: body.tools,
        person: person.transpose()?,
        hash: KeyHash::of(&secret),
        created_at: app.gate.now(),
    };
    if !app.gate.add_key(key.clone(), &by.identity()).await? {
        return Err(ApiError::conflict(
            "name_taken",
            format!("there is a key named `{}` already", body.name),
        )
        .help("remove it first: `provost keys remove NAME`"));
    }
    let mut view = json!(key);
    if let Some(view) = view.as_object_mut() {
        view.insert("key".into(), secret.into());
    }
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// Somebody of `people`, whose key it is to be.
fn person_of(app: &App, role: Role, name: &str) -> ApiResult<Arc<str>> {
    if !role.is_person() {
        let why =
            format!("a key of role {role} belongs to no person: only human and admin keys do");
        return Err(ApiError::bad_request(why).help("leave `person` out"));
    }
    let people = app.gate.people();
    let person = people.named(name).map(|person| person.name.clone());
    person.ok_or_else(|| {
        ApiError::bad_request(format!("there is no person called `{name}`"))
            .help("name somebody of `people` in the config file")
    })
}

pub(super) async fn remove(
    State(app): State<Arc<App>>,
    Admin(by): Admin,
    Segment(name): Segment,
) -> ApiResult {
    if *by.name == *name {
        return Err(ApiError::conflict("own_key", "a key cannot remove itself"));
    }
    if app.gate.remove_key(&name, &by.identity()).await? {
        return Ok(Json(json!({"name": name, "status": "removed"})).into_response());
    }
    Err(ApiError::not_found("key").help("keys of the config file are removed there"))
}
