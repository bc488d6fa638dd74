use serde_json::json;

use super::*;

fn changed(params: Value) -> Summary {
    let Value::Object(params) = params else {
        panic!()
    };
    summarize("t", &params, Some("/work/project"), Bounds::CARD).unwrap()
}

fn diff(summary: &Summary) -> (&str, usize, usize) {
    let Act::Change {
        diff: Some(diff),
        added,
        removed,
        ..
    } = &summary.act
    else {
        panic!("{summary:?}")
    };
    (diff, *added, *removed)
}

#[test]
fn a_written_file_is_all_added() {
    let summary = changed(json!({"file_path": "/work/project/a", "content": "one\ntwo\n"}));
    let expected = "--- /work/project/a\n+++ /work/project/a\n@@ -0,0 +1,2 @@\n+one\n+two\n";
    assert_eq!(diff(&summary), (expected, 2, 0));
    assert!(summary.risks.is_empty() && !summary.cut);
}

#[test]
fn an_edit_shows_what_differs() {
    let summary = changed(json!({
        "file_path": "a", "old_string": "one\ntwo\nthree\n", "new_string": "one\n2\nthree\n",
    }));
    let expected = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    assert_eq!(diff(&summary), (expected, 1, 1));
}

#[test]
fn many_edits_are_many_hunks() {
    let summary = changed(json!({"file_path": "a", "edits": [
        {"old_string": "x", "new_string": "y"},
        {"old_string": "gone", "new_string": ""},
    ]}));
    let expected = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n@@ -1,1 +0,0 @@\n-gone\n";
    assert_eq!(diff(&summary), (expected, 1, 2));
}

#[test]
fn a_patch_is_shown_as_it_is() {
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n+z\n*** Delete File: ../b\n*** End Patch\n";
    for params in [
        json!({"patch": patch}),
        json!({"input": patch}),
        json!({"command": ["apply_patch", patch]}),
    ] {
        let summary = changed(params);
        assert_eq!(diff(&summary), (patch, 2, 1));
        assert_eq!(
            summary.risks,
            Risks::from([Risk::Deletes, Risk::WritesOutside])
        );
    }
}

#[test]
fn long_changes_are_cut_and_counted_whole() {
    let long = "line\n".repeat(5000);
    let wide = "x".repeat(100_000);
    for (old, new, added, removed) in [
        ("", long.as_str(), 5000, 0),
        (long.as_str(), "new\n", 1, 5000),
        ("old", wide.as_str(), 1, 1),
    ] {
        let summary = changed(json!({"file_path": "a", "old_string": old, "new_string": new}));
        let (text, more, less) = diff(&summary);
        assert!(text.len() <= 16 * 1024 && text.lines().count() <= 200);
        assert_eq!((more, less, summary.cut), (added, removed, true));
    }
}

#[test]
fn one_line_in_a_long_edit_is_found() {
    let lines: Vec<String> = (0..3000).map(|n| n.to_string()).collect();
    let old = lines.join("\n");
    let new = old.replace("\n2000\n", "\nevil\n");
    let summary = changed(json!({"file_path": "a", "old_string": old, "new_string": new}));
    let expected = "--- a\n+++ a\n@@ -2001,1 +2001,1 @@\n-2000\n+evil\n";
    assert_eq!(diff(&summary), (expected, 1, 1));
    assert!(!summary.cut);
}

#[test]
fn risky_places_are_marked() {
    use Risk::{HiddenCharacters, Unreadable, WritesOutside, WritesSensitive};
    for (params, expected) in [
        (
            json!({"file_path": "/etc/x", "content": ""}),
            &[WritesSensitive, WritesOutside][..],
        ),
        (json!({"path": "../x", "content": ""}), &[WritesOutside]),
        (
            json!({"path": ".git/hooks/x", "content": ""}),
            &[WritesSensitive],
        ),
        (
            json!({"path": "a", "content": "\u{202e}"}),
            &[HiddenCharacters],
        ),
        (
            json!({"path": "a", "file_path": "b", "content": ""}),
            &[Unreadable],
        ),
        (json!({"path": "a", "edits": "x"}), &[Unreadable]),
        (json!({"path": "a", "edits": [1]}), &[Unreadable]),
    ] {
        let expected: Risks = expected.iter().copied().collect();
        assert_eq!(changed(params.clone()).risks, expected, "{params}");
    }
}
