//! What holds of any text: reading it does not panic, and a secret in it is not shown.

use std::{fs, path::Path, sync::LazyLock};

use proptest::{prelude::*, sample::Index};

use super::{TESTDATA, load_text};
use crate::config::{render, to_json};

static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut seeds = Vec::new();
    for folder in ["good", "bad", "policies"] {
        let entries = fs::read_dir(Path::new(TESTDATA).join(folder)).unwrap();
        seeds.extend(entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()));
    }
    seeds.sort();
    seeds
});

fn check(text: &str) {
    let loaded = load_text(text);
    let errors = loaded.problems.iter().any(crate::config::Problem::is_error);
    assert_eq!(loaded.config.is_none(), errors);
    for problem in &loaded.problems {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        assert!(
            problem
                .at
                .as_ref()
                .is_none_or(|at| text.get(at.span.clone()).is_some()),
            "{problem:?}"
        );
    }
    render(&loaded.problems, true);
    to_json(&loaded.problems);
}

#[derive(Clone, Debug)]
enum Edit {
    Remove(Index, usize),
    Insert(Index, String),
    Repeat(Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let pieces = prop_oneof![
        "[\\[\\]{}:,&*!|>'\"%@`#\n\t -]{1,3}",
        Just("\n  - ".to_owned()),
        Just("<<: *a".to_owned()),
        Just("&a ".to_owned()),
        "\\PC{1,4}",
    ];
    prop_oneof![
        (any::<Index>(), 1_usize..8).prop_map(|(at, length)| Edit::Remove(at, length)),
        (any::<Index>(), pieces).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (any::<Index>(), 1_usize..40).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ]
}

fn apply(text: &str, edits: &[Edit]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for edit in edits {
        match edit {
            Edit::Remove(at, length) => {
                let at = at.index(chars.len() + 1);
                chars.drain(at..(at + length).min(chars.len()));
            }
            Edit::Insert(at, piece) => {
                let at = at.index(chars.len() + 1);
                chars.splice(at..at, piece.chars());
            }
            Edit::Repeat(at, length) => {
                let at = at.index(chars.len() + 1);
                let piece = chars[at..(at + length).min(chars.len())].to_vec();
                chars.splice(at..at, piece);
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_without_panic(text in "(\\PC|[\n\t:{}\\[\\]&*|>'\"-]){0,120}") {
        check(&text);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let loaded = load_text(bytes);
        render(&loaded.problems, false);
    }

    #[test]
    fn edited_configurations_are_read_without_panic(
        seed in any::<Index>(),
        edits in proptest::collection::vec(edit(), 1..6),
    ) {
        let text: &String = seed.get(&SEEDS);
        check(&apply(text, &edits));
    }

    /// The lines around a secret are edited, the one that holds it is not.
    #[test]
    fn a_secret_is_never_shown(
        edits_before in proptest::collection::vec(edit(), 0..4),
        edits_after in proptest::collection::vec(edit(), 0..4),
        secret in prop_oneof!["canary[a-z0-9]{4}", "\"canary [a-z]{4}\"", "'canary''[a-z]{4}'"],
    ) {
        let before = apply("listen: 127.0.0.1:1\nhosts: [a, b]\nauth:\n  open: no\n  keys:\n", &edits_before);
        let after = apply("approval: {timeout_seconds: 5}\npolicies: [{name: a}]\n", &edits_after);
        let text = format!("{before}\n    - {{name: a, role: agnet, key: {secret}}}\n  admin_token: {secret}\n{after}");
        let loaded = load_text(&text);
        let shown = format!("{}{}{:?}", render(&loaded.problems, false), to_json(&loaded.problems), loaded);
        prop_assert!(!shown.contains("canary"), "{text}\n{shown}");
    }
}
