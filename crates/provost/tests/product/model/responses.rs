//! OpenAI's responses, as a stream: what Codex speaks.

use serde_json::{Value, json};

use super::{LAST_WORD, Turn};

pub(super) fn tools(asked: &Value) -> impl Iterator<Item = &Value> {
    asked["tools"].as_array().into_iter().flatten()
}

pub(super) fn results(asked: &Value) -> Vec<String> {
    // What an earlier prompt was told is of that one.
    let items = asked["input"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let last = items.iter().rposition(|item| item["role"] == "user");
    let items = items.iter().skip(last.unwrap_or(0));
    let results = items.filter(|item| {
        let kind = item["type"].as_str().unwrap_or_default();
        kind.ends_with("_call_output")
    });
    results.map(|item| item["output"].to_string()).collect()
}

pub(super) fn events(turn: &Turn) -> String {
    let items: Vec<Value> = match turn {
        Turn::Calls(calls) => calls
            .iter()
            .map(|call| {
                json!({
                    "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
                    "name": call.tool, "arguments": call.arguments.to_string(), "status": "completed",
                })
            })
            .collect(),
        Turn::Last => vec![json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": LAST_WORD, "annotations": []}],
        })],
    };
    let response = |status: &str, output: &[Value]| json!({"id": "resp_1", "object": "response", "status": status, "output": output});
    let mut completed = response("completed", &items);
    completed["usage"] = json!({
        "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    });
    let created = json!({"type": "response.created", "response": response("in_progress", &[])});
    let mut events = vec![created];
    for (index, item) in items.iter().enumerate() {
        events.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": item}),
        );
        if matches!(turn, Turn::Last) {
            events.push(json!({
                "type": "response.output_text.delta", "item_id": "msg_1", "output_index": index,
                "content_index": 0, "delta": LAST_WORD,
            }));
        }
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    events.push(json!({"type": "response.completed", "response": completed}));
    let event = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(event).collect()
}
