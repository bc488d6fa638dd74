//! Gemini's API.

use serde_json::{Value, json};

use super::{JSON, LAST_WORD, STREAM, Turn};

pub(super) fn tools(asked: &Value) -> impl Iterator<Item = &Value> {
    let tools = asked["tools"].as_array().into_iter().flatten();
    tools.flat_map(|tool| {
        tool["functionDeclarations"]
            .as_array()
            .into_iter()
            .flatten()
    })
}

pub(super) fn results(asked: &Value) -> Vec<String> {
    // What an earlier prompt was told is of that one.
    let contents = asked["contents"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let says = |content: &Value| {
        let mut parts = content["parts"].as_array().into_iter().flatten();
        content["role"] == "user" && parts.any(|part| part.get("text").is_some())
    };
    let last = contents.iter().rposition(says);
    let contents = contents.iter().skip(last.unwrap_or(0));
    let parts = contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let results = parts.filter_map(|part| part.get("functionResponse"));
    results
        .map(|result| result["response"].to_string())
        .collect()
}

pub(super) fn answer(turn: &Turn, streamed: bool) -> (&'static str, String) {
    let parts = match turn {
        Turn::Calls(calls) => calls
            .iter()
            .map(|call| json!({"functionCall": {"id": call.id, "name": call.tool, "args": call.arguments}}))
            .collect(),
        Turn::Last => vec![json!({ "text": LAST_WORD })],
    };
    let content = json!({"role": "model", "parts": parts});
    let answer = json!({
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1,
            "totalTokenCount": 2},
        "modelVersion": "scripted",
    });
    if streamed {
        (STREAM, format!("data: {answer}\n\n"))
    } else {
        (JSON, answer.to_string())
    }
}
