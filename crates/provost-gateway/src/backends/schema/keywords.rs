//! The keywords that hold schemas.

use serde_json::Value;

/// One schema.
pub(in crate::backends) const ONE: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];
/// A list of them.
pub(in crate::backends) const LISTS: [&str; 5] =
    ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Schemas by name.
pub(in crate::backends) const NAMED: [&str; 4] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];

/// The value of a keyword with each of its schemas mapped. A schema that is empty in YAML is null.
pub(in crate::backends) fn map(
    keyword: &str,
    value: &Value,
    schema: &mut dyn FnMut(&Value) -> Value,
) -> Value {
    let mut one = |value: &Value| match value {
        Value::Object(_) | Value::Null => schema(value),
        other => other.clone(),
    };
    match value {
        Value::Object(named) if NAMED.contains(&keyword) => named
            .iter()
            .map(|(name, value)| (name.clone(), one(value)))
            .collect(),
        Value::Array(list) if LISTS.contains(&keyword) => list.iter().map(one).collect(),
        value if ONE.contains(&keyword) => one(value),
        other => other.clone(),
    }
}
