//! Anthropic's messages: what Claude Code speaks.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::{JSON, LAST_WORD, STREAM, Turn};

pub(super) fn tools(asked: &Value) -> impl Iterator<Item = &Value> {
    asked["tools"].as_array().into_iter().flatten()
}

/// What came of the calls since somebody spoke last.
pub(super) fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().into_iter().flatten();
    let said = messages.filter(|message| message["role"] == "user");
    let blocks: Vec<&Value> = said
        .flat_map(|message| message["content"].as_array().into_iter().flatten())
        .collect();
    let spoke = blocks.iter().rposition(|block| is_said(block));
    let blocks = blocks.into_iter().skip(spoke.unwrap_or(0));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    let results = results.map(|block| block["content"].to_string());
    // What a killed agent had begun is told as interrupted when it comes back: that is no result.
    results
        .filter(|result| !result.contains("interrupt"))
        .collect()
}

/// By a person, and not by the agent in between.
fn is_said(block: &Value) -> bool {
    let text = block["text"].as_str().unwrap_or_default();
    // What the agent adds once it has looked a tool up.
    let own = text.starts_with(['<', '[']) || text == "Tool loaded.";
    block["type"] == "text" && !own && !text.is_empty()
}

pub(super) fn answer(turn: &Turn, streamed: bool) -> (&'static str, String) {
    let blocks = match turn {
        Turn::Calls(calls) => calls
            .iter()
            .map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}))
            .collect(),
        Turn::Last => vec![json!({"type": "text", "text": LAST_WORD})],
    };
    if streamed {
        (STREAM, events(&blocks))
    } else {
        let whole = message(&blocks, Some(stop_reason(&blocks)));
        (JSON, whole.to_string())
    }
}

fn stop_reason(blocks: &[Value]) -> &'static str {
    let is_call = blocks.iter().any(|block| block["type"] == "tool_use");
    if is_call { "tool_use" } else { "end_turn" }
}

/// Claude Code takes messages of one id for pieces of one.
fn message(content: &[Value], stop: Option<&str>) -> Value {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let id = format!("msg_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    json!({"id": id, "type": "message", "role": "assistant", "model": "scripted",
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1}})
}

fn events(blocks: &[Value]) -> String {
    let mut events = vec![json!({"type": "message_start", "message": message(&[], None)})];
    for (index, block) in blocks.iter().enumerate() {
        let (empty, delta) = if block["type"] == "tool_use" {
            let mut empty = block.clone();
            empty["input"] = json!({});
            let input = block["input"].to_string();
            (
                empty,
                json!({"type": "input_json_delta", "partial_json": input}),
            )
        } else {
            let delta = json!({"type": "text_delta", "text": block["text"]});
            (json!({"type": "text", "text": ""}), delta)
        };
        events.extend([
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ]);
    }
    let delta = json!({"stop_reason": stop_reason(blocks), "stop_sequence": null});
    let spent = json!({"output_tokens": 1});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": spent}));
    events.push(json!({"type": "message_stop"}));
    let event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}
