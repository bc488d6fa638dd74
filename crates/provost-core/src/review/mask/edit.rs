//! Arguments that a person edited in a view: what the view masked is put back, and what it withheld where it stands
//! as it was. A description of content must not run.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Labels, Masking, labels, mask_map};
use crate::review::{
    redact::{is_description, redact_map},
    secret::{holds_mask, masks},
    withhold::holds_withheld,
};

/// Arguments with what the view masked put back. `None`: a mask is left whose secret is not certain, and such
/// arguments must not run.
pub fn unmask(
    edited: &Map<String, Value>,
    original: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let (shown, withheld) = (mask_map(original), redact_map(original));
    let mut edit = Edit {
        known: Known::of(original),
        path: Vec::new(),
    };
    let before = Before {
        original: &original.clone().into(),
        views: [Some(&shown.into()), Some(&withheld.into())],
    };
    edit.members(edited, Some(before))
}

/// What stood in the place of a value: as it is, and as the views had it.
#[derive(Clone, Copy)]
struct Before<'a> {
    original: &'a Value,
    views: [Option<&'a Value>; 2],
}

impl<'a> Before<'a> {
    fn member(self, find: impl Fn(&'a Value) -> Option<&'a Value>) -> Option<Self> {
        Some(Self {
            original: find(self.original)?,
            views: self.views.map(|view| view.and_then(&find)),
        })
    }
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
    fn restored(&mut self, edited: &Value, before: Option<Before<'_>>) -> Option<Value> {
        if let Some(before) = before
            && before.views.contains(&Some(edited))
        {
            return Some(before.original.clone());
        }
        match edited {
            Value::String(text) => self.put_back(text).map(Value::String),
            Value::Array(items) => {
                let items = items.iter().enumerate().map(|(at, item)| {
                    let before = before.and_then(|before| before.member(|value| value.get(at)));
                    self.restored(item, before)
                });
                items.collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Value::Object(map) if is_description(map) => None,
            Value::Object(map) => self.members(map, before).map(Value::Object),
            other => Some(other.clone()),
        }
    }

    fn members(
        &mut self,
        edited: &Map<String, Value>,
        before: Option<Before<'_>>,
    ) -> Option<Map<String, Value>> {
        let members = edited.iter().map(|(name, value)| {
            let before = before.and_then(|before| before.member(|value| value.get(name)));
            let is_known = before.is_some() || !(holds_mask(name) || holds_withheld(name));
            is_known.then_some(())?;
            self.path.push(name.clone());
            let value = self.restored(value, before);
            self.path.pop();
            Some((name.clone(), value?))
        });
        members.collect()
    }

    /// Each mask says which secret it stands for.
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
