//! Schemas of a document as JSON schemas. Agents are shown them with their references inlined up to a bound;
//! `checks` has what arguments are held against.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    body::{DescribedBody, WHOLE},
    describe::Parameter,
    document::{Document, reference},
};
use crate::backends::schema::keywords;

/// How deep a schema may nest before what is below is shown as anything at all.
const MAX_DEPTH: usize = 24;
/// How many schemas one input may hold before the rest is shown as anything at all.
const MAX_SCHEMAS: usize = 1_000;

/// Keywords that mean nothing in the schema of a tool. References lead into the document, so what a schema
/// defines for itself is met there.
const DROPPED: [&str; 9] = [
    "$defs",
    "definitions",
    "deprecated",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "xml",
];

/// A schema in two forms.
pub(super) struct InputSchema {
    pub(super) shown: Value,
    /// As the document has it.
    pub(super) source: Value,
}

struct Inliner<'d> {
    document: &'d Document,
    /// The references that led here: one that comes again is a cycle.
    trail: Vec<String>,
    left: usize,
}

impl InputSchema {
    pub(super) fn of(document: &Document, source: Value) -> Self {
        let mut inliner = Inliner {
            document,
            trail: Vec::new(),
            left: MAX_SCHEMAS,
        };
        let shown = inliner.schema(&source, 0);
        Self { shown, source }
    }

    /// That of a parameter, which before OpenAPI 3 is the parameter itself.
    pub(super) fn of_parameter(document: &Document, node: &Value) -> Self {
        let content = || {
            let content = node.get("content")?.as_object()?;
            content.values().next()?.get("schema")
        };
        let schema = node.get("schema").or_else(content);
        let source = schema.map_or_else(|| without_place(node), Value::clone);
        let mut described = Self::of(document, source);
        if let (Some(description), Some(shown)) =
            (node.get("description"), described.shown.as_object_mut())
        {
            shown
                .entry("description")
                .or_insert_with(|| description.clone());
        }
        described
    }
}

fn without_place(node: &Value) -> Value {
    const OF_PLACE: [&str; 4] = ["name", "in", "required", "collectionFormat"];
    let keywords = node.as_object().into_iter().flatten();
    let own = keywords.filter(|(keyword, _)| !OF_PLACE.contains(&keyword.as_str()));
    Value::Object(
        own.map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// The arguments of an operation.
pub(super) fn of_inputs(
    parameters: &[(Parameter, InputSchema)],
    body: Option<&DescribedBody>,
) -> Value {
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    let mut open = false;
    for (parameter, schema) in parameters {
        properties.insert(parameter.name.clone(), schema.shown.clone());
        if parameter.required {
            required.insert(parameter.name.clone());
        }
    }
    if let Some(described) = body {
        if let Some(shape) = &described.shape {
            properties.extend(shape.properties.clone());
            open = shape.open;
            if described.body.required {
                required.extend(shape.required.iter().cloned());
            }
        } else {
            properties.insert(WHOLE.into(), described.schema.shown.clone());
            if described.body.required {
                required.insert(WHOLE.into());
            }
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": open,
    })
}

/// The keywords of a schema as JSON schema means them; `inner` translates the schemas in it.
pub(super) fn translated(
    keywords: &Map<String, Value>,
    inner: &mut dyn FnMut(&Value) -> Value,
) -> Map<String, Value> {
    let kept = keywords
        .iter()
        .filter(|(keyword, _)| !DROPPED.contains(&keyword.as_str()) && !keyword.starts_with("x-"));
    let mut translated: Map<String, Value> = kept
        .map(|(keyword, value)| (keyword.clone(), keywords::map(keyword, value, inner)))
        .collect();
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        // Before OpenAPI 3.1 it says whether the bound itself is excluded.
        if let Some(Value::Bool(excluded)) = keywords.get(exclusive) {
            translated.remove(exclusive);
            if *excluded && let Some(bound) = translated.remove(bound) {
                translated.insert(exclusive.to_owned(), bound);
            }
        }
    }
    demand_no_answers(keywords, &mut translated);
    if keywords.get("nullable") == Some(&Value::Bool(true))
        && let Some(Value::String(name)) = keywords.get("type")
    {
        translated.insert("type".into(), json!([name, "null"]));
    }
    translated
}

/// What is `readOnly` is required in answers, and no request has it.
fn demand_no_answers(keywords: &Map<String, Value>, translated: &mut Map<String, Value>) {
    let properties = keywords.get("properties").and_then(Value::as_object);
    let is_answer = |name: &str| {
        let property = properties.and_then(|properties| properties.get(name));
        property.and_then(|property| property.get("readOnly")) == Some(&Value::Bool(true))
    };
    if let Some(Value::Array(required)) = translated.get_mut("required") {
        required.retain(|name| !name.as_str().is_some_and(is_answer));
    }
}

impl Inliner<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(keywords) = schema.as_object() else {
            return if schema.is_boolean() {
                schema.clone()
            } else {
                json!({})
            };
        };
        if self.left == 0 || depth == MAX_DEPTH {
            return json!({});
        }
        self.left -= 1;
        let mut shown = translated(keywords, &mut |inner| self.schema(inner, depth + 1));
        let Some(reference) = reference(schema) else {
            return Value::Object(shown);
        };
        shown.remove("$ref");
        match self.referenced(reference, depth) {
            referenced if shown.is_empty() => referenced,
            Value::Object(mut referenced) if is_remark(&shown, &referenced) => {
                referenced.extend(shown);
                Value::Object(referenced)
            }
            referenced => json!({"allOf": [referenced, shown]}),
        }
    }

    fn referenced(&mut self, reference: &str, depth: usize) -> Value {
        let document = self.document;
        let Some(target) = document.target(reference) else {
            return json!({});
        };
        if self.trail.iter().any(|before| before == reference) {
            return json!({});
        }
        self.trail.push(reference.to_owned());
        let schema = self.schema(target, depth + 1);
        self.trail.pop();
        schema
    }
}

/// Whether what stands beside a reference may stand in the schema itself.
fn is_remark(beside: &Map<String, Value>, referenced: &Map<String, Value>) -> bool {
    const REMARKS: [&str; 3] = ["default", "description", "title"];
    let is_remark = |keyword: &String| REMARKS.contains(&keyword.as_str());
    beside
        .keys()
        .all(|keyword| is_remark(keyword) || !referenced.contains_key(keyword))
}
