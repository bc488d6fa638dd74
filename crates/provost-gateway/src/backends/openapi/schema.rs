//! JSON schemas for agents: references inlined up to a bound, what is only OpenAPI's dropped.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    body::DescribedBody,
    describe::Parameter,
    document::{Document, reference},
};

/// How deep a schema may nest before what is below is shown as anything at all.
const MAX_DEPTH: usize = 24;
/// How many schemas one input may hold before the rest is shown as anything at all.
const MAX_SCHEMAS: usize = 1_000;

/// Keywords that mean nothing to the reader of a tool's schema.
const DROPPED: [&str; 7] = [
    "deprecated",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "xml",
];

/// An object's properties, those of all parts of an `allOf` together.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) properties: Map<String, Value>,
    pub(super) required: BTreeSet<String>,
    /// Whether the object is one of free form.
    pub(super) open: bool,
}

struct Inliner<'d> {
    document: &'d Document,
    /// The references that led here: one that comes again is a cycle.
    trail: Vec<String>,
    left: usize,
}

pub(super) fn inlined(document: &Document, schema: &Value) -> Value {
    Inliner {
        document,
        trail: Vec::new(),
        left: MAX_SCHEMAS,
    }
    .schema(schema, 0)
}

/// The schema of a parameter, which before OpenAPI 3 is the parameter itself.
pub(super) fn of_parameter(document: &Document, node: &Value) -> Value {
    let content = || {
        node.get("content")?
            .as_object()?
            .values()
            .next()?
            .get("schema")
    };
    let own = || {
        let own = node.as_object().into_iter().flatten();
        let own = own.filter(|(key, _)| {
            !matches!(
                key.as_str(),
                "name" | "in" | "required" | "collectionFormat"
            )
        });
        Value::Object(
            own.map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        )
    };
    let schema = node.get("schema").or_else(content);
    let mut schema = schema.map_or_else(
        || inlined(document, &own()),
        |schema| inlined(document, schema),
    );
    if let (Some(description), Some(schema)) = (node.get("description"), schema.as_object_mut()) {
        schema
            .entry("description")
            .or_insert_with(|| description.clone());
    }
    schema
}

/// The arguments of an operation.
pub(super) fn of_inputs(parameters: &[(Parameter, Value)], body: Option<&DescribedBody>) -> Value {
    let mut properties = Map::new();
    let mut required = BTreeSet::new();
    let mut open = false;
    for (parameter, schema) in parameters {
        properties.insert(parameter.name.clone(), schema.clone());
        if parameter.required {
            required.insert(parameter.name.clone());
        }
    }
    if let Some(described) = body {
        let spread = described.shape.as_ref().filter(|shape| {
            !shape
                .properties
                .keys()
                .any(|name| properties.contains_key(name))
                && !shape.properties.is_empty()
        });
        if let Some(shape) = spread {
            properties.extend(shape.properties.clone());
            open = shape.open;
            if described.body.required {
                required.extend(shape.required.iter().cloned());
            }
        } else {
            properties.insert("body".into(), described.schema.clone());
            if described.body.required {
                required.insert("body".into());
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

/// What arguments are held against: as [`of_inputs`] shows it, and the body may be given whole as well. Which
/// names there are and which are missing is told by the operation itself.
pub(super) fn of_checks(parameters: &[(Parameter, Value)], body: Option<&DescribedBody>) -> Value {
    let mut properties = Map::new();
    if let Some(described) = body {
        properties.insert("body".into(), described.schema.clone());
        let spread = described.shape.iter();
        properties.extend(spread.flat_map(|shape| shape.properties.clone()));
    }
    for (parameter, schema) in parameters {
        // An argument that is null is one that is not given.
        let schema = json!({"if": {"type": "null"}, "else": schema});
        properties.insert(parameter.name.clone(), schema);
    }
    json!({"type": "object", "properties": properties})
}

impl Shape {
    /// The shape of a schema whose references are inlined, if it is an object's.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        if schema.contains_key("oneOf") || schema.contains_key("anyOf") {
            return None;
        }
        let mut shape = Self::default();
        let parts = schema.get("allOf").and_then(Value::as_array);
        let mut is_object = has_type(schema, "object") || schema.contains_key("properties");
        for part in parts.into_iter().flatten().filter_map(Self::of) {
            is_object = true;
            shape.properties.extend(part.properties);
            shape.required.extend(part.required);
            shape.open |= part.open;
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            shape.properties.extend(properties.clone());
        }
        let names = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        shape
            .required
            .extend(names.filter_map(Value::as_str).map(str::to_owned));
        shape.open |= match schema.get("additionalProperties") {
            Some(Value::Bool(open)) => *open,
            Some(more) => more.is_object(),
            None => shape.properties.is_empty(),
        };
        is_object.then_some(shape)
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
        if let Some(reference) = reference(schema) {
            return self.referenced(reference, depth);
        }
        let mut shown = Map::new();
        for (keyword, value) in keywords {
            if DROPPED.contains(&keyword.as_str()) || keyword.starts_with("x-") {
                continue;
            }
            // Booleans in OpenAPI 3.0, numbers in JSON schema.
            if matches!(keyword.as_str(), "exclusiveMinimum" | "exclusiveMaximum")
                && value.is_boolean()
            {
                continue;
            }
            shown.insert(keyword.clone(), self.keyword(keyword, value, depth + 1));
        }
        if keywords.get("nullable") == Some(&Value::Bool(true))
            && let Some(Value::String(name)) = keywords.get("type")
        {
            shown.insert("type".into(), json!([name, "null"]));
        }
        Value::Object(shown)
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

    fn keyword(&mut self, keyword: &str, value: &Value, depth: usize) -> Value {
        match (keyword, value) {
            ("properties" | "patternProperties", Value::Object(entries)) => entries
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema, depth)))
                .collect(),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => schemas
                .iter()
                .map(|schema| self.schema(schema, depth))
                .collect(),
            (
                "items" | "additionalProperties" | "not" | "contains" | "propertyNames",
                Value::Object(_),
            ) => self.schema(value, depth),
            _ => value.clone(),
        }
    }
}

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}
