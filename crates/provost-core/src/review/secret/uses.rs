//! Whether a script uses a variable, and as what.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use crate::review::names::is_secret;

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

/// Whether it is used, if at all, only where nothing but a secret stands: in a header, as the value of a secret's flag,
/// before the host of a URL, or in a secret's field of its query. Anywhere else it may be what a program acts on, or a
/// part of that: `rm -rf /data/$TOKEN`.
pub(in crate::review) fn is_handed_on(text: &str, name: &str) -> bool {
    let name = bare(name);
    uses(text, name).all(|at| {
        let before = text.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(['{', '!', '#', '$']);
        let after = text.get(at + name.len()..).unwrap_or_default();
        takes_secret(before, after.strip_prefix('}').unwrap_or(after))
    })
}

/// What stands before a secret, with the name that must be a secret's, and after it.
static PLACES: LazyLock<Vec<(Regex, Regex)>> = LazyLock::new(|| {
    let word_ends = r#"^["']?(?:[\s;|&)]|$)"#;
    let places = [
        (
            r#"\s(?:-H|--header)[ =]?["'](?P<name>[A-Za-z0-9-]+):[ \t][^"'\n]*$"#,
            r#"^[^"'\n]*["']"#,
        ),
        (r#"\s--?(?P<name>[A-Za-z0-9-]+)=["']?$"#, word_ends),
        (
            r#"\bcurl\s(?:[^\n;|&]*\s)?(?:-u|--user)[ =]?["']?[^\s:"'/]+:$"#,
            word_ends,
        ),
        (
            r#"[A-Za-z]://(?:[^\s/?\#@"':]*:)?$"#,
            r#"^(?::[^\s/@"']*)?@"#,
        ),
        (
            r#"[A-Za-z]://[^\s"']*[?&](?P<name>[A-Za-z0-9_.-]+)=$"#,
            r#"^(?:[&"'\s]|$)"#,
        ),
    ];
    let regexes = places
        .iter()
        .filter_map(|(before, after)| Some((Regex::new(before).ok()?, Regex::new(after).ok()?)));
    regexes.collect()
});

fn takes_secret(before: &str, after: &str) -> bool {
    /// So far back, at most.
    const FAR: usize = 300;
    let near = before.ceil_char_boundary(before.len().saturating_sub(FAR));
    let before = before.get(near..).unwrap_or_default();
    PLACES.iter().any(|(place, ends)| {
        let Some(found) = place.captures(before).filter(|_| ends.is_match(after)) else {
            return false;
        };
        let name = found.name("name").map(|name| name.as_str());
        name.is_none_or(is_secret)
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
