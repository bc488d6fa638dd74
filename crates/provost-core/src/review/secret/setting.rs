//! The value of a setting in the words behind its command: `config set NAME VALUE`, `secret set NAME --body VALUE`.
//! Flags and what they take say where the setting is kept, and are never the value.

use std::ops::Range;

use super::{
    find::Found,
    kind_of,
    looks::{is_random, is_setting},
};
use crate::review::names::{is_key_name, is_secret};

/// A setting has no more words, and is no longer.
const MOST_WORDS: usize = 32;
const LONGEST: usize = 2048;
/// Flags whose value is the setting's.
const VALUE_FLAGS: [&str; 5] = ["--value", "--body", "-b", "-v", "--secret-string"];
/// With these, what follows names settings.
const OTHERS: [&str; 9] = [
    "get",
    "delete",
    "rm",
    "unset",
    "list",
    "--get",
    "--get-all",
    "--unset",
    "--unset-all",
];
/// Flags that take no value.
const SWITCHES: [&str; 15] = [
    "--secret",
    "--plaintext",
    "--global",
    "-g",
    "--local",
    "--system",
    "--worktree",
    "--home",
    "-H",
    "--json",
    "--path",
    "--overwrite",
    "--stage",
    "--add",
    "--replace-all",
];

/// The secrets among the words from `start` on, behind the command `head`.
pub(super) fn values(text: &str, start: usize, head: &str) -> Vec<Found> {
    let words = words(text, start);
    let at = |place: &Range<usize>| text.get(place.clone()).unwrap_or_default();
    // A parameter is a secret only if it says so.
    let is_secure = |place: &Range<usize>| {
        let word = bare(at(place));
        word == "SecureString" || is_secret(word)
    };
    if head.contains("put-parameter") && !words.iter().any(is_secure) {
        return Vec::new();
    }
    if words.iter().any(|place| OTHERS.contains(&at(place))) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut name: Option<&str> = None;
    let mut rest = words.iter().peekable();
    while let Some(place) = rest.next() {
        let word = at(place);
        if let Some(flag) = word.strip_prefix('-').map(|_| word) {
            let (flag, given) = flag.split_once('=').map_or((flag, None), |(flag, value)| {
                (flag, Some(place.end - value.len()))
            });
            if SWITCHES.contains(&flag) {
                continue;
            }
            let is_value = VALUE_FLAGS.contains(&flag);
            if given.is_none() && !is_value && name.is_none() {
                continue;
            }
            let mut next = || rest.next_if(|next| !at(next).starts_with('-'));
            let value = given.or_else(|| next().map(|next| next.start));
            if is_value {
                let kind = kind_of(name.unwrap_or_default());
                found.extend(value.and_then(|value| secret(text, value, kind, "")));
            }
            continue;
        }
        match name {
            None if is_secret(bare(word)) || is_key_name(bare(word)) => name = Some(bare(word)),
            // `NAME=value` has a pattern of its own.
            Some(_) if is_pair(word) => {}
            Some(name) => {
                found.extend(secret(text, place.start, kind_of(name), name));
                break;
            }
            None => {}
        }
    }
    found
}

fn secret(text: &str, start: usize, kind: &'static str, name: &str) -> Option<Found> {
    let found = Found::after(text, start, kind, name);
    let value = found.data.clone().or(found.word.first().cloned());
    let value = value.and_then(|place| text.get(place))?;
    let is_value = !value.starts_with(['-', '@']) && !is_setting(value);
    (is_value && (name.is_empty() || is_secret(name) || is_random(value))).then_some(found)
}

fn bare(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

fn is_pair(word: &str) -> bool {
    let is_name = |name: &str| {
        name.bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"_.-".contains(&c))
    };
    word.split_once('=')
        .is_some_and(|(name, value)| is_name(name) && !value.trim_matches('=').is_empty())
}

/// The words of the command that goes on at `start`.
fn words(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let (mut from, mut quote) = (None, None);
    let end = text.floor_char_boundary(start + LONGEST);
    let rest = text.get(start..end).unwrap_or_default();
    for (offset, letter) in rest.char_indices() {
        let at = start + offset;
        let ends = letter == '\n' || (quote.is_none() && ";|&<>()`".contains(letter));
        if ends || words.len() >= MOST_WORDS {
            words.extend(from.map(|from| from..at));
            return words;
        }
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter.is_whitespace() => {
                words.extend(from.take().map(|from| from..at));
                continue;
            }
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
        from.get_or_insert(at);
    }
    words.extend(from.map(|from| from..end));
    words
}
