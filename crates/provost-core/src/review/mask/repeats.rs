//! A secret that is masked in one place of a call is masked where the call repeats it, as long as nobody chose its
//! letters: a word that means something may be what another argument acts on.

use aho_corasick::{AhoCorasick, MatchKind};

use super::literals::machine;
use crate::review::{
    secret::{Grammar, Labels, Secret, again, is_random},
    work,
};

/// The secrets of a call that are looked for in its other texts.
#[derive(Default)]
pub(super) struct Repeats {
    machine: Option<AhoCorasick>,
    kinds: Vec<&'static str>,
}

impl Repeats {
    pub(super) fn of(labels: &Labels) -> Self {
        let random = labels.noted().filter(|(_, literal)| is_random(literal));
        let (kinds, literals): (Vec<_>, Vec<_>) = random.unzip();
        Self {
            machine: machine(&literals, MatchKind::LeftmostLongest),
            kinds,
        }
    }

    /// Adds those that the text repeats to the secrets that were found in it.
    pub(super) fn add(&self, text: &str, grammar: Grammar<'_>, found: &mut Vec<Secret>) {
        let Some(machine) = &self.machine else {
            return;
        };
        work::count(text.len());
        let mut known = found.iter().peekable();
        let mut new = Vec::new();
        for repeat in machine.find_iter(text) {
            while known.next_if(|it| it.place.end <= repeat.start()).is_some() {}
            let is_known = known.peek().is_some_and(|it| it.place.start < repeat.end());
            if is_known || is_part(text, repeat.start(), repeat.end()) {
                continue;
            }
            let kind = self.kinds.get(repeat.pattern().as_usize());
            new.extend(kind.map(|kind| Secret {
                place: repeat.range(),
                kind,
            }));
        }
        if new.is_empty() {
            return;
        }
        found.append(&mut again(text, grammar, new));
        found.sort_by_key(|secret| secret.place.start);
    }
}

/// A part of a path, of a host or of a longer word.
fn is_part(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let path = ['/', '\\'];
    before.ends_with(path)
        || after.starts_with(path)
        || before.ends_with('@')
        || after.starts_with(|c: char| c == '.' || c.is_ascii_alphanumeric())
            && !after.starts_with(". ")
            && after != "."
}
