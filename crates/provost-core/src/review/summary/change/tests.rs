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
    let expected = "--- a\n+++ a\n@@ -1998,7 +1998,7 @@\n 1997\n 1998\n 1999\n-2000\n+evil\n 2001\n 2002\n 2003\n";
    assert_eq!(diff(&summary), (expected, 1, 1));
    assert_eq!(summary.more, 3000 - 7);
}

#[test]
fn p14_unchanged_lines_that_a_card_leaves_out_are_counted_and_stand_in_the_whole() {
    for count in [20, 3000] {
        let lines: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
        let old = lines.join("\n");
        let new = old
            .replace("line 0\n", "first\n")
            .replace("line 19", "last");
        let params = json!({"file_path": "a", "old_string": old, "new_string": new});
        let card = changed(params.clone());
        assert!(card.cut && card.more > 0, "{count}");
        let Value::Object(params) = params else {
            panic!()
        };
        let whole = summarize("t", &params, None, Bounds::NONE).unwrap();
        assert_eq!((whole.more, whole.cut), (0, false));
        let (text, _, _) = diff(&whole);
        for line in new.lines() {
            assert!(text.lines().any(|it| it.get(1..) == Some(line)), "{line}");
        }
    }
}

#[test]
fn p14_an_old_text_that_the_tool_may_not_obey_hides_nothing() {
    let evil = "import os\nos.system('evil')";
    for params in [
        json!({"notebook_path": "a", "new_source": evil, "old_string": evil}),
        json!({"file_path": "a", "new_str": evil, "old_string": evil}),
        json!({"file_path": "a", "new_string": evil, "old_string": evil}),
        json!({"file_path": "a", "new_string": "x", "new_str": evil, "old_str": evil}),
        json!({"file_path": "a", "edits": [{"new_source": evil, "old_string": evil}]}),
    ] {
        let summary = changed(params.clone());
        assert!(summary.risks.contains(&Risk::Unreadable), "{params}");
        let (text, added, _) = diff(&summary);
        assert!(added >= 2 && text.contains("+os.system('evil')"), "{text}");
    }
}

#[test]
fn p14_an_edit_that_joins_or_cuts_lines_of_the_file_says_so() {
    let long = "line\n".repeat(1500);
    let (joined, cut) = ("What follows in the file is joined", "begins a new line");
    let (before, ends) = ("before this edit is joined", "before this edit ends");
    for (old, new, said) in [
        ("# verify\n", "# verify first, then run ", joined),
        ("echo done # ", "echo done # \n", cut),
        ("echo done # ", "echo done # \r\n", cut),
        ("\nverify || exit", "verify || exit", before),
        ("\r\nverify || exit", "verify || exit", before),
        ("# verify", "\n# verify", ends),
        ("\nverify || exit\n", "", joined),
        ("\n", "", joined),
        (&long, long.trim_end(), joined),
    ] {
        let summary = changed(json!({"file_path": "a", "old_string": old, "new_string": new}));
        assert_eq!(
            summary.risks,
            Risks::from([Risk::HiddenCharacters]),
            "{old:?}"
        );
        let (text, _, _) = diff(&summary);
        let notes: Vec<_> = text.lines().filter(|it| it.starts_with("\\ ")).collect();
        assert!(matches!(&*notes, [note] if note.contains(said)), "{text}");
    }
    for (old, new) in [
        ("one\n", "two\n"),
        ("one", "two"),
        ("one\n", ""),
        ("\none", ""),
        ("", "one"),
        ("", "one\n"),
    ] {
        let summary = changed(json!({"file_path": "a", "old_string": old, "new_string": new}));
        assert!(summary.risks.is_empty(), "{old:?} {new:?}");
        assert!(!diff(&summary).0.contains('\\'), "{old:?} {new:?}");
    }
}

#[test]
fn p14_a_carriage_return_is_part_of_its_line() {
    let sly = "# ok?\rcheck || exit 1\nrun\n";
    let (many, more) = ("x\n".repeat(1500), "x\r\n".repeat(1500));
    for (old, new, expected) in [
        (
            "# ok\ncheck || exit 1\nrun\n",
            sly,
            "-# ok\n-check || exit 1\n+# ok?\rcheck || exit 1\n run\n",
        ),
        ("", sly, "+# ok?\rcheck || exit 1\n+run\n"),
        ("run\n", "run\r\n", "-run\n+run\r\n"),
        (&many, &more, "-x\n-x\n"),
    ] {
        let summary = changed(json!({"file_path": "a", "old_string": old, "new_string": new}));
        let (text, _, _) = diff(&summary);
        let (_, hunk) = text.split_once(" @@\n").unwrap();
        assert!(hunk.starts_with(expected), "{text:?}");
    }
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
