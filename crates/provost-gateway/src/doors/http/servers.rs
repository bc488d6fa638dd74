//! `/mcp-servers`: the upstream MCP servers, what their tools say of themselves, and a person's trust in it.

use std::sync::Arc;

use axum::{Json, extract::State, response::IntoResponse as _};
use http::StatusCode;
use provost_core::call::Digest;
use serde::Deserialize;
use serde_json::json;

use super::{
    caller::{Known, Person},
    error::{ApiError, ApiResult},
    input::{Body, Segment},
};
use crate::{
    access::Caller,
    app::App,
    backends::mcp::{Status, Trust, TrustError, Upstream},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustBody {
    /// As the server calls it, or with the server's name before it.
    tool: String,
    /// Of the definition that was shown.
    digest: Digest,
}

/// What went wrong with a server may tell more than an agent should know.
pub(super) async fn list(State(app): State<Arc<App>>, Known(caller): Known) -> ApiResult {
    let all = app.mcp.upstreams().map(|server| server.status());
    let servers: Vec<_> = match caller {
        Caller::Agent(_) => all.map(Status::for_agents).collect(),
        Caller::Decider(_) => all.collect(),
    };
    Ok(Json(servers).into_response())
}

pub(super) async fn tools(
    State(app): State<Arc<App>>,
    _: Person,
    Segment(name): Segment,
) -> ApiResult {
    Ok(Json(server(&app, &name)?.tools_to_judge()).into_response())
}

pub(super) async fn trust(
    State(app): State<Arc<App>>,
    Person(key): Person,
    Segment(name): Segment,
    Body(body): Body<TrustBody>,
) -> ApiResult {
    let server = server(&app, &name)?;
    let own = body
        .tool
        .strip_prefix(&*name)
        .and_then(|tool| tool.strip_prefix('.'));
    let tool = own.unwrap_or(&body.tool);
    let by = key.identity();
    let trusted = server.trust(&app.gate, tool, body.digest, &by).await;
    let changed = match trusted {
        Ok(trust) => trust == Trust::Accepted,
        Err(error) => return Err(refused(error, server, tool)),
    };
    let answer = json!({
        "tool": format!("{name}.{tool}"),
        "digest": body.digest,
        "state": "trusted",
        "changed": changed,
    });
    Ok(Json(answer).into_response())
}

fn server<'a>(app: &'a App, name: &str) -> ApiResult<&'a Arc<Upstream>> {
    app.mcp.get(name).ok_or_else(|| {
        ApiError::not_found("MCP server").help("`GET /mcp-servers` lists the servers there are")
    })
}

fn refused(error: TrustError, server: &Upstream, tool: &str) -> ApiError {
    let look = format!(
        "look at it again: `provost mcp trust {} {tool}`",
        server.name()
    );
    match error {
        TrustError::Unknown => ApiError::not_found("tool"),
        TrustError::Stale { now } => {
            ApiError::conflict("stale_digest", "the tool is not what was shown any more")
                .with("digest", json!(now))
                .help(look)
        }
        TrustError::Gate(error) => error.into(),
    }
}

/// Why a tool cannot be called that an MCP server should have.
pub(super) fn not_to_be_had(app: &App, tool: &str) -> Option<ApiError> {
    let server = app.mcp.of_tool(tool)?;
    let (name, own) = tool.split_once('.')?;
    if server.is_held(own) {
        let help = format!("a person accepts it with `provost mcp trust {name} {own}`");
        let held = ApiError::new(StatusCode::FORBIDDEN, "tool_held", server.held_back(own));
        return Some(held.help(help));
    }
    let error = server.peer().err()?;
    Some(
        ApiError::new(StatusCode::BAD_GATEWAY, "server_down", error.to_string())
            .help("`GET /mcp-servers` tells how it is"),
    )
}
