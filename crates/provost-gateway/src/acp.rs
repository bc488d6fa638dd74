//! What a coding agent asks over ACP, as a call of ours. Nothing here decides.

use std::path::Path;

use provost_core::review::{ARGUMENTS, NOT_TOLD};
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

/// The longest text of an agent about a call that is shown.
const LONGEST_TEXT: usize = 4 * 1024;

/// Why a call cannot be decided.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undecidable {
    /// A call whose arguments the agent does not tell can be decided for one request only, and none was named.
    RequestMissing,
    /// Its arguments name one file, and the change that it shows is of another: policy would judge the one, and the
    /// agent write the other.
    Contradictory,
}

/// A call that somebody is to decide.
pub(crate) fn asked(
    tool_call: &Map<String, Value>,
    request: Option<&str>,
) -> Result<(String, Map<String, Value>), Undecidable> {
    if contradicts_itself(tool_call) {
        return Err(Undecidable::Contradictory);
    }
    call(tool_call, request)
}

/// Our name of an agent's tool call, and its arguments: what the agent gives its tool, and, under `acp`,
/// what it says of the call. Its id of the call is no part of it: the same call asked again is the same. Only
/// where the arguments are not told, the request is: nobody knows whether another one is the same.
pub(crate) fn call(
    tool_call: &Map<String, Value>,
    request: Option<&str>,
) -> Result<(String, Map<String, Value>), Undecidable> {
    let kind = tool_call.get("kind").and_then(Value::as_str);
    let kind = KINDS.into_iter().find(|known| Some(*known) == kind);
    let kind = kind.unwrap_or("other");
    let mut params = match tool_call.get("rawInput") {
        Some(Value::Object(input)) => input.clone(),
        None | Some(Value::Null) => Map::new(),
        Some(input) => Map::from_iter([("input".to_owned(), input.clone())]),
    };
    let changes = changes(tool_call);
    let told = !params.is_empty() || !changes.is_empty();
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
    if !told {
        let request = request.ok_or(Undecidable::RequestMissing)?;
        said.insert("request".to_owned(), request.into());
        said.insert(ARGUMENTS.to_owned(), NOT_TOLD.into());
        let text = texts(tool_call);
        if !text.is_empty() {
            said.insert("text".to_owned(), text.into());
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
    Ok((format!("acp.{kind}"), params))
}

/// Whether the file in the arguments is another than the one that it shows a change of. Either may be told from the
/// repository or by its name alone; where there are several changes, it is one of them.
fn contradicts_itself(tool_call: &Map<String, Value>) -> bool {
    let changes = changes(tool_call);
    let changed = || {
        changes
            .iter()
            .filter_map(|change| change.get("path")?.as_str())
    };
    let input = tool_call.get("rawInput").and_then(Value::as_object);
    let named = ["path", "file_path", "filePath"].into_iter();
    let mut named = named.filter_map(|name| input?.get(name)?.as_str().map(Path::new));
    let same = |one: &Path, other: &Path| one.ends_with(other) || other.ends_with(one);
    let shown = |path: &Path| changed().any(|other| same(path, Path::new(other)));
    !changes.is_empty() && named.any(|path| !shown(path))
}

/// What the agent writes about the call, as far as it is shown.
fn texts(tool_call: &Map<String, Value>) -> String {
    let content = list(tool_call, "content").iter();
    let texts = content.filter_map(|block| block.pointer("/content/text")?.as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    text.chars().take(LONGEST_TEXT).collect()
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
        let (tool, params) = call(&tool_call, Some("r1")).unwrap();
        (tool, params.into())
    }

    #[test]
    fn arguments_that_are_not_told_bind_the_decision_to_the_request() {
        let asked = json!({"title": "Bash", "rawInput": {},
            "content": [{"type": "content", "content": {"type": "text", "text": "rm -rf …"}}]});
        assert_eq!(
            called(asked.clone()),
            (
                "acp.other".to_owned(),
                json!({"acp": {"title": "Bash", "request": "r1", "arguments": "not told", "text": "rm -rf …"}})
            )
        );
        let Value::Object(asked) = asked else {
            panic!()
        };
        assert_eq!(call(&asked, None), Err(Undecidable::RequestMissing));
        let told = json!({"rawInput": {"command": "ls"}});
        let Value::Object(told) = told else { panic!() };
        assert!(call(&told, None).is_ok());
    }

    #[test]
    fn a_call_that_names_another_file_than_it_changes_is_not_decided() {
        for (input, changed, decided) in [
            (json!({"path": "/repo/docs/a.md"}), "/repo/docs/a.md", true),
            (json!({"file_path": "docs/a.md"}), "/repo/docs/a.md", true),
            (json!({"filePath": "/repo/docs/a.md"}), "a.md", true),
            (json!({"text": "x"}), "/repo/a", true),
            (json!({"path": "/repo/docs/a.md"}), "/repo/Makefile", false),
            (json!({"file_path": "/repo/docs/a.md"}), "a.m", false),
            (
                json!({"path": "/repo/a", "filePath": "/repo/b"}),
                "/repo/a",
                false,
            ),
        ] {
            let asked = json!({"kind": "edit", "rawInput": input,
                "content": [{"type": "diff", "path": changed, "newText": "x"}]});
            let found = super::asked(asked.as_object().unwrap(), None);
            assert_eq!(found.is_ok(), decided, "{asked}: {found:?}");
        }
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
            (
                json!({"kind": 7}),
                "acp.other",
                json!({"acp": {"request": "r1", "arguments": "not told"}}),
            ),
        ] {
            let (named, given) = called(tool_call);
            assert_eq!((&*named, given), (tool, params));
        }
    }
}
