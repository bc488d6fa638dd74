//! What the wrapped server's tools say of their arguments. The lists of tools pass through here on their way to
//! the client; a call is held against the last one. What does not fit is not sent on, and the gateway records it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use provost_gateway::backends::Schema;
use serde::Deserialize;
use serde_json::Value;

use super::message::{Act, Call};
use crate::output;

/// As many as the gateway takes of a server of its own.
const MOST_TOOLS: usize = 1_000;
const LONGEST_SCHEMA: usize = 64 * 1024;

#[derive(Default)]
pub(super) struct Schemas(Mutex<HashMap<String, Arc<Schema>>>);

/// As much of an answer as lists tools.
#[derive(Deserialize)]
struct Listing {
    result: Listed,
}

#[derive(Deserialize)]
struct Listed {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(rename = "inputSchema")]
    input_schema: Value,
}

impl Schemas {
    /// A line of the server, which may be a list of its tools.
    pub(super) fn heard(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if !line.contains("\"inputSchema\"") {
            return;
        }
        let Ok(Listing { result }) = serde_json::from_str(&line) else {
            return;
        };
        for Tool { name, input_schema } in result.tools {
            self.learn(name, &input_schema);
        }
    }

    fn learn(&self, name: String, schema: &Value) {
        let compiled = if schema.to_string().len() > LONGEST_SCHEMA {
            Err("it is too long".to_owned())
        } else {
            Schema::compile(schema)
        };
        let mut known = self.known();
        match compiled {
            Ok(Some(_)) if known.len() >= MOST_TOOLS && !known.contains_key(&name) => {}
            Ok(Some(schema)) => drop(known.insert(name, Arc::new(schema))),
            Ok(None) => drop(known.remove(&name)),
            Err(why) => {
                known.remove(&name);
                output::note(format_args!(
                    "provost: the arguments of `{name}` are not checked, because its schema cannot be read: {why}"
                ));
            }
        }
    }

    /// Why the arguments of a call do not fit its tool.
    pub(super) fn misfit(&self, call: &Call) -> Option<String> {
        if call.act != Act::Tool {
            return None;
        }
        let schema = self.known().get(&call.tool).cloned()?;
        let why = schema.check(&call.own_arguments()).err()?;
        Some(format!("the arguments do not fit `{}`: {why}", call.tool))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Arc<Schema>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::mcp::message::Said;
    use serde_json::json;

    fn call(arguments: &Value) -> Box<Call> {
        let params =
            json!({"name": "add", "arguments": arguments, "requestState": {"not": "its own"}});
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
}
