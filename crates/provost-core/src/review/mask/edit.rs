//! Arguments that a person edited in a view: what the view masked is put back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Labels, Masking, labels, mask_map};
use crate::review::secret::{holds_mask, masks};

/// Arguments with what the view masked put back. `None`: a mask is left whose secret is not certain, and such
/// arguments must not run.
pub fn unmask(
    edited: &Map<String, Value>,
    original: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let shown = mask_map(original);
    let mut edit = Edit {
        known: Known::of(original),
        path: Vec::new(),
    };
    let mut whole = Map::new();
    for (name, value) in edited {
        if holds_mask(name) {
            return None;
        }
        let before = original.get(name).zip(shown.get(name));
        edit.path.push(name.clone());
        whole.insert(name.clone(), edit.restored(value, before)?);
        edit.path.pop();
    }
    Some(whole)
}

/// The secrets of a view, by where they stand and what stands there instead.
struct Known {
    secrets: BTreeMap<(String, String), String>,
    /// Where the agent itself wrote what looks like a mask: which is which cannot be told.
    forged: BTreeSet<String>,
}

impl Known {
    fn of(original: &Map<String, Value>) -> Self {
        let labels: Labels = labels(original);
        let mut secrets = BTreeMap::new();
        let mut noted = |path: &str, kind: &'static str, secret: &str| {
            let label = labels.mask(kind, secret);
            secrets.insert((path.to_owned(), label.clone()), secret.to_owned());
            label
        };
        Masking::of(original, &mut noted).members(original, false);
        let mut forged = BTreeSet::new();
        find_forged(original, &mut Vec::new(), &mut forged);
        Self { secrets, forged }
    }
}

fn find_forged(map: &Map<String, Value>, path: &mut Vec<String>, forged: &mut BTreeSet<String>) {
    for (name, value) in map {
        path.push(name.clone());
        find_forged_in(value, path, forged);
        path.pop();
    }
}

fn find_forged_in(value: &Value, path: &mut Vec<String>, forged: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if holds_mask(text) => {
            forged.insert(joined(path));
        }
        Value::Array(items) => {
            for item in items {
                find_forged_in(item, path, forged);
            }
        }
        Value::Object(map) => find_forged(map, path, forged),
        _ => {}
    }
}

fn joined(path: &[String]) -> String {
    path.join("\u{1f}")
}

struct Edit {
    known: Known,
    path: Vec<String>,
}

impl Edit {
    /// A value, and what stood in its place: as it is, and as it was shown.
    fn restored(&mut self, edited: &Value, before: Option<(&Value, &Value)>) -> Option<Value> {
        if let Some((original, shown)) = before
            && edited == shown
        {
            return Some(original.clone());
        }
        match edited {
            Value::String(text) => self.put_back(text).map(Value::String),
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(at, item)| {
                    let before = before
                        .and_then(|(original, shown)| Some((original.get(at)?, shown.get(at)?)));
                    self.restored(item, before)
                });
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(map) => {
                let members = map.iter().map(|(name, value)| {
                    let before = before.and_then(|(original, shown)| {
                        Some((original.get(name)?, shown.get(name)?))
                    });
                    (!holds_mask(name)).then_some(())?;
                    self.path.push(name.clone());
                    let value = self.restored(value, before);
                    self.path.pop();
                    Some((name.clone(), value?))
                });
                members.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            other => Some(other.clone()),
        }
    }

    /// Each mask says which secret it stands for.
    fn put_back(&self, edited: &str) -> Option<String> {
        let masks = masks(edited);
        let path = joined(&self.path);
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
