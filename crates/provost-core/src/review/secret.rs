//! Secrets inside texts: what looks like a token, a key or a password is masked wherever a text is shown. A mask
//! says what kind it hides and how long it is. What runs or is stored is never touched.

mod patterns;
mod word;

use std::{borrow::Cow, fmt::Write as _, ops::Range, sync::LazyLock};

use regex::{Captures, Regex};

pub(super) use word::{literals, opens};

use super::names::is_secret;
use patterns::{Find, occurring};

/// A piece of a text that is a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Secret {
    pub(super) place: Range<usize>,
    kind: &'static str,
}

/// So much of a value tells whether it is a secret.
const FAR_ENOUGH: usize = 200;
/// What a person may say instead of a password is none.
const PLACEHOLDERS: [&str; 12] = [
    "none",
    "null",
    "true",
    "false",
    "nil",
    "undefined",
    "str",
    "string",
    "bool",
    "int",
    "...",
    "***",
];

static MASK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\[secret: [a-z ]{1,40}, \d{1,9} characters?\]").ok());
static COOKIE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^[; \t]{0,4}[A-Za-z0-9_!#%*+.^~-]+=([^\s;"',|&<>()$`]+)"#).ok());

/// What stands in the place of a secret.
pub(super) fn mask(kind: &str, secret: &str) -> String {
    match secret.chars().count() {
        1 => format!("[secret: {kind}, 1 character]"),
        length => format!("[secret: {kind}, {length} characters]"),
    }
}

/// Whether a text holds what stands in the place of a secret, and so is not the text it seems to be.
pub(super) fn holds_mask(text: &str) -> bool {
    MASK.as_ref().is_none_or(|mask| mask.is_match(text))
}

/// A text with its secrets masked.
pub fn mask_text(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for Secret { place, kind } in &secrets {
        shown.push_str(text.get(at..place.start).unwrap_or_default());
        let secret = text.get(place.clone()).unwrap_or_default();
        let _ = write!(shown, "{}", mask(kind, secret));
        at = place.end;
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(shown)
}

/// The masks of a text that is shown, each with the secret in its place. Where the whole text is one, there is
/// one mask.
pub(super) fn masks<'t>(original: &'t str, shown: &'t str) -> Vec<(&'t str, &'t str)> {
    let found = secrets(original);
    let Some(regex) = MASK.as_ref() else {
        return Vec::new();
    };
    let masks: Vec<&str> = regex.find_iter(shown).map(|found| found.as_str()).collect();
    if masks.len() == 1 && masks.first() == Some(&shown) {
        return vec![(shown, original)];
    }
    // Others than ours among them: which is which cannot be told.
    if masks.len() != found.len() {
        return Vec::new();
    }
    let secrets = found
        .iter()
        .filter_map(|secret| original.get(secret.place.clone()));
    masks.into_iter().zip(secrets).collect()
}

/// The parts of a text that would run, should a shell read it.
pub(super) fn running(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find(['$', '`'])) {
        let start = at + next;
        at = match word::runs_until(text, start) {
            Some(end) if word::is_substitution(text, start) => {
                found.push(start..end);
                end
            }
            _ => start + 1,
        };
    }
    found
}

/// The secrets of a text in their order; they do not overlap.
pub(super) fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    for (kind, find, regex) in occurring(text) {
        // What begins inside what was just found is part of it, and is not looked at again and again.
        let mut covered = 0;
        for captures in regex.captures_iter(text) {
            if captures.get(0).is_some_and(|all| all.start() < covered) {
                continue;
            }
            let before = found.len();
            collect(text, &captures, kind, find, &mut found);
            let new = found.iter().skip(before);
            covered = new.map(|secret| secret.place.end).max().unwrap_or(covered);
        }
    }
    // Of those that overlap, the one that begins first, and there the longest.
    found.sort_by_key(|secret| (secret.place.start, usize::MAX - secret.place.end));
    let mut end = 0;
    found.retain_mut(|secret| {
        secret.place.start = secret.place.start.max(end);
        let stays = secret.place.start < secret.place.end;
        end = end.max(secret.place.end);
        stays
    });
    found
}

