//! An MCP server with one tool, over streamable HTTP without sessions: the upstream, and the baseline.

use axum::{
    Json, Router,
    response::{IntoResponse as _, Response},
    routing::post,
};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

const METHOD_NOT_FOUND: i32 = -32601;

#[derive(Deserialize)]
struct Message {
    method: String,
    id: Option<Box<RawValue>>,
    #[serde(default)]
    params: Value,
}

pub(super) fn router() -> Router {
    Router::new().route("/mcp", post(answer))
}

async fn answer(Json(message): Json<Message>) -> Response {
    let Some(id) = message.id else {
        return StatusCode::ACCEPTED.into_response();
    };
    let result = match message.method.as_str() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [{
            "name": "read_file",
            "description": "Reads a file",
            "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
        }]}),
        "tools/call" => {
            let path = message.params.pointer("/arguments/path");
            let path = path.and_then(Value::as_str).unwrap_or_default();
            json!({"content": [{"type": "text", "text": path}], "isError": false})
        }
        _ => {
            let error = json!({"code": METHOD_NOT_FOUND, "message": "unknown"});
            return Json(json!({"jsonrpc": "2.0", "id": id, "error": error})).into_response();
        }
    };
    Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}
