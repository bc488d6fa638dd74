//! What the agent told of its tool calls before it asks about one: its question often says less.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use crate::acp::{Status, ToolUpdate, call_id, is_act};

/// Calls that are remembered at once.
const MOST_CALLS: usize = 1000;

#[derive(Default)]
pub(super) struct ToolCalls {
    /// The text of a call is its arguments, in JSON.
    arguments_as_text: bool,
    calls: HashMap<String, Told>,
    /// The oldest first.
    order: VecDeque<String>,
}

#[derive(Default)]
struct Told {
    call: Map<String, Value>,
    /// It ended. Models give the ids: whatever has its id from now on is another call.
    over: bool,
}

impl ToolCalls {
    pub(super) fn new(arguments_as_text: bool) -> Self {
        Self {
            arguments_as_text,
            ..Self::default()
        }
    }

    pub(super) fn note(&mut self, tool: ToolUpdate) {
        let ToolUpdate {
            id, told, status, ..
        } = tool;
        if !self.calls.contains_key(&id) {
            if self.order.len() >= MOST_CALLS
                && let Some(oldest) = self.order.pop_front()
            {
                self.calls.remove(&oldest);
            }
            self.order.push_back(id.clone());
        }
        let known = self.calls.entry(id).or_default();
        if known.over {
            *known = Told::default();
        }
        for (name, value) in told {
            if says_something(&value) && !hides_act(&known.call, &name, &value) {
                known.call.insert(name, value);
            }
        }
        known.over = matches!(status, Some(Status::Completed | Status::Failed));
    }

    /// The call that is asked about, with what was told of it before. What the question says itself goes first.
    pub(super) fn completed(&self, asked: &Map<String, Value>) -> Map<String, Value> {
        self.with_told(asked, self.known(asked).filter(|known| !known.over))
    }

    /// The same of a call that may have ended.
    pub(super) fn ended(&self, seen: &Map<String, Value>) -> Map<String, Value> {
        self.with_told(seen, self.known(seen))
    }

    fn known(&self, call: &Map<String, Value>) -> Option<&Told> {
        let id = call.get("toolCallId").and_then(call_id)?;
        self.calls.get(&id)
    }

    fn with_told(&self, asked: &Map<String, Value>, known: Option<&Told>) -> Map<String, Value> {
        let mut whole = known.map(|known| known.call.clone()).unwrap_or_default();
        let text = whole.get("content").and_then(arguments_in);
        for (name, value) in asked {
            let says = says_something(value) && !hides_act(&whole, name, value);
            if says || !whole.contains_key(name) {
                whole.insert(name.clone(), value.clone());
            }
        }
        let told = whole.get("rawInput").is_some_and(says_something);
        if self.arguments_as_text
            && !told
            && let Some(arguments) = text
        {
            whole.insert("rawInput".to_owned(), arguments);
        }
        whole
    }
}

/// The one text of a call, if it is an object. One that is still being written is none.
fn arguments_in(content: &Value) -> Option<Value> {
    let [block] = content.as_array()?.as_slice() else {
        return None;
    };
    let text = block.pointer("/content/text")?.as_str()?;
    let arguments: Value = serde_json::from_str(text).ok()?;
    arguments.is_object().then_some(arguments)
}

/// Whether a call that was told as an act is now told as something else: it is asked about as the act.
fn hides_act(known: &Map<String, Value>, name: &str, value: &Value) -> bool {
    let acts = |kind: &Value| kind.as_str().is_some_and(is_act);
    name == "kind" && known.get(name).is_some_and(acts) && !acts(value)
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(values) => !values.is_empty(),
        Value::Object(values) => !values.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::acp::{SessionUpdate, Update};

    fn told(updates: &[Value]) -> ToolCalls {
        let mut calls = ToolCalls::default();
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            match SessionUpdate::read(&to_raw_value(&params).unwrap()).update {
                Update::Tool(tool) => calls.note(tool),
                other => panic!("{other:?}"),
            }
        }
        calls
    }

    fn completed(calls: &ToolCalls, asked: Value) -> Value {
        let Value::Object(asked) = asked else {
            panic!()
        };
        calls.completed(&asked).into()
    }

    #[test]
    fn a_question_is_completed_by_what_was_told_before() {
        let calls = told(&[
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Bash", "kind": "execute", "rawInput": {}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": {"command": "ls"}, "kind": null}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "2", "rawInput": {"command": "rm"}}),
        ]);
        assert_eq!(
            completed(
                &calls,
                json!({"toolCallId": "1", "title": "Run it", "rawInput": {}})
            ),
            json!({"toolCallId": "1", "title": "Run it", "kind": "execute", "rawInput": {"command": "ls"}})
        );
        // What the question says itself is what is asked.
        assert_eq!(
            completed(
                &calls,
                json!({"toolCallId": "1", "rawInput": {"command": "id"}})
            )["rawInput"],
            json!({"command": "id"})
        );
        let unknown = json!({"toolCallId": "3", "title": "x"});
        assert_eq!(completed(&calls, unknown.clone()), unknown);
    }

    #[test]
    fn an_act_is_asked_about_as_an_act() {
        let calls = told(&[
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "kind": "read"}),
        ]);
        for (asked, kind) in [
            (json!({"toolCallId": "1", "kind": "read"}), "execute"),
            (json!({"toolCallId": "1"}), "execute"),
            (json!({"toolCallId": "1", "kind": "edit"}), "edit"),
            (json!({"toolCallId": "2", "kind": "read"}), "read"),
        ] {
            assert_eq!(completed(&calls, asked.clone())["kind"], kind, "{asked}");
        }
    }

    #[test]
    fn a_question_is_not_completed_by_another_call_of_the_same_id() {
        let calls = told(&[
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "rawInput": {"command": "ls"}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}),
        ]);
        let asked = json!({"toolCallId": "1", "title": "Bash"});
        assert_eq!(completed(&calls, asked.clone()), asked);
        let ended = calls.ended(asked.as_object().unwrap());
        assert_eq!(ended["rawInput"]["command"], "ls");
    }

    #[test]
    fn a_text_may_be_the_arguments() {
        let content =
            |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        let mut calls = told(&[
            json!({"sessionUpdate": "tool_call", "toolCallId": "1", "content": content(r#"{"command": "ls"}"#)}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "2", "content": content(r#"{"command": "l"#)}),
        ]);
        let asked = json!({"toolCallId": "1", "title": "Bash", "content": content("cut …")});
        assert_eq!(completed(&calls, asked.clone()).get("rawInput"), None);
        calls.arguments_as_text = true;
        assert_eq!(
            completed(&calls, asked)["rawInput"],
            json!({"command": "ls"})
        );
        let cut = json!({"toolCallId": "2", "title": "Bash"});
        assert_eq!(completed(&calls, cut).get("rawInput"), None);
    }

    #[test]
    fn no_agent_fills_the_memory() {
        let many = (0..MOST_CALLS + 10).map(|number| {
            json!({"sessionUpdate": "tool_call", "toolCallId": number.to_string(), "title": "t"})
        });
        let calls = told(&many.collect::<Vec<_>>());
        assert_eq!(calls.calls.len(), MOST_CALLS);
        assert!(!calls.calls.contains_key("0"));
    }
}
