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

/// The two records as one object. `outcome` is `done`, `failed`, `unknown`, `pending` (no outcome
/// recorded yet) or `none` (nothing was forwarded).
pub fn trace_view(entry: &TraceEntry, exposure: Exposure) -> Map<String, Value> {
    let mut view = object(&entry.decision);
    for name in ["params", "changed_params"] {
        if exposure == Exposure::Structure
            && let Some(Value::Object(params)) = view.get(name)
        {
            let redacted = review::redact_map(params);
            view.insert(name.into(), Value::Object(redacted));
        }
    }
    let expected = if entry.in_flight { "pending" } else { "none" };
    view.insert("outcome".into(), expected.into());
    let Some(outcome) = &entry.outcome else {
        return view;
    };
    for (name, value) in object(outcome) {
        match name.as_str() {
            "timestamp" => view.insert("ended_at".into(), value),
            // What the backend said in its error may quote the content.
            "error" if exposure == Exposure::Structure => view.insert(name, review::redact(&value)),
            _ => view.insert(name, value),
        };
    }
    view
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}
