//! OpenAI's chats.

use serde_json::{Value, json};

use super::{JSON, LAST_WORD, STREAM, Turn};

pub(super) fn tools(asked: &Value) -> impl Iterator<Item = &Value> {
    let tools = asked["tools"].as_array().into_iter().flatten();
    tools.map(|tool| &tool["function"])
}

pub(super) fn results(asked: &Value) -> Vec<String> {
    // What an earlier prompt was told is of that one.
    let messages = asked["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let last = messages.iter().rposition(is_said);
    let messages = messages.iter().skip(last.unwrap_or(0));
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].to_string())
        .collect()
}

/// By a person, and not by the agent in between.
fn is_said(message: &Value) -> bool {
    let own = |text: &str| text.trim_start().starts_with('<');
    let content = &message["content"];
    let parts = content.as_array().into_iter().flatten();
    let mut texts = parts
        .filter_map(|part| part["text"].as_str())
        .chain(content.as_str());
    message["role"] == "user" && texts.any(|text| !own(text))
}

/// Calls, or the last word.
pub(super) fn answer(turn: &Turn, streamed: bool) -> (&'static str, String) {
    let (mut message, reason) = match turn {
        Turn::Calls(calls) => {
            let calls = calls.iter().enumerate().map(|(index, call)| {
                let function = json!({"name": call.tool, "arguments": call.arguments.to_string()});
                json!({"index": index, "id": call.id, "type": "function", "function": function})
            });
            let calls: Vec<Value> = calls.collect();
            (
                json!({"role": "assistant", "tool_calls": calls}),
                "tool_calls",
            )
        }
        Turn::Last => (json!({"role": "assistant", "content": LAST_WORD}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1,
        "total_tokens": 2});
    if !streamed {
        message["content"] = message.get("content").cloned().unwrap_or_default();
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        let whole = json!({"id": "c-1", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [choice], "usage": usage});
        return (JSON, whole.to_string());
    }
    let chunk = |choice: Value| {
        let chunk = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [choice], "usage": usage});
        format!("data: {chunk}\n\n")
    };
    let said = chunk(json!({"index": 0, "delta": message, "finish_reason": null}));
    let ended = chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}));
    (STREAM, format!("{said}{ended}data: [DONE]\n\n"))
}
