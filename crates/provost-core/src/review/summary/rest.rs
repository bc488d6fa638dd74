//! The arguments that a summary says nothing about. They are part of the call, so they are shown beside it:
//! `{"command": "ls", "env": {"LD_PRELOAD": "…"}}` is more than `ls`.

use serde_json::{Map, Value};

use super::{
    Act, LONGEST_CLAIM, Summary,
    change::{CONTENT, LONGEST_PATH, NEW, OLD, PATHS, patch},
    given,
};

/// What of the arguments is neither in the steps, nor in the diff, nor the claim.
pub fn not_shown(params: &Map<String, Value>, summary: &Summary) -> Map<String, Value> {
    let shown = match &summary.act {
        Act::Command { .. } => given::shown(params),
        Act::Change { path, .. } => changed(params, path.as_deref()),
    };
    let claim = |name: &str, value: &Value| {
        name == "description"
            && value
                .as_str()
                .is_some_and(|text| text.len() <= LONGEST_CLAIM)
    };
    params
        .iter()
        .filter(|(name, value)| !shown.contains(&name.as_str()) && !claim(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn changed(params: &Map<String, Value>, path: Option<&str>) -> Vec<&'static str> {
    if let Some(patch) = patch::find(params) {
        // The first that holds it: another may hold a different one.
        let holds = |name: &&str| match params.get(*name) {
            Some(Value::String(text)) => text == patch,
            Some(Value::Array(words)) => {
                matches!(&**words, [_, Value::String(text)] if text == patch)
            }
            _ => false,
        };
        let names = ["patch", "input", "command", "cmd"];
        return names.into_iter().find(holds).into_iter().collect();
    }
    let named = |name: &&str| {
        let value = params.get(*name).and_then(Value::as_str);
        value.is_some_and(|value| Some(value) == path && value.len() <= LONGEST_PATH)
    };
    let mut shown: Vec<_> = PATHS.into_iter().filter(named).collect();
    for names in [&CONTENT[..], &OLD, &NEW] {
        let is_text = |name: &&&str| params.get(**name).is_some_and(Value::is_string);
        shown.extend(names.iter().find(is_text));
    }
    if let Some(Value::Array(items)) = params.get("edits")
        && items.iter().all(is_plain_edit)
    {
        shown.push("edits");
    }
    shown
}

/// An old and a new text, and nothing else.
fn is_plain_edit(item: &Value) -> bool {
    let Value::Object(fields) = item else {
        return false;
    };
    let (old, new) = (
        |name: &str| OLD.contains(&name),
        |name: &str| NEW.contains(&name),
    );
    let count = |is: &dyn Fn(&str) -> bool| fields.keys().filter(|name| is(name.as_str())).count();
    let known = |(name, value): (&String, &Value)| (old(name) || new(name)) && value.is_string();
    fields.iter().all(known) && count(&old) <= 1 && count(&new) <= 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::review::summarize;

    #[test]
    fn p14_arguments_beside_the_act_are_not_forgotten() {
        for (params, expected) in [
            (json!({"command": "ls"}), json!({})),
            (
                json!({"command": "ls", "description": "List", "timeout": 5, "env": {"LD_PRELOAD": "x"}}),
                json!({"timeout": 5, "env": {"LD_PRELOAD": "x"}}),
            ),
            (
                json!({"command": "ls", "description": ["x"]}),
                json!({"description": ["x"]}),
            ),
            (
                json!({"command": "ls", "file_path": "a", "content": "x"}),
                json!({"file_path": "a", "content": "x"}),
            ),
            (
                json!({"file_path": "a", "content": "x", "contents": "y", "mode": "0777"}),
                json!({"contents": "y", "mode": "0777"}),
            ),
            (
                json!({"file_path": "a", "path": "b", "content": "x"}),
                json!({"file_path": "a", "path": "b"}),
            ),
            (
                json!({"path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}),
                json!({}),
            ),
            (
                json!({"path": "a", "edits": [{"old_string": "x", "new_string": "y", "mode": "all"}]}),
                json!({"edits": [{"old_string": "x", "new_string": "y", "mode": "all"}]}),
            ),
            (
                json!({"patch": "*** Begin Patch\n+x", "input": "*** Begin Patch\n+y"}),
                json!({"input": "*** Begin Patch\n+y"}),
            ),
        ] {
            let Value::Object(params) = params else {
                panic!()
            };
            let summary = summarize("t", &params, None).unwrap();
            assert_eq!(json!(not_shown(&params, &summary)), expected, "{params:?}");
        }
    }
}
