//! Redaction, where content is not to be seen. Structure stays: where a call acts, which of a few things it means,
//! numbers, programs and their words. Secrets become masks, and all other text becomes its description (length,
//! hash, detected type). What a field is for is told by its name (`names`).

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    mask::words::{Joined, program, runs_script},
    names::{
        holds_content, holds_words, is_command, is_name, is_secret, is_secret_object, is_structure,
    },
    secret::{is_mask, mask_place, mask_text},
    withhold::{hidden, is_understood, withheld_text, withhold},
};
use crate::{call::canonical_json, ids::hex};

const LONGEST_SHOWN: usize = 256;

pub fn redact_map(params: &Map<String, Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, value) in params {
        let mut name = redact_key(key);
        while shown.contains_key(&name) {
            name.push('\'');
        }
        shown.insert(name, redact_entry(params, key, value));
    }
    shown
}

/// A value that stands under no name: what the call is about.
pub fn redact(value: &Value) -> Value {
    redact_entry(&Map::new(), "target", value)
}

/// A text that somebody else wrote, such as the error of a backend: all of it is content.
pub fn redact_all(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) => describe(text.as_bytes()),
        other => describe(canonical_json(other).as_bytes()),
    }
}

fn redact_entry(beside: &Map<String, Value>, key: &str, value: &Value) -> Value {
    if is_secret(key) {
        return redact_secret(key, value);
    }
    match value {
        Value::String(command) if is_command(key) => redact_command(command),
        Value::Array(items) if holds_words(key) => redact_words(beside, key, items),
        Value::String(text) if is_structure(key, text) => mask_place(text).into_owned().into(),
        Value::String(text) => describe(text.as_bytes()),
        Value::Array(items) => {
            let items = items.iter();
            items.map(|item| redact_entry(beside, key, item)).collect()
        }
        // Even the names in it are content.
        Value::Object(_) if holds_content(key) => redact_all(value),
        Value::Object(map) => Value::Object(redact_map(map)),
        other => other.clone(),
    }
}

/// What stands under the name of a secret: a mask, or how long it is. There is no hash, by which a short secret would
/// be found.
fn redact_secret(key: &str, value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| redact_secret(key, item)).collect(),
        Value::Object(map) if is_secret_object(key) => {
            let members = map.iter();
            let members =
                members.map(|(name, value)| (redact_key(name), redact_secret(key, value)));
            Value::Object(members.collect())
        }
        Value::Object(map) => Value::Object(redact_map(map)),
        _ => {
            let one = Map::from_iter([(key.to_owned(), value.clone())]);
            match super::mask_map(&one).remove(key) {
                Some(Value::String(shown)) if !shown.is_empty() && !is_mask(&shown) => {
                    withheld_text(value.as_str().unwrap_or_default()).into()
                }
                shown => shown.unwrap_or_default(),
            }
        }
    }
}

/// The words of a command that no shell splits; one of them may be a whole script.
fn redact_words(beside: &Map<String, Value>, key: &str, items: &[Value]) -> Value {
    let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let Some(words) = words else {
        let items = items.iter();
        return items.map(|item| redact_entry(beside, "", item)).collect();
    };
    if let Some((script, shell)) = words.split_last()
        && runs_script(shell)
    {
        let shell = shell.iter().map(|word| Value::from(*word));
        return shell.chain([redact_command(script)]).collect();
    }
    let before = (!is_command(key)).then(|| program(beside));
    let joined = Joined::of(before, &words);
    let mut shown: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    // From the end, so that places before stay what they are.
    for (place, instead) in hidden(&joined.text).into_iter().rev() {
        for (at, place) in joined.places(&place).into_iter().rev() {
            if let Some(word) = shown.get_mut(at) {
                word.replace_range(place, &instead);
            }
        }
    }
    let words = shown.into_iter().zip(words);
    words.map(|(shown, word)| bounded(shown, word)).collect()
}

/// The command without the texts it carries, if that is short. Of one that is not understood, it is not known which
/// texts these are.
fn redact_command(command: &str) -> Value {
    if !is_understood(command) {
        return describe(command.as_bytes());
    }
    bounded(withhold(command), command)
}

fn bounded(shown: String, whole: &str) -> Value {
    if shown.len() > LONGEST_SHOWN {
        return describe(whole.as_bytes());
    }
    shown.into()
}

/// A key can be as long as a text, and carry one.
fn redact_key(key: &str) -> String {
    if is_name(key) {
        return mask_text(key).into_owned();
    }
    format!(
        "[{} bytes, sha256 {}]",
        key.len(),
        hex(&Sha256::digest(key.as_bytes()))
    )
}

/// Whether an object stands in the place of content.
pub(super) fn is_description(map: &Map<String, Value>) -> bool {
    map.len() == 3 && map.contains_key("content_sha256") && map.contains_key("content_length")
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
            "git commit -m '[content, 14 characters]' && cat > f <<'E'\n[content, 6 characters]\nE\ncargo test"
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

    #[test]
    fn p09_all_text_that_is_no_structure_is_described() {
        let params = json!({
            "edits": [{"search": "s3cr3t", "replace": "s3cr3t"}], "lines": ["s3cr3t"], "value": "s3cr3t",
            "newValue": "s3cr3t", "rows": [{"s3cr3t": "s3cr3t"}], "values": ["s3cr3t"], "sql": "s3cr3t",
            "query": "s3cr3t", "subject": "s3cr3t", "title": "s3cr3t", "reply": "s3cr3t", "answer": "s3cr3t",
            "note": "s3cr3t", "output": "s3cr3t", "insert": "s3cr3t", "with": "s3cr3t", "script": "s3cr3t",
            "the s3cr3t is a key": 1, "command": ["git", "commit", "-m", "s3cr3t text"],
            "nested": {"args": ["-m", "s3cr3t text"], "command": "git"}, "branch": "s3cr3t and more",
        });
        let Value::Object(params) = params else {
            panic!()
        };
        let shown = Value::Object(redact_map(&params));
        assert!(!shown.to_string().contains("s3cr3t"), "{shown}");
        assert_eq!(
            shown["command"],
            json!(["git", "commit", "-m", "[content, 11 characters]"])
        );
    }

    #[test]
    fn p09_nothing_under_the_name_of_a_secret_is_withheld_halfway() {
        let params = json!({
            "password": "[secret: token, 5 characters] WORDS", "signature": "hello WORDS", "token": "$(WORDS)",
            "secret": {"note": "[secret: token, 5 characters] WORDS", "WORDS of mine": "x"},
            "auth": {"note": "[secret: token, 5 characters] WORDS"}, "cookie": ["a WORDS", {"b": "c WORDS"}],
            "command": "echo 'WORDS", "new_source": "x = WORDS", "source": "my WORDS",
        });
        let Value::Object(params) = params else {
            panic!()
        };
        let shown = Value::Object(redact_map(&params));
        assert!(!shown.to_string().contains("WORDS"), "{shown}");
        assert_eq!(shown["signature"], "[content, 11 characters]");
    }

    proptest! {
        #[test]
        fn defect_06_no_secret_survives_redaction(value in burying("s3cr3t")) {
            let shown = redact(&value).to_string();
            prop_assert!(!shown.contains("s3cr3t"), "{}", shown);
        }
    }
}
