//! `GET /tools` and `GET /mcp-servers`: what there is to call.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};

use super::{caller::Anybody, error::ApiResult};
use crate::app::App;

pub(super) async fn list(State(app): State<Arc<App>>, _: Anybody) -> ApiResult {
    Ok(Json(app.backends.tools()).into_response())
}

pub(super) async fn mcp_servers(State(app): State<Arc<App>>, _: Anybody) -> ApiResult {
    let servers: Vec<_> = app.mcp.upstreams().map(|server| server.status()).collect();
    Ok(Json(servers).into_response())
}
