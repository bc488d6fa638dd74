//! `GET /policies`: the rules as they are in force.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};

use super::{caller::Person, error::ApiResult};
use crate::app::App;

pub(super) async fn list(State(app): State<Arc<App>>, _: Person) -> ApiResult {
    Ok(Json(app.gate.policy().source()).into_response())
}
