//! Redaction: content becomes structure (length, hash, detected type), in arrays and nested values too.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{call::canonical_json, ids::hex};

const CONTENT_KEYS: [&str; 6] = ["content", "body", "data", "file_content", "text", "preview"];
const LONGEST_SHOWN: usize = 256;

/// Whatever stands under a content key is content, whatever its type; elsewhere long strings are.
pub fn redact_map(params: &Map<String, Value>) -> Map<String, Value> {
    params
        .iter()
        .map(|(key, value)| (redact_key(key), redact_entry(key, value)))
        .collect()
}

pub fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_SHOWN => describe(text.as_bytes()),
        Value::Array(items) => Value::Array(items.iter().map(redact).collect()),
        Value::Object(map) => Value::Object(redact_map(map)),
        other => other.clone(),
    }
}

fn redact_entry(key: &str, value: &Value) -> Value {
    if !CONTENT_KEYS
        .iter()
        .any(|name| key.eq_ignore_ascii_case(name))
    {
        return redact(value);
    }
    match value {
        // Nothing to hide, and worth knowing.
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) => describe(text.as_bytes()),
        other => describe(canonical_json(other).as_bytes()),
    }
}

/// A key can be as long as a text, and carry one.
fn redact_key(key: &str) -> String {
    if key.len() <= LONGEST_SHOWN {
        return key.to_owned();
    }
    format!(
        "[{} bytes, sha256 {}]",
        key.len(),
        hex(&Sha256::digest(key.as_bytes()))
    )
}

fn describe(content: &[u8]) -> Value {
    json!({
        "content_length": content.len(),
        "content_sha256": hex(&Sha256::digest(content)),
        "content_type_detected": detect_type(content),
    })
}

fn detect_type(content: &[u8]) -> &'static str {
    let Ok(text) = std::str::from_utf8(content) else {
        return "application/octet-stream";
    };
    if text.chars().any(|c| {
        c == '\0' || (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\x0c' | '\x1b'))
    }) {
        return "application/octet-stream";
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let lower: String = start
        .chars()
        .take(64)
        .flat_map(char::to_lowercase)
        .collect();
    if start.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(start).is_ok()
    {
        "application/json"
    } else if lower.starts_with("<!doctype html") || lower.starts_with("<html") {
        "text/html"
    } else if lower.starts_with("<?xml") {
        "text/xml"
    } else {
        "text/plain"
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn content_becomes_its_description() {
        let params =
            json!({"path": "/a", "content": "hello", "Body": "x", "n": 5, "note": "x".repeat(257)});
        let Value::Object(params) = params else {
            panic!()
        };
        let shown = Value::Object(redact_map(&params));
        assert_eq!(shown["path"], "/a");
        assert_eq!(shown["n"], 5);
        assert_eq!(
            shown["content"],
            json!({
                "content_length": 5,
                "content_sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
                "content_type_detected": "text/plain",
            })
        );
        assert_eq!(shown["Body"]["content_length"], 1);
        assert_eq!(shown["note"]["content_length"], 257);
    }

    #[test]
    fn types_are_detected() {
        for (content, expected) in [
            ("{\"a\": 1}", "application/json"),
            ("[1]", "application/json"),
            ("{broken", "text/plain"),
            ("<!DOCTYPE html><p>", "text/html"),
            ("  <HTML>", "text/html"),
            ("<?xml version=\"1.0\"?>", "text/xml"),
            ("plain", "text/plain"),
            ("a\0b", "application/octet-stream"),
        ] {
            assert_eq!(detect_type(content.as_bytes()), expected, "{content}");
        }
    }

    /// A value that buries `secret` under content keys, in arrays and in long strings.
    fn burying(secret: &'static str) -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({"content": secret})),
            Just(json!({"TEXT": [secret, {"deeper": secret}]})),
            Just(json!({"data": {secret: 1, "x": secret}})),
            Just(json!([format!("{secret}{}", "x".repeat(300))])),
            Just(json!({format!("{secret}{}", "k".repeat(300)): 1})),
            Just(json!("harmless")),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(("[a-z]{1,8}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn defect_06_no_secret_survives_redaction(value in burying("s3cr3t")) {
            let shown = redact(&value).to_string();
            prop_assert!(!shown.contains("s3cr3t"), "{}", shown);
        }
    }
}
