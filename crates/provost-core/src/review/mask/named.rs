//! Texts that stand under the name of a secret. One word is masked whole, whatever is in it, as long as no command of
//! the call may use it for something else. More than a word is masked where people choose phrases: for passwords.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Walk;
use crate::review::{
    names::{ends_as_secret, is_name, is_password, is_secret, is_unsure},
    secret::{
        Grammar, Secret, Use, is_mask, is_path, is_phrase, is_plain, is_random, is_setting,
        is_target, kind_of, looks_random, masks, secrets,
    },
};

/// Names of members that hold the name of another.
const NAMES: [&str; 7] = [
    "name",
    "key",
    "variable",
    "header",
    "parameterkey",
    "parameter",
    "field",
];
/// Names of members that hold its value.
const VALUES: [&str; 4] = ["value", "val", "parametervalue", "default"];

/// Names of members that say which field of a page or a document is filled in, and of those that say with what.
const FIELDS: [&str; 5] = ["selector", "element", "locator", "label", "path"];
const FILLED: [&str; 3] = ["value", "text", "input"];

impl Walk<'_> {
    /// The secrets of a text under the name of a secret.
    pub(super) fn named(&self, name: &str, text: &str) -> Vec<Secret> {
        if text.is_empty() || is_mask(text) {
            return Vec::new();
        }
        // What only seems to be masked is judged without it, and masked with it.
        if self.is_whole(name, &without_masks(text)) {
            return vec![Secret {
                place: 0..text.len(),
                kind: kind_of(name),
            }];
        }
        let is_header = ["authorization", "cookie"]
            .iter()
            .any(|header| name.to_lowercase().ends_with(header));
        let mut found = if is_header && !self.runs_text {
            in_header(name, text)
        } else {
            secrets(text, self.grammar(name))
        };
        add_random_words(name, text, &mut found);
        found
    }

    /// Nothing else makes sense of the text than that it is a secret.
    fn is_whole(&self, name: &str, text: &str) -> bool {
        let is_chosen = is_setting(text) || (is_target(text) && !is_password(name));
        if is_place(text) || is_chosen {
            return false;
        }
        let used = match self.commands.is_empty() {
            true => Use::None,
            false if self.runs_text || is_secret(name) && !ends_as_secret(name) => Use::Free,
            false => self.script().use_of(name, None),
        };
        match used {
            Use::Free => return is_random(text),
            Use::InUrl => {
                return looks_random(text) && is_plain(text) && !text.contains(['/', '.']);
            }
            Use::HandedOn => {
                let is_value = looks_random(text) || !text.contains(['/', '.']);
                return is_value && is_plain(text) && !(text.contains('/') && is_path(text));
            }
            Use::None => {}
        }
        if text.contains(char::is_whitespace) {
            return is_password(name) && is_phrase(text);
        }
        let is_number =
            || (4..=12).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
        !is_unsure(name) || looks_random(text) || is_number()
    }
}

/// The value of a header, as it would be masked behind its name.
fn in_header(name: &str, text: &str) -> Vec<Secret> {
    let line = format!("{name}: {text}");
    let start = line.len() - text.len();
    let found = secrets(&line, Grammar::Text).into_iter();
    let found = found.filter(|secret| secret.place.start >= start);
    let moved = found.map(|Secret { place, kind }| Secret {
        place: place.start - start..place.end - start,
        kind,
    });
    moved.collect()
}

/// The words that nobody chose.
fn add_random_words(name: &str, text: &str, found: &mut Vec<Secret>) {
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let place = at..at + word.trim_end().len();
        at += word.len();
        let known =
            |secret: &Secret| secret.place.start < place.end && place.start < secret.place.end;
        if is_random(word.trim_end()) && !found.iter().any(known) {
            found.push(Secret {
                place,
                kind: kind_of(name),
            });
        }
    }
    found.sort_by_key(|secret| secret.place.start);
}

fn without_masks(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    while let Some(mask) = masks(&text).pop() {
        text.to_mut().replace_range(mask, "");
    }
    text
}

/// It says where something happens: the file of a key is not the key.
fn is_place(text: &str) -> bool {
    let file = text.rsplit('/').next().unwrap_or_default();
    let is_file = file.contains('.') && !file.starts_with('.');
    let begins = text.starts_with(['/', '~', '.']);
    text.contains('/')
        && !text.contains(char::is_whitespace)
        && (begins || is_file)
        && is_path(text)
}

/// `{"name": "PASSWORD", "value": "…"}`: the member that holds the value, and the name it stands under.
pub(super) fn pair(map: &Map<String, Value>) -> Option<(&str, &str)> {
    let is_in = |list: &[&str], name: &str| list.contains(&&*name.to_lowercase());
    let names = map.iter().filter(|(member, _)| is_in(&NAMES, member));
    let mut names = names.filter_map(|(_, name)| name.as_str());
    if let Some(name) = names.find(|name| is_secret(name)) {
        let (field, _) = map.iter().find(|(member, _)| is_in(&VALUES, member))?;
        return Some((field, name));
    }
    // `{"selector": "#password", "value": "…"}`.
    let is_password = |name: &str| name.len() <= 120 && name.to_lowercase().contains("password");
    // `path` is a file's, but for an operation on a document.
    let is_field =
        |member: &str| is_in(&FIELDS, member) && (member != "path" || map.contains_key("op"));
    let mut fields = map.iter().filter(|(member, _)| is_field(member));
    if !fields.any(|(_, name)| name.as_str().is_some_and(is_password)) {
        return None;
    }
    let (field, _) = map.iter().find(|(member, _)| is_in(&FILLED, member))?;
    Some((field, "password"))
}

/// `["X-Api-Key", "…"]` in a list of such: a name, and what stands under it.
pub(super) fn pair_in_list(item: &Value) -> Option<(&str, &Value)> {
    match item.as_array()?.as_slice() {
        [
            Value::String(name),
            value @ (Value::String(_) | Value::Number(_)),
        ] if is_name(name) && is_secret(name) => Some((name, value)),
        _ => None,
    }
}
