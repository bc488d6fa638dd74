//! A trace as it is read: the decision and its outcome joined, redacted where the reader may not see
//! content.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use similar::TextDiff;

use crate::{
    ports::TraceEntry,
    review::{self, Excerpt},
};

/// Of the diff of an edited call. Both sides are in the view, whole.
const MOST_EDIT_LINES: usize = 400;
const LONGEST_EDIT: usize = 32 * 1024;
/// Longer arguments are not compared line by line: all that they share takes too long to find.
const MOST_COMPARED: usize = 2000;

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

/// The two records as one object, with secrets masked. A call that a person changed is `edited`, and `edit` is what
/// they changed. `outcome` is `done`, `failed`, `unknown`, `pending` (no outcome
/// recorded yet) or `none` (nothing was forwarded).
pub fn trace_view(entry: &TraceEntry, exposure: Exposure) -> Map<String, Value> {
    let mut view = object(&entry.decision);
    let mut hides_secret = false;
    for (name, value) in &mut view {
        let shown = match (&*value, exposure) {
            (Value::Object(params), Exposure::Structure) => review::redact_map(params).into(),
            (Value::Object(params), Exposure::Everything) => review::mask_map(params).into(),
            (Value::String(text), _) if SAID.contains(&name.as_str()) => {
                review::mask_text(text).into_owned().into()
            }
            _ => continue,
        };
        hides_secret |= matches!(&*value, Value::Object(params) if review::hides_secret(params));
        *value = shown;
    }
    if hides_secret {
        view.insert("hides_secret".into(), true.into());
    }
    // By a digest of the arguments, what is short and not shown would be found.
    if hides_secret || exposure == Exposure::Structure {
        view.remove("digest");
    }
    if let Some(edit) = edit(&view) {
        view.insert("edited".into(), true.into());
        view.insert("edit".into(), edit.into());
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

/// From what was asked to what was permitted, as a diff of indented JSON. What content hides differs by its hash.
fn edit(view: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| {
        let json = serde_json::to_string_pretty(view.get(name)?).ok()?;
        Some(json + "\n")
    };
    let (asked, ran) = (text("params")?, text("changed_params")?);
    let diff = if asked.lines().count().max(ran.lines().count()) > MOST_COMPARED {
        let mut diff = "--- asked\n+++ ran\n@@ @@\n".to_owned();
        for (sign, text) in [('-', &asked), ('+', &ran)] {
            for line in text.lines() {
                let _ = writeln!(diff, "{sign}{line}");
            }
        }
        diff
    } else {
        let diff = TextDiff::from_lines(&asked, &ran);
        diff.unified_diff().header("asked", "ran").to_string()
    };
    Some(Excerpt::of(&diff, MOST_EDIT_LINES, LONGEST_EDIT).text)
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p15_an_edited_call_is_marked_with_what_was_asked_and_what_ran() {
        let entry = |decision: &str| TraceEntry {
            place: 1,
            decision: decision.into(),
            outcome: None,
            in_flight: false,
        };
        let plain = entry(r#"{"params":{"a":1}}"#);
        assert!(!trace_view(&plain, Exposure::Everything).contains_key("edited"));
        let edited = entry(r#"{"params":{"a":1,"body":"x"},"changed_params":{"a":2,"body":"y"}}"#);
        let view = trace_view(&edited, Exposure::Everything);
        assert_eq!(view["edited"], true);
        let diff = view["edit"].as_str().unwrap();
        for line in [
            "--- asked\n+++ ran\n",
            "-  \"a\": 1,\n",
            "+  \"a\": 2,\n",
            "+  \"body\": \"y\"\n",
        ] {
            assert!(diff.contains(line), "{diff}");
        }
        let hidden = trace_view(&edited, Exposure::Structure);
        assert!(!hidden["edit"].as_str().unwrap().contains("\"y\""));
    }

    #[test]
    fn p09_no_digest_tells_what_is_not_shown() {
        let entry = |params: &str| TraceEntry {
            place: 1,
            decision: format!(r#"{{"params":{params},"digest":"00"}}"#),
            outcome: None,
            in_flight: false,
        };
        let plain = entry(r#"{"a":1}"#);
        let view = trace_view(&plain, Exposure::Everything);
        assert_eq!(view["digest"], "00");
        assert!(!view.contains_key("hides_secret"));
        assert!(!trace_view(&plain, Exposure::Structure).contains_key("digest"));
        let view = trace_view(&entry(r#"{"pin":"4711"}"#), Exposure::Everything);
        assert!(!view.contains_key("digest"));
        assert_eq!(view["hides_secret"], true);
    }
}
