//! What the wrapped server's tools say of their arguments. The lists of tools pass through here on their way to
//! the client; a call is held against the last one. What does not fit is not sent on, and the gateway records it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use provost_gateway::backends::Schema;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::message::{Act, Call};
use crate::output;

/// Servers have some hundred at most. Beyond this, tools are refused: nothing else would be checked of them.
const MOST_TOOLS: usize = 10_000;
const LONGEST_SCHEMA: usize = 64 * 1024;
/// How many tools that are not checked are named.
const MOST_NOTES: usize = 100;
const LONGEST_NAME: usize = 100;

#[derive(Default)]
pub(super) struct Schemas(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// With a schema where there is one to check.
    tools: HashMap<String, Option<Arc<Schema>>>,
    /// A tool was left out for want of room: what is not known may be that one.
    full: bool,
    /// What was noted already. Clients ask for the list again and again.
    noted: HashSet<String>,
}

/// As much of an answer as lists tools.
#[derive(Deserialize)]
struct Answer<'l> {
    #[serde(borrow)]
    result: Option<Listing<'l>>,
}

#[derive(Deserialize)]
struct Listing<'l> {
    #[serde(borrow)]
    tools: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct Tool<'l> {
    name: String,
    #[serde(borrow, rename = "inputSchema")]
    input_schema: Option<&'l RawValue>,
}

impl Schemas {
    /// A line of the server, which may be a list of its tools.
    pub(super) fn heard(&self, line: &[u8]) {
        for note in self.read(line) {
            output::note(format_args!("provost: {note}"));
        }
    }

    /// What the line says of tools is learned, and what of it cannot be checked is returned. Each tool is read by
    /// itself: what is wrong with one must not switch off the check of the others.
    fn read(&self, line: &[u8]) -> Vec<String> {
        let line = String::from_utf8_lossy(line);
        if !line.contains("\"tools\"") {
            return Vec::new();
        }
        let mut known = self.known();
        let listed = match serde_json::from_str(&line) {
            Ok(Answer { result }) => result.and_then(|listing| listing.tools),
            // It may be an answer of another kind.
            Err(_) if !line.contains("\"inputSchema\"") => None,
            Err(error) => return known.note(unread(&error)).into_iter().collect(),
        };
        let Some(listed) = listed else {
            return Vec::new();
        };
        match serde_json::from_str::<Vec<&RawValue>>(listed.get()) {
            Ok(tools) => tools
                .into_iter()
                .filter_map(|tool| known.learn(tool))
                .collect(),
            Err(error) => known.note(unread(&error)).into_iter().collect(),
        }
    }

    /// Why the arguments of a call do not fit its tool.
    pub(super) fn misfit(&self, call: &Call) -> Option<String> {
        if call.act != Act::Tool {
            return None;
        }
        let tool = &call.tool;
        let known = self.known();
        let Some(schema) = known.tools.get(tool).cloned() else {
            return known.full.then(|| {
                format!(
                    "the arguments of `{tool}` cannot be checked: the server has too many tools"
                )
            });
        };
        drop(known);
        let why = schema?.check(&call.own_arguments()).err()?;
        Some(format!("the arguments do not fit `{tool}`: {why}"))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// What is to be noted of the tool.
    fn learn(&mut self, tool: &RawValue) -> Option<String> {
        let tool: Tool<'_> = match serde_json::from_str(tool.get()) {
            Ok(tool) => tool,
            Err(error) => {
                return self.note(format!("a tool of the server cannot be read: {error}"));
            }
        };
        if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&tool.name) {
            self.full = true;
            return self.note(format!(
                "the server has more than {MOST_TOOLS} tools: calls of the others are refused"
            ));
        }
        let name: String = tool.name.escape_debug().take(LONGEST_NAME).collect();
        let (schema, problem) = match tool.input_schema.map(compile) {
            Some(Ok(schema)) => (schema, None),
            Some(Err(why)) => (None, Some(format!("its schema cannot be read: {why}"))),
            None => (None, Some("it has no schema".to_owned())),
        };
        self.tools.insert(tool.name, schema.map(Arc::new));
        self.note(format!(
            "the arguments of `{name}` are not checked, because {}",
            problem?
        ))
    }

    /// The note, unless it was made before.
    fn note(&mut self, note: String) -> Option<String> {
        let is_new = self.noted.len() <= MOST_NOTES && self.noted.insert(note.clone());
        is_new.then_some(match self.noted.len() {
            ..=MOST_NOTES => note,
            _ => "there is more that is not checked".to_owned(),
        })
    }
}

/// `None` where everything fits.
fn compile(schema: &RawValue) -> Result<Option<Schema>, String> {
    if schema.get().len() > LONGEST_SCHEMA {
        return Err("it is too long".to_owned());
    }
    let schema: Value = serde_json::from_str(schema.get()).map_err(|error| error.to_string())?;
    Schema::compile(&schema)
}

