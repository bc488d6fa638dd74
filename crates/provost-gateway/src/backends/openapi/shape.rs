//! The properties of an object's schema, which become arguments of their own.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Which properties there are depends on the value, with these.
const UNTOLD: [&str; 5] = [
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// An object's properties, those of all parts of an `allOf` together.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) properties: Map<String, Value>,
    pub(super) required: BTreeSet<String>,
    /// Whether the object is one of free form.
    pub(super) open: bool,
    is_object: bool,
}

impl Shape {
    /// The shape of a schema whose references are inlined, if it is an object's and its properties can be told.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let mut shape = Self::part(schema).filter(|shape| shape.is_object)?;
        for name in &shape.required {
            let property = shape.properties.entry(name.clone());
            property.or_insert_with(|| json!({}));
        }
        Some(shape)
    }

    fn part(schema: &Value) -> Option<Self> {
        let schema = match schema {
            Value::Object(schema) if !schema.is_empty() => schema,
            // It may be what the inlining left out.
            Value::Object(_) | Value::Bool(true) => {
                return Some(Self {
                    open: true,
                    ..Self::default()
                });
            }
            _ => return None,
        };
        if UNTOLD.iter().any(|keyword| schema.contains_key(*keyword)) {
            return None;
        }
        let mut shape = Self {
            is_object: has_type(schema, "object") || schema.contains_key("properties"),
            ..Self::default()
        };
        let parts = schema.get("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            shape.join(Self::part(part)?);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            shape.add(name, property.clone());
        }
        let names = schema.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        shape.required.extend(names.map(str::to_owned));
        shape.open |= match schema.get("additionalProperties") {
            Some(Value::Bool(open)) => *open,
            Some(more) => more.is_object(),
            None => shape.is_object && shape.properties.is_empty(),
        };
        shape.open |= schema.contains_key("patternProperties");
        Some(shape)
    }

    fn join(&mut self, part: Self) {
        self.is_object |= part.is_object;
        for (name, schema) in part.properties {
            self.add(&name, schema);
        }
        self.required.extend(part.required);
        self.open |= part.open;
    }

    /// A property that several parts speak of is what all of them say.
    fn add(&mut self, name: &str, schema: Value) {
        match self.properties.get_mut(name) {
            None => {
                self.properties.insert(name.to_owned(), schema);
            }
            Some(known) if *known == schema => {}
            Some(known) => *known = json!({"allOf": [known.take(), schema]}),
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
