//! Patches in the form of Codex: shown as they are, and counted.

use serde_json::{Map, Value};

use super::Diff;
use crate::review::summary::{
    Risk, Risks,
    bounds::{Bounds, hides_characters},
};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";
const FILES: [&str; 4] = [ADD, UPDATE, DELETE, MOVE];

/// Whether the arguments of this tool are a patch, and nothing that a shell would run.
pub(in crate::review::summary) fn is_applied_by(tool: &str) -> bool {
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or_default();
    let last = last.rsplit("__").next().unwrap_or_default();
    matches!(last, "apply_patch" | "applypatch" | "apply-patch")
}

pub(in crate::review::summary) fn begins(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

/// A text argument that is a patch, or `["apply_patch", patch]`.
pub(in crate::review::summary) fn find(params: &Map<String, Value>) -> Option<&str> {
    let named = ["patch", "input", "command", "cmd"]
        .iter()
        .filter_map(|name| params.get(*name));
    let commanded = ["command", "cmd"]
        .iter()
        .filter_map(|name| params.get(*name)?.as_array()?.get(1));
    named
        .chain(commanded)
        .filter_map(Value::as_str)
        .find(|text| begins(text))
}

/// Codex looks for what begins a file behind any space.
pub(super) fn paths(patch: &str) -> impl Iterator<Item = &str> {
    patch
        .lines()
        .map(str::trim)
        .filter_map(|line| FILES.iter().find_map(|file| line.strip_prefix(file)))
        .map(str::trim)
}

/// Besides those of where it writes.
pub(super) fn risks(patch: &str) -> Risks {
    let deletes = |line: &str| line.trim_start().starts_with(DELETE);
    let found = [
        (patch.lines().any(deletes), Risk::Deletes),
        (
            paths(patch).next().is_none() || !is_plain(patch),
            Risk::Unreadable,
        ),
        (hides_characters(patch), Risk::HiddenCharacters),
    ];
    let found = found.into_iter().filter(|(is, _)| *is);
    found.map(|(_, risk)| risk).collect()
}

/// What the lines of a patch belong to.
#[derive(Clone, Copy)]
enum Part {
    Outside,
    Begun,
    Added,
    Updated,
    Deleted,
}

/// Every line is one that a patch may have in its place, so that no other reading finds other files.
fn is_plain(patch: &str) -> bool {
    let mut part = Part::Outside;
    let mut ended = false;
    patch.lines().all(|line| {
        let bare = line.trim();
        if bare.is_empty() && !matches!(part, Part::Added) {
            return true;
        }
        if ended {
            return false;
        }
        let header = line.trim_end();
        let next = match (part, header) {
            (Part::Outside, _) if bare == BEGIN => Some(Part::Begun),
            (Part::Outside, _) => None,
            (_, END) => {
                ended = true;
                Some(Part::Begun)
            }
            _ if header.starts_with(ADD) => Some(Part::Added),
            _ if header.starts_with(UPDATE) => Some(Part::Updated),
            _ if header.starts_with(DELETE) => Some(Part::Deleted),
            (Part::Updated, _) if header.starts_with(MOVE) || header == END_OF_FILE => Some(part),
            // A line of the file that looks like the beginning of another may be taken for it.
            (Part::Updated, _) if bare.starts_with("***") => None,
            (Part::Updated, _) if line.starts_with([' ', '+', '-', '@']) => Some(part),
            (Part::Added, _) if line.starts_with('+') => Some(part),
            _ => None,
        };
        part = next.unwrap_or(part);
        next.is_some()
    })
}

/// As it is.
pub(super) fn diff(patch: &str, bounds: Bounds) -> Diff {
    let mut diff = Diff::new(bounds);
    for line in patch.trim_start().lines() {
        diff.given(line);
    }
    diff
}
