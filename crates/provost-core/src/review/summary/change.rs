//! The summary of a change to files: the difference it makes, as far as the arguments tell. What a
//! written file held before is not known here.

mod diff;
mod one_file;
pub(super) mod patch;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{
    Act, Risk, Risks, Summary,
    bounds::{Bounds, hides_characters, shorten},
    place::Place,
    text,
};
use diff::Diff;
pub(crate) use one_file::one_file;

pub(super) const LONGEST_PATH: usize = 1024;
pub(super) const PATHS: [&str; 5] = [
    "file_path",
    "path",
    "target_file",
    "notebook_path",
    "filePath",
];
pub(super) const CONTENT: [&str; 3] = ["content", "contents", "file_text"];
pub(super) const OLD: [&str; 3] = ["old_string", "old_str", "oldText"];
pub(super) const NEW: [&str; 4] = ["new_string", "new_str", "newText", "new_source"];

/// A text and what takes its place.
struct Edit<'a> {
    old: &'a str,
    new: &'a str,
}

pub(super) fn summarize(
    params: &Map<String, Value>,
    project: Option<&str>,
    bounds: Bounds,
) -> Option<Summary> {
    let place = Place::new(project);
    if let Some(patch) = patch::find(params) {
        return Some(patch::summarize(patch, &place, bounds));
    }
    let paths: BTreeSet<&str> = PATHS
        .iter()
        .filter_map(|name| params.get(*name)?.as_str())
        .collect();
    let first = paths.first()?;
    let (edits, readable) = edits(params);
    if edits.is_empty() && readable {
        return None;
    }
    let mut diff = Diff::of(first, bounds);
    for edit in &edits {
        diff.edit(edit.old, edit.new);
    }
    let mut risks = writing(&paths, &place);
    // Two files named: which of them the tool writes is not known.
    if !readable || paths.len() > 1 {
        risks.insert(Risk::Unreadable);
    }
    if edits.iter().any(|edit| hides_characters(edit.new)) {
        risks.insert(Risk::HiddenCharacters);
    }
    Some(summary(&paths, diff, risks))
}

/// The files that are written and what that risks, without the difference; `None` where nothing is changed.
pub(super) fn facts(params: &Map<String, Value>, place: &Place) -> Option<(Vec<String>, Risks)> {
    let patch = patch::find(params);
    let (edits, readable) = edits(params);
    let given = || PATHS.iter().filter_map(|name| params.get(*name));
    let named: BTreeSet<&str> = given().filter_map(Value::as_str).collect();
    let mut paths: BTreeSet<&str> = patch.into_iter().flat_map(patch::paths).collect();
    let edited = !edits.is_empty() || !readable;
    if patch.is_none() && (!edited || given().all(Value::is_null)) {
        return None;
    }
    paths.extend(named.iter().copied());
    let mut risks = writing(&paths, place);
    // Which of several the tool writes is not known, nor what it makes of a path that is no text.
    let odd = given().any(|path| !path.is_string() && !path.is_null());
    let several = named.len() > 1 || (patch.is_some() && (edited || !named.is_empty()));
    if odd || several || !readable || paths.is_empty() {
        risks.insert(Risk::Unreadable);
    }
    if let Some(patch) = patch {
        risks.append(&mut patch::risks(patch));
    }
    if edits.iter().any(|edit| hides_characters(edit.new)) {
        risks.insert(Risk::HiddenCharacters);
    }
    Some((paths.into_iter().map(str::to_owned).collect(), risks))
}

/// Every way in which the arguments say what is written, and whether all of it could be read.
fn edits(params: &Map<String, Value>) -> (Vec<Edit<'_>>, bool) {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let mut readable = true;
    if let Some(new) = text(params, &CONTENT) {
        edits.push(Edit { old: "", new });
    }
    edits.extend(edit(params));
    match params.get("edits") {
        Some(Value::Array(items)) => {
            for item in items {
                let found = item.as_object().and_then(edit);
                readable &= found.is_some();
                edits.extend(found);
            }
        }
        Some(_) => readable = false,
        None => {}
    }
    (edits, readable)
}

fn edit(params: &Map<String, Value>) -> Option<Edit<'_>> {
    let (old, new) = (text(params, &OLD), text(params, &NEW));
    (old.is_some() || new.is_some()).then(|| Edit {
        old: old.unwrap_or_default(),
        new: new.unwrap_or_default(),
    })
}

/// Tools that write files are handed absolute paths: without a project these say nothing.
fn writing(paths: &BTreeSet<&str>, place: &Place) -> Risks {
    let mut risks = Risks::new();
    for path in paths {
        let mut found = place.writing(path);
        if !place.knows_project() && path.starts_with('/') {
            found.remove(&Risk::WritesOutside);
        }
        if hides_characters(path) {
            found.insert(Risk::HiddenCharacters);
        }
        risks.append(&mut found);
    }
    risks
}

fn summary(paths: &BTreeSet<&str>, diff: Diff, risks: Risks) -> Summary {
    let path = match paths.first() {
        Some(path) if paths.len() == 1 => Some(shorten(path, LONGEST_PATH)),
        _ => None,
    };
    Summary {
        act: Act::Change {
            path,
            files: paths.len(),
            diff: Some(diff.text),
            added: diff.added,
            removed: diff.removed,
        },
        risks,
        cut: diff.more > 0,
        more: diff.more,
        claim: None,
    }
}

#[cfg(test)]
mod tests;
