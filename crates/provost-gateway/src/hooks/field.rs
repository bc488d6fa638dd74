//! Reading what hooks say, which is not ours to trust.

use provost_core::call::{exact_numbers, is_name};
use serde_json::{Map, Value};

use super::{Act, What};

/// Of characters, of what is not understood.
const LONGEST_SHOWN: usize = 100;

pub(super) fn text<'a>(said: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    said.get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// The name of the event, without which nothing can be answered.
pub(super) fn event(said: &Map<String, Value>) -> Result<String, String> {
    match said.get("hook_event_name") {
        None | Some(Value::Null) => Err("`hook_event_name` is missing".to_owned()),
        Some(Value::String(event)) if is_name(event) => Ok(event.clone()),
        Some(other) => {
            let shown: String = other.to_string().chars().take(LONGEST_SHOWN).collect();
            Err(format!(
                "`hook_event_name` is `{shown}`, which is no name of an event"
            ))
        }
    }
}

/// A use of a tool, or why it cannot be read.
pub(super) fn act(
    prefix: &str,
    said: &Map<String, Value>,
    (name, input): (&str, &str),
) -> Result<Act, String> {
    let Some(tool) = text(said, name) else {
        return Err(format!("`{name}` is missing"));
    };
    let tool = format!("{prefix}.{tool}");
    if !is_name(&tool) {
        return Err(format!("`{name}` is not 1 to 256 printable characters"));
    }
    Ok(Act {
        tool,
        params: params(said.get(input)).ok_or_else(|| format!("`{input}` is missing"))?,
        id: text(said, "tool_use_id").map(str::to_owned),
    })
}

/// An object as it is, also where it is written as text; anything else as the one argument `input`.
pub(super) fn params(input: Option<&Value>) -> Option<Map<String, Value>> {
    match input? {
        Value::Object(params) => Some(params.clone()),
        Value::String(text) => match serde_json::from_slice(&exact_numbers(text.as_bytes())) {
            Ok(Value::Object(params)) => Some(params),
            _ => Some(one("input", Value::String(text.clone()))),
        },
        Value::Null => None,
        other => Some(one("input", other.clone())),
    }
}

pub(super) fn one(name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), value)])
}

pub(super) fn ask(act: Result<Act, String>) -> What {
    act.map_or_else(What::Unreadable, What::Ask)
}

/// How long something is, as the agent would send it.
pub(super) fn size(value: Option<&Value>) -> usize {
    match value {
        None | Some(Value::Null) => 0,
        Some(Value::String(text)) => text.len(),
        Some(value) => value.to_string().len(),
    }
}
