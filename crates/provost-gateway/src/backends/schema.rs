//! Whether arguments fit the JSON schema of a tool. Schemas come from servers that are not trusted: they refer
//! to nothing outside themselves.

use std::error::Error;

use boon::{Compiler, Schemas, UrlLoader};
use serde_json::{Map, Value};

const PLACE: &str = "tool:/schema.json";

struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("`{url}` is not looked up").into())
    }
}

/// What does not fit, in words. A schema that cannot be read is fitted by nothing.
pub(super) fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    if schema.is_null() {
        return Ok(());
    }
    let unreadable = |why: String| format!("the schema of the tool cannot be read: {why}");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.use_loader(Box::new(Nowhere));
    compiler
        .add_resource(PLACE, schema.clone())
        .map_err(|why| unreadable(why.to_string()))?;
    let compiled = compiler
        .compile(PLACE, &mut schemas)
        .map_err(|why| unreadable(why.to_string()))?;
    let arguments = Value::Object(arguments.clone());
    let checked = schemas.validate(&arguments, compiled);
    checked.map_err(|why| {
        let causes: Vec<String> = why.causes.iter().map(|cause| format!("{cause}")).collect();
        format!("the arguments do not fit the tool: {}", causes.join("; "))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_held_against_the_schema() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "n": {"type": "integer", "minimum": 1}},
            "required": ["path"],
            "additionalProperties": false,
        });
        for (schema, arguments, fits) in [
            (&schema, json!({"path": "/a"}), true),
            (&schema, json!({"path": "/a", "n": 2}), true),
            (&schema, json!({"path": "/a", "n": 0}), false),
            (&schema, json!({"path": 1}), false),
            (&schema, json!({}), false),
            (&schema, json!({"path": "/a", "x": 1}), false),
            (&Value::Null, json!({"x": 1}), true),
            (&json!({}), json!({"x": 1}), true),
            (&json!({"type": 7}), json!({}), false),
            (&json!({"$ref": "file:///etc/passwd"}), json!({}), false),
            (
                &json!({"$ref": "https://example.org/s.json"}),
                json!({}),
                false,
            ),
        ] {
            let Value::Object(arguments) = arguments else {
                panic!("{arguments}")
            };
            let checked = check(schema, &arguments);
            assert_eq!(checked.is_ok(), fits, "{schema} {arguments:?} {checked:?}");
        }
    }
}
