//! OpenAI's chats.

use serde_json::{Value, json};

use super::{JSON, LAST_WORD, STREAM, Turn, texts};

pub(super) fn offered(asked: &Value) -> Vec<String> {
    let tools = asked["tools"].as_array().into_iter().flatten();
    texts(tools.map(|tool| tool["function"]["name"].clone()))
}

pub(super) fn results(asked: &Value) -> Vec<String> {
    // What an earlier prompt was told is of that one.
    let messages = asked["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let last = messages
        .iter()
        .rposition(|message| message["role"] == "user");
    let messages = messages.iter().skip(last.unwrap_or(0));
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].to_string())
        .collect()
}

/// A call of the shell, or the last word.
pub(super) fn answer(turn: &Turn, streamed: bool) -> (&'static str, String) {
    let (mut message, reason) = match turn {
        Turn::Call(call) => {
            let function = json!({"name": call.tool, "arguments": call.arguments.to_string()});
            let call = json!({"index": 0, "id": call.id, "type": "function", "function": function});
            (
                json!({"role": "assistant", "tool_calls": [call]}),
                "tool_calls",
            )
        }
        Turn::Last => (json!({"role": "assistant", "content": LAST_WORD}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
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
