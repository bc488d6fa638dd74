//! Arguments that a person edited in a view: what stands in the place of a secret or of content is put back where it
//! says which it means, and refused anywhere else. A mask or a description must not run.

use std::collections::{BTreeMap, BTreeSet, btree_map::Entry};

use serde_json::{Map, Value};

use super::{Labels, Sink, View, Walk, labels};
use crate::review::{
    mask::is_description,
    secret::{holds_mask, holds_withheld, masks},
};

/// Arguments with what the view did not show put back. `None`: something is left of which it is not certain what it
/// stands for, and such arguments must not run.
pub fn unmask(
    edited: &Map<String, Value>,
    original: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let labels = labels(original, &[View::Masked, View::Withheld]);
    let mut known = Known::new(&labels);
    for view in [View::Masked, View::Withheld] {
        let shown = Walk::of(original, view, &mut known)
            .repeating(&labels)
            .members(original, false);
        if shown == *edited {
            return Some(original.clone());
        }
    }
    let mut edit = Edit {
        known,
        path: Vec::new(),
    };
    edit.members(edited)
}

/// What the views show, by where it stands. Lists have no places, so that what is moved or left beside something that
/// was removed is still found.
struct Known<'l> {
    labels: &'l Labels,
    /// `None` where the same stands for more than one value.
    values: BTreeMap<(String, String), Option<Value>>,
    names: BTreeMap<(String, String), Option<String>>,
    secrets: BTreeMap<(String, String), String>,
    /// Where the agent itself wrote what looks like a mask: which is which cannot be told.
    forged: BTreeSet<String>,
}

impl<'l> Known<'l> {
    fn new(labels: &'l Labels) -> Self {
        Self {
            labels,
            values: BTreeMap::new(),
            names: BTreeMap::new(),
            secrets: BTreeMap::new(),
            forged: BTreeSet::new(),
        }
    }
}

impl Sink for Known<'_> {
    fn instead(&mut self, path: &[String], kind: &'static str, literal: &str) -> String {
        let label = self.labels.mask(kind, literal);
        let place = (joined(path), label.clone());
        self.secrets.insert(place, literal.to_owned());
        label
    }

    fn value(&mut self, path: &[String], shown: &Value, value: &Value) {
        if value.as_str().is_some_and(holds_mask) {
            self.forged.insert(joined(path));
        }
        let place = (joined(path), shown.to_string());
        remember(&mut self.values, place, value.clone());
    }

    fn name(&mut self, path: &[String], shown: &str, name: &str) {
        let place = (joined(path), shown.to_owned());
        remember(&mut self.names, place, name.to_owned());
    }
}

fn remember<T: PartialEq>(
    known: &mut BTreeMap<(String, String), Option<T>>,
    place: (String, String),
    value: T,
) {
    match known.entry(place) {
        Entry::Vacant(entry) => {
            entry.insert(Some(value));
        }
        Entry::Occupied(mut entry) if entry.get().as_ref() != Some(&value) => {
            entry.insert(None);
        }
        Entry::Occupied(_) => {}
    }
}

fn joined(path: &[String]) -> String {
    path.join("\u{1f}")
}

struct Edit<'l> {
    known: Known<'l>,
    /// The names above as they are shown.
    path: Vec<String>,
}

impl Edit<'_> {
    fn restored(&mut self, edited: &Value) -> Option<Value> {
        let place = || (joined(&self.path), edited.to_string());
        match edited {
            Value::String(text) => match self.known.values.get(&place()) {
                Some(known) => known.clone(),
                None => self.put_back(text).map(Value::String),
            },
            Value::Array(items) => {
                let items = items.iter().map(|item| self.restored(item));
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(map) if is_description(map) => {
                self.known.values.get(&place()).cloned().flatten()
            }
            Value::Object(map) => self.members(map).map(Value::Object),
            other => Some(other.clone()),
        }
    }

    fn members(&mut self, edited: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut restored = Map::new();
        for (shown, value) in edited {
            let name = match self.known.names.get(&(joined(&self.path), shown.clone())) {
                Some(known) => known.clone()?,
                None if holds_mask(shown) || holds_withheld(shown) => return None,
                None => shown.clone(),
            };
            self.path.push(shown.clone());
            let value = self.restored(value);
            self.path.pop();
            if restored.insert(name, value?).is_some() {
                return None;
            }
        }
        Some(restored)
    }

    /// Each mask says which secret it stands for. What is withheld is put back with the whole of its text only: beside
    /// something else it could take effect.
    fn put_back(&self, edited: &str) -> Option<String> {
        let masks = masks(edited);
        let path = joined(&self.path);
        if holds_withheld(edited) {
            return None;
        }
        if masks.is_empty() {
            return Some(edited.to_owned());
        }
        if self.known.forged.contains(&path) {
            return None;
        }
        let mut text = String::with_capacity(edited.len());
        let mut at = 0;
        for place in masks {
            let mask = edited.get(place.clone())?.to_owned();
            text.push_str(edited.get(at..place.start)?);
            text.push_str(self.known.secrets.get(&(path.clone(), mask))?);
            at = place.end;
        }
        text.push_str(edited.get(at..)?);
        Some(text)
    }
}
