//! Every address of the HTTP door, in one place.

use std::sync::Arc;

use axum::{
    Router,
    routing::{delete, get, post},
};

use super::{
    approvals, calls, declared, events, grants, guard, hooks, keys, links, mcp, operations, people,
    permissions, policies, runs, servers, stops, tools, traces, v1, wrapped,
};
use crate::{app::App, console};

pub fn router(app: &Arc<App>) -> Router {
    Router::new()
        // Agents
        .route("/tool/{*name}", post(calls::tool))
        .route("/decide", post(calls::decide))
        .route("/hooks/{agent}", post(hooks::hook))
        .route(
            "/v1/permissions",
            post(permissions::ask).delete(permissions::withdraw),
        )
        .route("/v1/unsupervised", post(permissions::unsupervised))
        .route("/v1/standing", get(permissions::standing))
        .route("/v1/mcp-calls", post(wrapped::ask))
        .route("/v1/mcp-calls/{id}/outcome", post(wrapped::outcome))
        .route("/mcp", post(mcp::post).get(mcp::get).delete(mcp::delete))
        .route("/v1/approvals", post(v1::create))
        .route("/v1/approvals/{id}", get(v1::status))
        .route("/v1/allow-rules", get(v1::allow_rules))
        .route("/v1/allow-rules/{id}", delete(v1::revoke_rule))
        .route("/v1/session-allows", get(v1::session_allows))
        .route("/v1/session-allows/{id}", delete(v1::revoke_session))
        .route("/tools", get(tools::list))
        .route("/mcp-servers", get(servers::list))
        // Supervisors
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::detail))
        .route("/approvals/{id}/approve", post(approvals::approve))
        .route("/approvals/{id}/deny", post(approvals::deny))
        .route("/approvals/{id}/escalate", post(approvals::escalate))
        .route("/approvals/{id}/claim", post(approvals::claim))
        .route("/events", get(events::events))
        .route("/traces", get(traces::list))
        .route("/traces/export", get(traces::export))
        .route("/traces/verify", get(traces::verified))
        .route("/traces/{id}", get(traces::detail))
        .route("/sessions", get(traces::sessions))
        .route("/sessions/{id}", get(traces::session))
        // People and admins
        .route("/grants", get(grants::list).post(grants::create))
        .route("/grants/{id}", delete(grants::revoke))
        .route("/stop", get(stops::list).post(stops::stop))
        .route("/resume", post(stops::resume))
        .route("/mcp-servers/{name}/tools", get(servers::tools))
        .route("/mcp-servers/{name}/trust", post(servers::trust))
        .route("/v1/people", get(people::list))
        .route("/v1/people/{name}/test", post(people::test))
        .route("/v1/people-tests/{id}", get(people::tested))
        .route("/v1/runs", get(runs::list).post(runs::create))
        .route("/v1/runs/{id}", get(runs::detail))
        .route("/v1/runs/{id}/events", get(runs::events))
        .route("/v1/runs/{id}/cancel", post(runs::cancel))
        .route("/v1/runs/{id}/changes", get(runs::changes))
        .route(
            "/v1/runs/{id}/prompts",
            get(runs::prompts).post(runs::add_prompt),
        )
        .route(
            "/v1/runs/{id}/prompts/{prompt}/cancel",
            post(runs::cancel_prompt),
        )
        .route("/policies", get(policies::list))
        .route("/keys", get(keys::list).post(keys::create))
        .route("/keys/{name}", delete(keys::remove))
        .route("/agents/declared", get(declared::list))
        .route("/console/links", post(links::create))
        .merge(console::router())
        .route("/v1/inbox/email-reply", post(v1::email_reply))
        .route("/v1/telegram/webhook", post(v1::telegram_webhook))
        // Operations
        .route("/health", get(operations::health))
        .route("/ready", get(operations::ready))
        .route("/version", get(operations::version))
        .route("/instance", get(operations::instance))
        .route("/metrics", get(operations::metrics))
        .route("/openapi.json", get(operations::openapi))
        .fallback(guard::not_found)
        .method_not_allowed_fallback(guard::method_not_allowed)
        .with_state(app.clone())
}
