//! The summary of a change to files: the difference it makes, as far as the arguments tell. What a
//! written file held before is not known here.

mod diff;
mod one_file;
pub(super) mod patch;
mod seams;

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
use seams::seams;

pub(super) const LONGEST_PATH: usize = 1024;
pub(super) const PATHS: [&str; 5] = [
    "file_path",
    "path",
    "target_file",
    "notebook_path",
    "filePath",
];
/// Where a tool may write as well, or instead.
const OTHER_PATHS: [&str; 8] = [
    "destination",
    "dest",
    "new_path",
    "newPath",
    "target_path",
    "output_path",
    "files",
    "paths",
];
pub(super) const CONTENT: [&str; 3] = ["content", "contents", "file_text"];
pub(super) const OLD: [&str; 3] = ["old_string", "old_str", "oldText"];
pub(super) const NEW: [&str; 4] = ["new_string", "new_str", "newText", "new_source"];
/// An old text and the new one that stands for it. Which of two others a tool obeys is not known.
const PAIRS: [(&str, &str); 3] = [
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
];

/// A text and what takes its place.
struct Edit<'a> {
    old: &'a str,
    new: &'a str,
}

/// What of the arguments is written where, before it is shown or judged.
struct Change<'a> {
    patch: Option<&'a str>,
    edits: Vec<Edit<'a>>,
    paths: BTreeSet<&'a str>,
    /// There is one way to read it.
    sure: bool,
}

impl<'a> Change<'a> {
    /// `None` where nothing is changed.
    fn of(tool: &str, params: &'a Map<String, Value>) -> Option<Self> {
        let patch = patch::find(params);
        let (edits, readable) = edits(params);
        let given = || PATHS.iter().filter_map(|name| params.get(*name));
        let named: BTreeSet<&str> = given().filter_map(Value::as_str).collect();
        let edited = !edits.is_empty() || !readable;
        let unapplied = patch.is_none() && patch::is_applied_by(tool);
        if patch.is_none() && !unapplied && (!edited || given().all(Value::is_null)) {
            return None;
        }
        let mut others = BTreeSet::new();
        let plain = other_paths(params, &mut others);
        others.retain(|path| !named.contains(path));
        // Which of several the tool writes is not known, nor what it makes of a path that is no text.
        let odd = given().any(|path| !path.is_string() && !path.is_null());
        let several = named.len() > 1 || (patch.is_some() && (edited || !named.is_empty()));
        let mut paths: BTreeSet<&str> = patch.into_iter().flat_map(patch::paths).collect();
        paths.extend(named);
        let sure = readable && plain && others.is_empty() && !odd && !several && !paths.is_empty();
        paths.extend(others);
        Some(Self {
            patch,
            edits,
            paths,
            sure: sure && !unapplied,
        })
    }

    fn risks(&self, place: &Place) -> Risks {
        let mut risks = writing(&self.paths, place);
        if !self.sure {
            risks.insert(Risk::Unreadable);
        }
        if let Some(patch) = self.patch {
            risks.append(&mut patch::risks(patch));
        }
        // A line break at the end of a text is not seen, either. Which files are written is certain all the same.
        let joins = |edit: &Edit<'_>| !seams(edit.old, edit.new).is_empty();
        let hides = |edit: &Edit<'_>| hides_characters(edit.new) || joins(edit);
        if self.edits.iter().any(hides) {
            risks.insert(Risk::HiddenCharacters);
        }
        risks
    }
}

pub(super) fn summarize(
    tool: &str,
    params: &Map<String, Value>,
    project: Option<&str>,
    bounds: Bounds,
) -> Option<Summary> {
    let place = Place::new(project);
    let change = Change::of(tool, params)?;
    let risks = change.risks(&place);
    let mut diff = match (change.patch, change.paths.first()) {
        (Some(patch), _) => patch::diff(patch, bounds),
        (None, Some(first)) => Diff::of(first, bounds),
        (None, None) => Diff::new(bounds),
    };
    for edit in &change.edits {
        diff.edit(edit.old, edit.new);
    }
    Some(summary(&change.paths, diff, risks))
}

/// The files that are written and what that risks, without the difference; `None` where nothing is changed.
pub(super) fn facts(
    tool: &str,
    params: &Map<String, Value>,
    place: &Place,
) -> Option<(Vec<String>, Risks)> {
    let change = Change::of(tool, params)?;
    let risks = change.risks(place);
    let paths = change.paths.into_iter().map(str::to_owned);
    Some((paths.collect(), risks))
}

/// Files that are named beside the one that is written, also in each edit. Whether all of them are texts.
fn other_paths<'a>(params: &'a Map<String, Value>, found: &mut BTreeSet<&'a str>) -> bool {
    let mut plain = true;
    for value in OTHER_PATHS.iter().filter_map(|name| params.get(*name)) {
        match value {
            Value::Null => {}
            Value::String(text) => {
                found.insert(text);
            }
            _ => plain = false,
        }
    }
    if let Some(Value::Array(items)) = params.get("edits") {
        for item in items.iter().filter_map(Value::as_object) {
            let named = PATHS.iter().filter_map(|name| item.get(*name)?.as_str());
            found.extend(named);
            plain &= other_paths(item, found);
        }
    }
    plain
}

/// Every way in which the arguments say what is written, and whether all of it could be read.
fn edits(params: &Map<String, Value>) -> (Vec<Edit<'_>>, bool) {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    if let Some(new) = text(params, &CONTENT) {
        edits.push(Edit { old: "", new });
    }
    let mut readable = add_edit(params, &mut edits);
    match params.get("edits") {
        Some(Value::Array(items)) => {
            for item in items {
                let before = edits.len();
                let item = item.as_object();
                readable &= item.is_some_and(|item| add_edit(item, &mut edits));
                readable &= edits.len() > before;
            }
        }
        Some(_) => readable = false,
        None => {}
    }
    (edits, readable)
}

/// An old text and what takes its place. Texts that are no such pair hide nothing of each other: each is shown whole.
fn add_edit<'a>(params: &'a Map<String, Value>, edits: &mut Vec<Edit<'a>>) -> bool {
    let (olds, news) = (texts(params, &OLD), texts(params, &NEW));
    match (&*olds, &*news) {
        ([(from, old)], [(to, new)]) if PAIRS.contains(&(*from, *to)) && old != new => {
            edits.push(Edit { old, new });
            true
        }
        _ => {
            edits.extend(olds.iter().map(|(_, old)| Edit { old, new: "" }));
            edits.extend(news.iter().map(|(_, new)| Edit { old: "", new }));
            olds.len() + news.len() <= 1
        }
    }
}

/// The arguments of these names that are texts.
fn texts<'a, 'n>(params: &'a Map<String, Value>, names: &[&'n str]) -> Vec<(&'n str, &'a str)> {
    let named = |name: &&'n str| Some((*name, params.get(*name)?.as_str()?));
    names.iter().filter_map(named).collect()
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
    let more = diff.more();
    Summary {
        act: Act::Change {
            path,
            files: paths.len(),
            diff: Some(diff.text),
            added: diff.added,
            removed: diff.removed,
        },
        risks,
        cut: more > 0,
        more,
        claim: None,
    }
}

#[cfg(test)]
mod tests;
