//! Redaction, where content is not to be seen: content becomes structure (length, hash, detected type), secrets
//! become masks, and commands keep their programs and words without the texts they carry. What a field is for
//! is told by its name (`names`).

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    mask::mask_value,
    names::{is_command, is_content, is_secret},
    secret::mask_text,
    withhold::withhold,
};
use crate::{call::canonical_json, ids::hex};

const LONGEST_SHOWN: usize = 256;

/// Whatever stands under the name of content is content, whatever its type; elsewhere long texts and those of
/// several lines are.
pub fn redact_map(params: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, value) in params {
        let mut name = redact_key(key);
        while shown.contains_key(&name) {
            name.push('\'');
        }
        shown.insert(name, redact_entry(key, value));
    }
    shown
}

pub fn redact(value: &Value) -> Value {
    match value {
        Value::String(text) => redact_text(text),
        Value::Array(items) => Value::Array(items.iter().map(redact).collect()),
        Value::Object(map) => Value::Object(redact_map(map)),
        other => other.clone(),
    }
}

/// A text that somebody else wrote, such as the error of a backend: all of it is content.
pub fn redact_all(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) => describe(text.as_bytes()),
        other => describe(canonical_json(other).as_bytes()),
    }
}

fn redact_text(text: &str) -> Value {
    if text.len() > LONGEST_SHOWN || text.contains(['\n', '\r']) {
        return describe(text.as_bytes());
    }
    mask_text(text).into_owned().into()
}

fn redact_entry(key: &str, value: &Value) -> Value {
    if is_secret(key) {
        let mut one = Map::new();
        one.insert(key.to_owned(), value.clone());
        // Length and kind, and no hash: a short secret would be found by it.
        let masked = super::mask_map(&one).into_iter().next();
        return match masked {
            // Names inside of it may still be content.
            Some((_, nested @ (Value::Object(_) | Value::Array(_)))) => redact(&nested),
            Some((_, shown)) => shown,
            None => Value::Null,
        };
    }
    if is_content(key) {
        return redact_all(value);
    }
    match value {
        Value::String(command) if is_command(key) => redact_command(command),
        Value::Array(words) if is_command(key) => words.iter().map(redact_word).collect(),
        other => redact(other),
    }
}

/// The command without the texts it carries, if that is short.
fn redact_command(command: &str) -> Value {
    let shown = withhold(command);
    if shown.len() > LONGEST_SHOWN {
        return describe(command.as_bytes());
    }
    shown.into()
}

/// A word of a command that no shell splits may be a whole script.
fn redact_word(word: &Value) -> Value {
    match word {
        Value::String(text) => redact_command(text),
        other => redact(&mask_value(other)),
    }
}

/// A key can be as long as a text, and carry one.
fn redact_key(key: &str) -> String {
    if key.len() <= LONGEST_SHOWN {
        return mask_text(key).into_owned();
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

    #[test]
    fn p09_fields_are_redacted_by_what_they_are_for() {
        let params = json!({
            "old_string": "s3cr3t", "newString": "s3cr3t", "stdin": "s3cr3t", "edits": [{"old_str": "s3cr3t"}],
            "input": {"a": "s3cr3t"}, "commit-message": "s3cr3t", "password": "s3cr3t", "pin": 4711,
            "note": "line\ns3cr3t", "env": {"TOKEN": "s3cr3t"}, "url": "https://a:s3cr3t@x/",
            "command": "git commit -m 's3cr3t of mine' && cat > f <<'E'\ns3cr3t\nE\ncargo test",
            "cmd": ["bash", "-lc", "echo 's3cr3t text' > f; API_KEY=s3cr3t ls"],
            "path": "/a", "ok": true,
        });
        let Value::Object(params) = params else {
            panic!()
        };
        let shown = Value::Object(redact_map(&params));
        let text = shown.to_string();
        assert!(!text.contains("s3cr3t") && !text.contains("4711"), "{text}");
        assert_eq!((&shown["path"], &shown["ok"]), (&json!("/a"), &json!(true)));
        assert_eq!(
            shown["command"],
            "git commit -m '[content, 14 characters]' && cat > f <<'E'\n[content, 7 characters]\nE\ncargo test"
        );
        assert_eq!(
            shown["cmd"],
            json!([
                "bash",
                "-lc",
                "echo '[content, 11 characters]' > f; API_KEY=[secret: key, 6 characters] ls"
            ])
        );
    }

    proptest! {
        #[test]
        fn defect_06_no_secret_survives_redaction(value in burying("s3cr3t")) {
            let shown = redact(&value).to_string();
            prop_assert!(!shown.contains("s3cr3t"), "{}", shown);
        }
    }
}