fn unread(error: &serde_json::Error) -> String {
    format!(
        "the server's list of tools cannot be read, and their arguments are not checked: {error}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::mcp::message::Said;
    use serde_json::json;

    fn call(arguments: &Value) -> Box<Call> {
        call_of("add", arguments)
    }

    fn call_of(tool: &str, arguments: &Value) -> Box<Call> {
        let params =
            json!({"name": tool, "arguments": arguments, "requestState": {"not": "its own"}});
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        match Said::read(&line.to_string()) {
            Said::Call(call) => call,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn p01_calls_are_held_against_the_list_that_passed() {
        let schemas = Schemas::default();
        assert_eq!(schemas.misfit(&call(&json!({"x": [1]}))), None, "no list");
        let schema = json!({"type": "object", "properties": {"x": {"type": "string"}},
            "required": ["x"], "additionalProperties": false});
        let listing = json!({"jsonrpc": "2.0", "id": 1,
            "result": {"tools": [{"name": "add", "inputSchema": schema}]}});
        schemas.heard(listing.to_string().as_bytes());
        assert_eq!(schemas.misfit(&call(&json!({"x": "a"}))), None);
        for wrong in [
            json!({"x": ["a"]}),
            json!({"x": true}),
            json!({}),
            json!({"x": "a", "y": 1}),
        ] {
            let why = schemas.misfit(&call(&wrong));
            assert!(
                why.is_some_and(|why| why.starts_with("the arguments do not fit `add`: ")),
                "{wrong}"
            );
        }
        // What a tool says is no list, whatever it is made to look like.
        let text = json!({"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text",
            "text": listing.to_string().replace("string", "array")}]}});
        schemas.heard(text.to_string().as_bytes());
        assert_eq!(schemas.misfit(&call(&json!({"x": "a"}))), None);
    }

    #[test]
    fn p01_one_tool_that_cannot_be_read_switches_off_no_other() {
        let add = r#"{"name": "add", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}"#;
        let long = "x".repeat(LONGEST_SCHEMA);
        for (other, noted) in [
            (r#"{"name": "bare"}"#, "`bare`"),
            (r#"{"name": "null", "inputSchema": null}"#, "`null`"),
            (
                r#"{"name": "huge", "inputSchema": {"properties": {"n": {"maximum": 1e999}}}}"#,
                "`huge`",
            ),
            (
                r#"{"name": "odd", "inputSchema": {"type": "nothing"}}"#,
                "`odd`",
            ),
            (
                &format!(r#"{{"name": "long", "inputSchema": {{"title": "{long}"}}}}"#),
                "`long`",
            ),
            (r#"{"name": 5, "inputSchema": {}}"#, "a tool of the server"),
            (r#"{"inputSchema": {}}"#, "a tool of the server"),
            ("7", "a tool of the server"),
            (r#"{"name": "\u001b[2J"}"#, r"`\u{1b}[2J`"),
        ] {
            for tools in [format!("{other}, {add}"), format!("{add}, {other}")] {
                let schemas = Schemas::default();
                let line = format!(
                    r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"ttl": 1e999, "tools": [{tools}]}}}}"#
                );
                let notes = schemas.read(line.as_bytes());
                assert!(notes.len() == 1 && notes[0].contains(noted), "{notes:?}");
                assert!(schemas.misfit(&call(&json!({"x": ["a"]}))).is_some());
                let other = call_of("bare", &json!({"x": 1}));
                assert_eq!(schemas.misfit(&other), None, "it is noted, and runs");
                assert_eq!(schemas.read(line.as_bytes()), [""; 0], "told once");
            }
        }
    }

    #[test]
    fn p01_a_list_that_cannot_be_read_is_noted() {
        let schemas = Schemas::default();
        for (line, notes) in [
            (r#"{"result": {"tools": [{"inputSchema": {}}"#, 1),
            (r#"{"result": {"tools": {"add": {"inputSchema": {}}}}}"#, 1),
            (r#"{"result": {"capabilities": {"tools": {}}}}"#, 0),
            (r#"{"method": "x", "params": {"tools": "inputSchema"}}"#, 0),
            (r#"{"result": {"tools": []}}"#, 0),
        ] {
            assert_eq!(schemas.read(line.as_bytes()).len(), notes, "{line}");
        }
    }

    #[test]
    fn p01_tools_beyond_the_limit_are_refused_and_notes_are_few() {
        let schemas = Schemas::default();
        let tools = |range: std::ops::Range<usize>| {
            let tools = range.map(|number| json!({"name": format!("t{number}")}));
            json!({"result": {"tools": tools.collect::<Vec<_>>()}}).to_string()
        };
        let notes = schemas.read(tools(0..MOST_TOOLS).as_bytes());
        assert_eq!(notes.len(), MOST_NOTES + 1);
        let last = format!("t{}", MOST_TOOLS - 1);
        let next = format!("t{MOST_TOOLS}");
        assert_eq!(schemas.misfit(&call_of(&next, &json!({}))), None);
        schemas.read(tools(MOST_TOOLS..MOST_TOOLS + 1).as_bytes());
        assert_eq!(schemas.misfit(&call_of(&last, &json!({}))), None);
        assert!(schemas.misfit(&call_of(&next, &json!({}))).is_some());
    }
}
