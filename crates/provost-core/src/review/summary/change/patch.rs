//! Patches in the form of Codex: shown as they are, and counted.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Diff, summary, writing};
use crate::review::summary::{
    Risk, Risks, Summary,
    bounds::{Bounds, hides_characters},
    place::Place,
};

const BEGIN: &str = "*** Begin Patch";
const DELETE: &str = "*** Delete File: ";
const FILES: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    DELETE,
    "*** Move to: ",
];

/// A text argument that is a patch, or `["apply_patch", patch]`.
pub(in crate::review::summary) fn find(params: &Map<String, Value>) -> Option<&str> {
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

pub(super) fn paths(patch: &str) -> impl Iterator<Item = &str> {
    patch
        .lines()
        .filter_map(|line| FILES.iter().find_map(|file| line.strip_prefix(file)))
        .map(str::trim)
}

/// Besides those of where it writes.
pub(super) fn risks(patch: &str) -> Risks {
    let found = [
        (
            patch.lines().any(|line| line.starts_with(DELETE)),
            Risk::Deletes,
        ),
        (paths(patch).next().is_none(), Risk::Unreadable),
        (hides_characters(patch), Risk::HiddenCharacters),
    ];
    let found = found.into_iter().filter(|(is, _)| *is);
    found.map(|(_, risk)| risk).collect()
}

pub(super) fn summarize(patch: &str, place: &Place, bounds: Bounds) -> Summary {
    let mut diff = Diff::new(bounds);
    for line in patch.trim_start().lines() {
        diff.given(line);
    }
    let paths: BTreeSet<&str> = paths(patch).collect();
    let mut risks = writing(&paths, place);
    risks.append(&mut self::risks(patch));
    summary(&paths, diff, risks)
}
