//! `GET /tools`: what there is to call.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};

use super::{caller::Anybody, error::ApiResult};
use crate::app::App;

pub(super) async fn list(State(app): State<Arc<App>>, _: Anybody) -> ApiResult {
    Ok(Json(app.backends.tools()).into_response())
}
