//! A change to one file, taken apart into where it writes, what it writes, and everything else.

use serde_json::{Map, Value};

use super::{CONTENT, NEW, OLD, PATHS, patch};

/// A change to one file whose arguments were all understood.
pub(crate) struct OneFile<'a> {
    pub(crate) path: &'a str,
    /// The arguments, with nothing in the place of the path and of what is written. Two changes with the same
    /// rest differ in nothing else.
    pub(crate) rest: Map<String, Value>,
}

/// `None` where more than one path is named, where the path or what is written is no text, or where there may be
/// a second file in it.
pub(crate) fn one_file(params: &Map<String, Value>) -> Option<OneFile<'_>> {
    if patch::find(params).is_some() {
        return None;
    }
    let mut named = PATHS.iter().filter(|name| params.contains_key(**name));
    let (Some(name), None) = (named.next(), named.next()) else {
        return None;
    };
    let path = params.get(*name)?.as_str()?;
    let mut rest = params.clone();
    rest.insert((*name).to_owned(), Value::Null);
    let mut writes = false;
    for name in CONTENT.iter().chain(&OLD).chain(&NEW) {
        if let Some(text) = rest.get_mut(*name) {
            text.as_str()?;
            *text = Value::Null;
            writes = true;
        }
    }
    if let Some(edits) = rest.get_mut("edits") {
        edits.as_array_mut()?.iter().try_for_each(is_edit)?;
        *edits = Value::Null;
        writes = true;
    }
    writes.then_some(OneFile { path, rest })
}

/// An item of `edits` that says which text takes the place of which, and nothing else.
fn is_edit(item: &Value) -> Option<()> {
    let is_text = |(name, value): (&String, &Value)| {
        let name = name.as_str();
        (OLD.contains(&name) || NEW.contains(&name)) && value.is_string()
    };
    item.as_object()?.iter().all(is_text).then_some(())
}