fn collect(
    text: &str,
    captures: &Captures<'_>,
    kind: &'static str,
    find: Find,
    found: &mut Vec<Secret>,
) {
    let Some(all) = captures.get(0) else { return };
    let whole = captures.get(1).unwrap_or(all);
    match find {
        Find::Whole => found.push(Secret {
            place: whole.range(),
            kind,
        }),
        Find::Random if looks_random(whole.as_str()) => found.push(Secret {
            place: whole.range(),
            kind,
        }),
        Find::Random => {}
        Find::After => found.extend(after(text, all.end(), kind)),
        Find::Named => {
            if is_assigned(text, captures) {
                found.extend(after(text, all.end(), named_kind(captures)));
            }
        }
        Find::Flag => {
            let value = text.get(all.end()..).unwrap_or_default();
            let name = captures.name("name").map_or("", |name| name.as_str());
            if is_secret(name) && !value.starts_with('-') {
                found.extend(after(text, all.end(), named_kind(captures)));
            }
        }
        Find::Cookies => cookies(text, all.end(), found),
    }
}

fn after(text: &str, start: usize, kind: &'static str) -> Vec<Secret> {
    let pieces = literals(text, start).into_iter();
    // What was masked before stays as it is.
    pieces
        .filter(|place| !text.get(place.clone()).is_some_and(holds_mask))
        .map(|place| Secret { place, kind })
        .collect()
}

fn named_kind(captures: &Captures<'_>) -> &'static str {
    kind_of(captures.name("name").map_or("", |name| name.as_str()))
}

/// What stands under a name, in a word.
pub(super) fn kind_of(name: &str) -> &'static str {
    let name = name.to_lowercase();
    if name.contains("token") || name.contains("jwt") {
        "token"
    } else if name.contains("pass") || name.contains("pwd") {
        "password"
    } else if name.contains("key") {
        "key"
    } else {
        "secret"
    }
}

/// Whether a value that belongs to the name of a secret follows. `NAME=value` says so by itself; in what may be
/// prose or a program, the value must be quoted or look like a secret.
fn is_assigned(text: &str, captures: &Captures<'_>) -> bool {
    let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
    let name = part("name").trim_matches(['-', '.']);
    let Some(all) = captures.get(0).filter(|_| is_secret(name)) else {
        return false;
    };
    let value = text.get(all.end()..).unwrap_or_default();
    let near = text
        .get(..text.floor_char_boundary(all.end() + FAR_ENOUGH))
        .unwrap_or(text);
    let first = literals(near, all.end()).into_iter().next();
    let first = first.and_then(|place| text.get(place)).unwrap_or_default();
    let lower = first.to_lowercase();
    if first.is_empty() || PLACEHOLDERS.contains(&&*lower) || lower == name.to_lowercase() {
        return false;
    }
    let is_quoted = value.starts_with(['"', '\'']) || value.starts_with("\\\"");
    let is_header = part("close").is_empty()
        && text
            .get(..all.start())
            .is_some_and(|before| before.ends_with(['"', '\'']));
    part("op") == "="
        || is_header
        || (is_quoted && first.chars().count() >= 3)
        || looks_random(first)
}

/// Letters and digits mixed, as nobody writes them in a sentence.
fn looks_random(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    let digits = has(u8::is_ascii_digit);
    (text.len() >= 6 && digits && has(u8::is_ascii_alphabetic))
        || (text.len() >= 20 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
        || (text.len() >= 16 && digits)
}

fn cookies(text: &str, start: usize, found: &mut Vec<Secret>) {
    let Some(cookie) = COOKIE.as_ref() else {
        return;
    };
    let (mut at, before) = (start, found.len());
    while let Some(captures) = cookie.captures(text.get(at..).unwrap_or_default()) {
        let Some(value) = captures.get(1) else { return };
        found.push(Secret {
            place: at + value.start()..at + value.end(),
            kind: "cookie",
        });
        at += value.end();
    }
    if found.len() == before {
        found.extend(after(text, start, "cookie"));
    }
}

#[cfg(test)]
mod tests;
