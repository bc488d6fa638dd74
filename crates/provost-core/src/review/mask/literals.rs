//! What is computed from arguments, such as a summary, quotes them: what the arguments mask everywhere is masked there
//! as well. A secret that is also seen, such as the word `production`, says nothing there that is not seen anyway.

use serde_json::{Map, Value};

use super::{Labels, Noted, Sink, View, Walk, noted};
use crate::review::secret::masks;

/// What a view of the arguments does not show.
#[derive(Default)]
pub(in crate::review) struct Literals {
    /// As texts may write it, and what is shown instead.
    spelled: Vec<(String, String)>,
    any: bool,
}

impl Literals {
    pub(in crate::review) fn of(params: &Map<String, Value>) -> Self {
        let Noted { labels, any } = noted(params, &[View::Masked]);
        if !any {
            return Self::default();
        }
        let mut seen = Seen {
            labels: &labels,
            found: Vec::new(),
            visible: String::new(),
        };
        Walk::of(params, View::Masked, &mut seen).members(params, false);
        let Seen { found, visible, .. } = seen;
        let lines = found.iter().flat_map(|(literal, label)| {
            let lines = lines(literal).map(str::to_owned);
            lines.map(move |line| (line, label.clone()))
        });
        let hidden = lines.collect::<Vec<_>>().into_iter().chain(found);
        let hidden =
            hidden.filter(|(literal, _)| !literal.is_empty() && !visible.contains(literal));
        let mut spelled: Vec<_> = hidden
            .flat_map(|(literal, label)| spellings(literal).map(move |it| (it, label.clone())))
            .collect();
        // The longest first: one may be a part of another.
        spelled.sort_by_key(|(literal, _)| usize::MAX - literal.len());
        Self { spelled, any }
    }

    /// Whether the arguments hold a secret. Then a text that was cut may end in half of it.
    pub(in crate::review) fn any(&self) -> bool {
        self.any
    }

    pub(in crate::review) fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (literal, label) in &self.spelled {
            if !text.contains(literal) {
                continue;
            }
            let masks = masks(&text);
            let places = text
                .match_indices(literal)
                .map(|(at, _)| at..at + literal.len());
            let is_mask = |at: usize| masks.iter().any(|mask| mask.contains(&at));
            let places: Vec<_> = places.filter(|place| !is_mask(place.start)).collect();
            for place in places.into_iter().rev() {
                text.replace_range(place, label);
            }
        }
        text
    }
}

/// Each line of a text of several: a diff has them apart.
fn lines(literal: &str) -> impl Iterator<Item = &str> {
    /// A shorter one is part of any text.
    const SHORTEST: usize = 4;
    let several = literal
        .contains('\n')
        .then(|| literal.lines().map(str::trim));
    several
        .into_iter()
        .flatten()
        .filter(|line| line.len() >= SHORTEST)
}

/// As it is, in JSON, and in the quotes of a shell.
fn spellings(literal: String) -> impl Iterator<Item = String> {
    let json = Value::from(literal.as_str()).to_string();
    let json = json.trim_matches('"').to_owned();
    let quoted = literal.replace('\'', r"'\''");
    let others = [json, quoted].into_iter();
    let others: Vec<_> = others.filter(|other| *other != literal).collect();
    std::iter::once(literal).chain(others)
}

struct Seen<'l> {
    labels: &'l Labels,
    found: Vec<(String, String)>,
    /// All that the view shows, without the masks.
    visible: String,
}

impl Seen<'_> {
    fn see(&mut self, shown: &str) {
        let mut at = 0;
        for mask in masks(shown) {
            self.visible
                .push_str(shown.get(at..mask.start).unwrap_or_default());
            self.visible.push('\n');
            at = mask.end;
        }
        self.visible.push_str(shown.get(at..).unwrap_or_default());
        self.visible.push('\n');
    }
}

impl Sink for Seen<'_> {
    fn instead(&mut self, _: &[String], kind: &'static str, literal: &str) -> String {
        let label = self.labels.mask(kind, literal);
        let found = (literal.to_owned(), label.clone());
        if !self.found.contains(&found) {
            self.found.push(found);
        }
        label
    }

    fn value(&mut self, _: &[String], shown: &Value, _: &Value) {
        self.see(shown.as_str().unwrap_or_default());
    }

    fn name(&mut self, _: &[String], shown: &str, _: &str) {
        self.see(shown);
    }
}
