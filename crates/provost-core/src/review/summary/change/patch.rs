//! Patches in the form of Codex: shown as they are, and counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Diff, summary, writing};
use crate::review::summary::{Risk, Summary, bounds::hides_characters, place::Place};

const BEGIN: &str = "*** Begin Patch";
const DELETE: &str = "*** Delete File: ";
const FILES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    DELETE,
    "*** Move to: ",
];

/// A text argument that is a patch, or `["apply_patch", patch]`.
pub(super) fn find(params: &Map<String, Value>) -> Option<&str> {
    let named = ["patch", "input"]
        .iter()
        .filter_map(|name| params.get(*name));
    let commanded = ["command", "cmd"]
        .iter()
        .filter_map(|name| params.get(*name)?.as_array()?.get(1));
    named
        .chain(commanded)
        .filter_map(Value::as_str)
        .find(|text| text.trim_start().starts_with(BEGIN))
}

pub(super) fn summarize(patch: &str, place: &Place) -> Summary {
    let mut diff = Diff::default();
    let mut paths = BTreeSet::new();
    for line in patch.trim_start().lines() {
        diff.given(line);
        let path = FILES.iter().find_map(|file| line.strip_prefix(file));
        paths.extend(path.map(str::trim));
    }
    let mut risks = writing(&paths, place);
    if patch.lines().any(|line| line.starts_with(DELETE)) {
        risks.insert(Risk::Deletes);
    }
    if paths.is_empty() {
        risks.insert(Risk::Unreadable);
    }
    if hides_characters(patch) {
        risks.insert(Risk::HiddenCharacters);
    }
    summary(&paths, diff, risks)
}
