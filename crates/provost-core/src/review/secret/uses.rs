//! Whether a script uses a variable, and as what.

use std::collections::BTreeMap;

/// Which variables a text uses: each name is looked for once.
pub(super) struct Uses<'t> {
    text: &'t str,
    known: BTreeMap<String, bool>,
}

impl<'t> Uses<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            known: BTreeMap::new(),
        }
    }

    pub(super) fn of_name(&mut self, name: &str) -> bool {
        if let Some(used) = self.known.get(name) {
            return *used;
        }
        let used = is_used(self.text, name);
        self.known.insert(name.to_owned(), used);
        used
    }
}

/// Whether the variable of this name is used in the text.
pub(in crate::review) fn is_used(text: &str, name: &str) -> bool {
    uses(text, name).next().is_some()
}

/// Whether it is used, if at all, only as a part of other words: `"Bearer $TOKEN"`. A variable that is a word of its
/// own may be what a program acts on.
pub(in crate::review) fn is_handed_on(text: &str, name: &str) -> bool {
    let name = bare(name);
    uses(text, name).all(|at| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(['{', '!', '#', '$']);
        let after = text.get(at + name.len()..).unwrap_or_default();
        let after = after.strip_prefix('}').unwrap_or(after);
        let (before, after) = match (before.strip_suffix('"'), after.strip_prefix('"')) {
            (Some(before), Some(after)) => (before, after),
            _ => (before, after),
        };
        let begins = before.is_empty() || before.ends_with(|c: char| " \t\n;&|(`=".contains(c));
        let ends = after.is_empty() || after.starts_with(|c: char| " \t\n;&|)`<>".contains(c));
        !(begins && ends)
    })
}

/// Whether the text says this name at all, as a word: `printenv TOKEN`.
pub(in crate::review) fn is_mentioned(text: &str, name: &str) -> bool {
    let name = bare(name);
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + name.len()..).unwrap_or_default();
            !before.ends_with(is_letter) && !after.starts_with(is_letter)
        })
}

fn uses(text: &str, name: &str) -> impl Iterator<Item = usize> {
    let name = bare(name);
    let found = (!name.is_empty()).then(|| text.match_indices(name));
    found.into_iter().flatten().filter_map(move |(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(['{', '!', '#']);
        let used = before.ends_with('$') || before.ends_with("env:") || before.ends_with('%');
        used.then_some(at)
    })
}

fn bare(name: &str) -> &str {
    name.trim_matches(['-', '.'])
}
