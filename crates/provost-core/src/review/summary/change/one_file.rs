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

/// `None` where more than one path is named, where the path or what is written is no text, where there may be
/// a second file in it, or where the rest names the file as well: no other file could then have the same rest.
pub(crate) fn one_file<'a>(tool: &str, params: &'a Map<String, Value>) -> Option<OneFile<'a>> {
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
    if tool.starts_with("acp.")
        && let Some(said) = rest.get_mut("acp")
    {
        leave_out_said(path, said.as_object_mut()?)?;
    }
    let is_plain = writes && !path.is_empty() && !rest.values().any(|value| names(value, path));
    is_plain.then_some(OneFile { path, rest })
}

/// What an agent says of its edit over ACP beside the arguments: a title, where it works, and the change as it
/// shows it. If all of it is about this file, it is left out as the file and its text are.
fn leave_out_said(path: &str, said: &mut Map<String, Value>) -> Option<()> {
    if said.get("title").is_some_and(Value::is_string) {
        said.remove("title");
    }
    if let Some(locations) = said.remove("locations") {
        let is_here = |location: &Value| location.as_str() == Some(path);
        locations.as_array()?.iter().all(is_here).then_some(())?;
    }
    if let Some(changes) = said.remove("changes") {
        let is_here = |change: &Value| is_change_of(path, change);
        changes.as_array()?.iter().all(is_here).then_some(())?;
    }
    Some(())
}

fn is_change_of(path: &str, change: &Value) -> bool {
    let is_known = |name: &str| name == "path" || OLD.contains(&name) || NEW.contains(&name);
    change.as_object().is_some_and(|change| {
        change.get("path").and_then(Value::as_str) == Some(path)
            && change.keys().all(|name| is_known(name))
    })
}

fn names(value: &Value, path: &str) -> bool {
    match value {
        Value::String(text) => text.contains(path),
        Value::Array(items) => items.iter().any(|item| names(item, path)),
        Value::Object(members) => members.values().any(|member| names(member, path)),
        _ => false,
    }
}

/// An item of `edits` that says which text takes the place of which, and nothing else.
fn is_edit(item: &Value) -> Option<()> {
    let is_text = |(name, value): (&String, &Value)| {
        let name = name.as_str();
        (OLD.contains(&name) || NEW.contains(&name)) && value.is_string()
    };
    item.as_object()?.iter().all(is_text).then_some(())
}
