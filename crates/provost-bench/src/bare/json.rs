//! Reads a call as the gateway does, and answers as it would, without deciding or recording anything.

use axum::{Json, Router, routing::post};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Call {
    tool: String,
    arguments: Map<String, Value>,
    session_id: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    action: &'static str,
    policy: &'static str,
    rule: &'static str,
    reason: &'static str,
    agent: &'static str,
    tool: String,
    trace_id: &'static str,
    approval_id: Option<String>,
}

pub(super) fn router() -> Router {
    Router::new().route("/decide", post(decide))
}

async fn decide(Json(call): Json<Call>) -> Json<Answer> {
    std::hint::black_box((&call.arguments, &call.session_id));
    Json(Answer {
        action: "allow",
        policy: "allow",
        rule: "bench:rule-5",
        reason: "policy `bench`, rule 5 says allow",
        agent: "worker-01",
        tool: call.tool,
        trace_id: "0af7651916cd43dd8448eb211c80319c",
        approval_id: None,
    })
}
