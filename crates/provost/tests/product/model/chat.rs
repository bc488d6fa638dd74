//! OpenAI's chats, as a stream.

use serde_json::{Value, json};

pub(super) fn has_shell(asked: &Value) -> bool {
    let mut tools = asked["tools"].as_array().into_iter().flatten();
    tools.any(|tool| tool["function"]["name"] == "bash")
}

pub(super) fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().into_iter().flatten();
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].to_string())
        .collect()
}

/// A call of the shell, or the last word.
pub(super) fn events(command: Option<&str>) -> String {
    let (delta, reason) = match command {
        Some(command) => {
            let arguments = json!({"command": command, "description": "Do the work"}).to_string();
            let function = json!({"name": "bash", "arguments": arguments});
            let call =
                json!({"index": 0, "id": "call_1", "type": "function", "function": function});
            (
                json!({"role": "assistant", "tool_calls": [call]}),
                "tool_calls",
            )
        }
        None => (
            json!({"role": "assistant", "content": "That is all."}),
            "stop",
        ),
    };
    let chunk = |choice: Value| {
        let chunk = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
            "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
        format!("data: {chunk}\n\n")
    };
    let said = chunk(json!({"index": 0, "delta": delta, "finish_reason": null}));
    let ended = chunk(json!({"index": 0, "delta": {}, "finish_reason": reason}));
    format!("{said}{ended}data: [DONE]\n\n")
}
