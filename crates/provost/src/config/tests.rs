//! Every file of `testdata/good` loads and every file of `testdata/bad` does not; what comes of each is a
//! snapshot. Whatever stands in them as `hunter2` is a secret.

mod behaviour;
mod properties;

use std::{fs, path::Path};

use super::*;

const TESTDATA: &str = "src/config/testdata";

pub(super) fn environment(name: &str) -> Option<String> {
    match name {
        "CLAUDE_KEY" | "ECHO_TOKEN" => Some("hunter2-env".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

/// Loads a text as if it stood in a file of its own.
pub(super) fn load_text(text: impl AsRef<[u8]>) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("provost.yaml");
    fs::write(&path, text).unwrap();
    load_with(&path, &environment)
}

pub(super) fn messages(loaded: &Loaded) -> Vec<&str> {
    loaded
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect()
}

fn each(folder: &str, check: impl Fn(&str, Loaded)) {
    let mut paths: Vec<_> = fs::read_dir(Path::new(TESTDATA).join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in &paths {
        check(
            path.file_stem().unwrap().to_str().unwrap(),
            load_with(path, &environment),
        );
    }
    assert!(paths.len() >= 10, "{folder}");
}

#[test]
fn good_files_load() {
    each("good", |name, loaded| {
        let rendered = render(&loaded.problems, false);
        assert!(!loaded.has_errors(), "{name}\n{rendered}");
        let shown = format!("{:#?}\n\n{rendered}", loaded.config.unwrap());
        // Where this checkout lies is no part of what was read.
        let shown = shown.replace(env!("CARGO_MANIFEST_DIR"), "[crate]");
        assert!(!shown.contains("hunter2"), "{shown}");
        insta::assert_snapshot!(format!("good_{name}"), shown);
    });
}

#[test]
fn bad_files_are_refused_with_all_their_problems() {
    each("bad", |name, loaded| {
        let rendered = render(&loaded.problems, false);
        assert!(loaded.config.is_none(), "{name}\n{rendered}");
        let everything = format!(
            "{rendered}{}{:?}",
            to_json(&loaded.problems),
            loaded.problems
        );
        assert!(!everything.contains("hunter2"), "{name}\n{everything}");
        insta::assert_snapshot!(format!("bad_{name}"), rendered);
    });
}

#[test]
fn problems_are_told_to_programs_too() {
    let loaded = load_with(
        &Path::new(TESTDATA).join("bad/misspelled_action.yaml"),
        &environment,
    );
    insta::assert_json_snapshot!(to_json(&loaded.problems));
    insta::assert_snapshot!(loaded.problems[0].to_string());
}
