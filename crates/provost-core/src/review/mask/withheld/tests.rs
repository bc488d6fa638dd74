use proptest::prelude::*;

use super::*;
use crate::review::{redact, redact_map};

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

#[test]
fn p09_words_beside_their_command_are_read_with_it() {
    for params in [
        json!({"command": ["apply_patch", "*** Begin Patch\n+WORDS\n*** End Patch"]}),
        json!({"command": "git commit", "args": ["-m", "WORDS a"]}),
        json!({"command": "git 'commit'", "args": ["-m", "WORDS a"]}),
        json!({"args": ["-m", "WORDS a"]}),
    ] {
        let shown = redact(&params);
        assert!(!shown.to_string().contains("WORDS"), "{params} {shown}");
    }
    let shown = redact(&json!({"command": "git commit", "args": ["-q", "-m", "a b"]}));
    assert_eq!(
        shown["args"],
        json!(["-q", "-m", "[content, 3 characters]"])
    );
}
