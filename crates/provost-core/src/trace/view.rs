//! A trace as it is read: the decision and its outcome joined, redacted where the reader may not see
//! content.

use serde_json::{Map, Value};

use crate::{ports::TraceEntry, review};

/// How much of a trace its reader may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    Everything,
    /// Content is described, not shown.
    Structure,
}

/// What somebody says in a record, and may quote arguments with.
const SAID: [&str; 4] = [
    "reason",
    "supervisor_reasoning",
    "escalation_reasoning",
    "approver_label",
];

/// The two records as one object, with secrets masked. `outcome` is `done`, `failed`, `unknown`, `pending` (no outcome
/// recorded yet) or `none` (nothing was forwarded).
pub fn trace_view(entry: &TraceEntry, exposure: Exposure) -> Map<String, Value> {
    let mut view = object(&entry.decision);
    for (name, value) in &mut view {
        let shown = match (&*value, exposure) {
            (Value::Object(params), Exposure::Structure) => review::redact_map(params).into(),
            (Value::Object(params), Exposure::Everything) => review::mask_map(params).into(),
            (Value::String(text), _) if SAID.contains(&name.as_str()) => {
                review::mask_text(text).into_owned().into()
            }
            _ => continue,
        };
        *value = shown;
    }
    let expected = if entry.in_flight { "pending" } else { "none" };
    view.insert("outcome".into(), expected.into());
    let Some(outcome) = &entry.outcome else {
        return view;
    };
    for (name, value) in object(outcome) {
        match name.as_str() {
            "timestamp" => view.insert("ended_at".into(), value),
            // What the backend said in its error may quote the content, however short it is.
            "error" if exposure == Exposure::Structure => {
                view.insert(name, review::redact_all(&value))
            }
            "error" => view.insert(name, review::mask_value(&value)),
            _ => view.insert(name, value),
        };
    }
    view
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
