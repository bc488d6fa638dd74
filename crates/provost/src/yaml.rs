//! YAML as JSON values, for the small files commands read: cases of a policy test, and a glance at a
//! configuration that is not otherwise usable. The configuration proper is read by `config`.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Number, Value};

/// Deeper than anything a person writes, and far from where recursion ends.
const DEEPEST: usize = 64;

/// One document, or why it cannot be read.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    let mut documents =
        Yaml::load_from_str(text).map_err(|error| format!("not valid YAML: {error}"))?;
    match (documents.pop(), documents.is_empty()) {
        (None, _) => Ok(Value::Null),
        (Some(document), true) => value(&document, 0),
        (Some(_), false) => Err("more than one document".to_owned()),
    }
}

fn value(node: &Yaml<'_>, depth: usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err("nested too deeply".to_owned());
    }
    match node {
        Yaml::Value(scalar) => Ok(plain(scalar)),
        Yaml::Sequence(items) => items.iter().map(|item| value(item, depth + 1)).collect(),
        Yaml::Mapping(entries) => {
            let entries = entries
                .iter()
                .map(|(key, node)| Ok((name(key)?, value(node, depth + 1)?)));
            entries
                .collect::<Result<Map<_, _>, String>>()
                .map(Value::Object)
        }
        Yaml::Tagged(_, node) => value(node, depth + 1),
        _ => Err("a value that cannot be read".to_owned()),
    }
}

fn name(key: &Yaml<'_>) -> Result<String, String> {
    match key {
        Yaml::Value(Scalar::String(text)) => Ok(text.to_string()),
        Yaml::Value(scalar) => Ok(plain(scalar).to_string()),
        _ => Err("a key that is not text".to_owned()),
    }
}

fn plain(scalar: &Scalar<'_>) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(truth) => (*truth).into(),
        Scalar::Integer(number) => (*number).into(),
        Scalar::FloatingPoint(number) => {
            Number::from_f64(**number).map_or(Value::Null, Value::Number)
        }
        Scalar::String(text) => Value::String(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_reads_as_json() {
        for (text, expected) in [
            ("", Value::Null),
            (
                "- {a: 1, b: [x, true, null, 1.5]}",
                json!([{"a": 1, "b": ["x", true, null, 1.5]}]),
            ),
            ("a: '1'\n2: b", json!({"a": "1", "2": "b"})),
            ("a: &x {b: 1}\nc: *x", json!({"a": {"b": 1}, "c": {"b": 1}})),
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
        for text in [
            "a: [",
            "a: 1\n---\nb: 2",
            &format!("{}{}", "[".repeat(100), "]".repeat(100)),
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
