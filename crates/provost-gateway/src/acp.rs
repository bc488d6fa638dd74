//! What a coding agent asks over ACP, as a call of ours. Nothing here decides.

use serde_json::{Map, Value, json};

/// The kinds of tools that ACP knows. A tool of another kind is `other`.
const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

/// Our name of an agent's tool call, and its arguments: what the agent gives its tool, and, under `acp`,
/// what it says of the call. Its id of the call is no part of it: the same call asked again is the same.
pub(crate) fn call(tool_call: &Map<String, Value>) -> (String, Map<String, Value>) {
    let kind = tool_call.get("kind").and_then(Value::as_str);
    let kind = KINDS.into_iter().find(|known| Some(*known) == kind);
    let kind = kind.unwrap_or("other");
    let mut params = match tool_call.get("rawInput") {
        Some(Value::Object(input)) => input.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(input) => Map::from_iter([("input".to_owned(), input.clone())]),
    };
    let changes = changes(tool_call);
    // Where the arguments do not say what changes, the change that the agent shows does.
    if let [change] = &*changes
        && !params.contains_key("path")
        && !params.contains_key("file_path")
        && let Value::Object(change) = change
    {
        params.extend(change.clone());
    }
    let mut said = Map::new();
    for name in ["title", "name"] {
        if let Some(text) = tool_call.get(name).filter(|text| text.is_string()) {
            said.insert(name.to_owned(), text.clone());
        }
    }
    let locations = locations(tool_call);
    if !locations.is_empty() {
        said.insert("locations".to_owned(), locations.into());
    }
    if !changes.is_empty() {
        said.insert("changes".to_owned(), changes.into());
    }
    params.insert("acp".to_owned(), said.into());
    (format!("acp.{kind}"), params)
}

fn list<'a>(tool_call: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    let list = tool_call.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn locations(tool_call: &Map<String, Value>) -> Vec<Value> {
    let locations = list(tool_call, "locations").iter();
    let paths = locations.filter_map(|location| location.get("path"));
    paths.filter(|path| path.is_string()).cloned().collect()
}

fn changes(tool_call: &Map<String, Value>) -> Vec<Value> {
    let content = list(tool_call, "content").iter();
    let diffs = content.filter(|block| block.get("type").and_then(Value::as_str) == Some("diff"));
    let text =
        |block: &Value, name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
    diffs
        .map(|block| {
            json!({
                "path": text(block, "path"),
                "oldText": text(block, "oldText").unwrap_or_default(),
                "newText": text(block, "newText"),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(tool_call: Value) -> (String, Value) {
        let Value::Object(tool_call) = tool_call else {
            panic!()
        };
        let (tool, params) = call(&tool_call);
        (tool, params.into())
    }

    #[test]
    fn what_agents_ask() {
        for (tool_call, tool, params) in [
            (
                json!({"toolCallId": "1", "kind": "execute", "title": "`ls`", "rawInput": {"command": "ls", "acp": "mine"}}),
                "acp.execute",
                json!({"command": "ls", "acp": {"title": "`ls`"}}),
            ),
            (
                json!({"kind": "edit", "locations": [{"path": "/a", "line": 3}, 7],
                    "content": [{"type": "diff", "path": "/a", "oldText": null, "newText": "x"}, {"type": "content"}]}),
                "acp.edit",
                json!({"path": "/a", "oldText": "", "newText": "x",
                    "acp": {"locations": ["/a"], "changes": [{"path": "/a", "oldText": "", "newText": "x"}]}}),
            ),
            (
                json!({"kind": "sudo", "rawInput": ["a"]}),
                "acp.other",
                json!({"input": ["a"], "acp": {}}),
            ),
            (json!({"kind": 7}), "acp.other", json!({"acp": {}})),
        ] {
            let (named, given) = called(tool_call);
            assert_eq!((&*named, given), (tool, params));
        }
    }
}
