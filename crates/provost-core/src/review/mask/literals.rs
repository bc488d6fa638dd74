//! What is computed from arguments, such as a summary, quotes them: what the arguments mask everywhere is masked there
//! as well. A secret that is also seen, such as the word `production`, says nothing there that is not seen anyway.

use std::{collections::BTreeSet, ops::Range};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Map, Value};

use super::{Labels, Noted, Sink, View, Walk, noted};
use crate::review::{secret::masks, work};

/// What a view of the arguments does not show.
#[derive(Default)]
pub(in crate::review) struct Literals {
    /// All that texts may write instead of it; `None` where there is nothing.
    spelled: Option<AhoCorasick>,
    /// What is shown instead of each.
    labels: Vec<String>,
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
            found: BTreeSet::new(),
            visible: String::new(),
        };
        Walk::of(params, View::Masked, &mut seen)
            .repeating(&labels)
            .members(params, false);
        let Seen { found, visible, .. } = seen;
        let lines = found.iter().flat_map(|(literal, label)| {
            let lines = lines(literal).map(str::to_owned);
            lines.map(move |line| (line, label.clone()))
        });
        let hidden: Vec<_> = lines.chain(found.iter().cloned()).collect();
        let hidden = unseen(hidden, &visible).into_iter();
        let (spelled, labels): (Vec<_>, Vec<_>) = hidden
            .flat_map(|(literal, label)| spellings(literal).map(move |it| (it, label.clone())))
            .unzip();
        Self {
            spelled: machine(&spelled, MatchKind::LeftmostLongest),
            labels,
            any,
        }
    }

    /// Whether the arguments hold a secret. Then a text that was cut may end in half of it.
    pub(in crate::review) fn any(&self) -> bool {
        self.any
    }

    pub(in crate::review) fn masked(&self, text: &str) -> String {
        let Some(spelled) = &self.spelled else {
            return text.to_owned();
        };
        work::count(text.len());
        let mut masked = String::with_capacity(text.len());
        for (piece, is_mask) in pieces(text) {
            let piece = text.get(piece).unwrap_or_default();
            if is_mask {
                masked.push_str(piece);
            } else {
                masked.push_str(&spelled.replace_all(piece, &self.labels));
            }
        }
        masked
    }
}

/// The masks of a text, and what stands between them.
fn pieces(text: &str) -> Vec<(Range<usize>, bool)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for mask in masks(text) {
        pieces.extend([(at..mask.start, false), (mask.clone(), true)]);
        at = mask.end;
    }
    pieces.push((at..text.len(), false));
    pieces
}

/// All of them are looked for at once. `None`: there are none, or more than can be looked for.
///
/// The kind is fixed: by itself the library chooses one that takes quadratic time to build for a text such as `AAAA…`.
pub(super) fn machine<T: AsRef<[u8]>>(texts: &[T], kind: MatchKind) -> Option<AhoCorasick> {
    work::count(texts.iter().map(|text| text.as_ref().len()).sum());
    let machine = AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(kind)
        .build(texts)
        .ok();
    machine.filter(|_| !texts.is_empty())
}

/// Those that the text does not hold.
fn unseen(literals: Vec<(String, String)>, visible: &str) -> Vec<(String, String)> {
    work::count(visible.len());
    let literals = literals.into_iter().filter(|(it, _)| !it.is_empty());
    let literals: Vec<_> = literals.collect();
    let texts: Vec<String> = literals.iter().map(|(it, _)| it.clone()).collect();
    let mut is_seen = vec![false; texts.len()];
    if let Some(machine) = machine(&texts, MatchKind::Standard) {
        for found in machine.find_overlapping_iter(visible) {
            if let Some(seen) = is_seen.get_mut(found.pattern().as_usize()) {
                *seen = true;
            }
        }
    }
    let literals = literals.into_iter().zip(is_seen);
    literals
        .filter_map(|(literal, is_seen)| (!is_seen).then_some(literal))
        .collect()
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
    found: BTreeSet<(String, String)>,
    /// All that the view shows, without the masks.
    visible: String,
}

impl Seen<'_> {
    fn see(&mut self, shown: &str) {
        for (piece, is_mask) in pieces(shown) {
            if !is_mask {
                self.visible.push_str(shown.get(piece).unwrap_or_default());
                self.visible.push('\n');
            }
        }
    }
}

impl Sink for Seen<'_> {
    fn instead(&mut self, _: &[String], kind: &'static str, literal: &str) -> String {
        let label = self.labels.mask(kind, literal);
        self.found.insert((literal.to_owned(), label.clone()));
        label
    }

    fn value(&mut self, _: &[String], shown: &Value, _: &Value) {
        self.see(shown.as_str().unwrap_or_default());
    }

    fn name(&mut self, _: &[String], shown: &str, _: &str) {
        self.see(shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time is not measured here: the kind that the library would choose takes quadratic time for this text.
    #[test]
    fn p10_a_letter_that_is_repeated_is_built_in_linear_time() {
        let letters = "A".repeat(50_000);
        let machine = machine(&[letters], MatchKind::LeftmostLongest).unwrap();
        assert_eq!(machine.kind(), AhoCorasickKind::ContiguousNFA);
    }
}
