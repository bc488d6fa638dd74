//! Values that may be secrets, by what stands before them or by how they look. Whether one is masked is decided
//! where its place is known (`admit`).

use std::{ops::Range, sync::LazyLock};

use regex::{Captures, Regex};

use super::{
    kind_of, masks,
    patterns::{Find, occurring},
    value::{data, is_random, looks_random, word},
};
use crate::review::names::{is_password, is_secret};

/// A value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: &'static str,
    /// What it stands under.
    pub(super) name: String,
    /// As data has it.
    pub(super) data: Option<Range<usize>>,
    /// As a shell reads it, in pieces.
    pub(super) word: Vec<Range<usize>>,
    /// It is a secret by its own looks, whatever stands before it.
    pub(super) by_itself: bool,
    /// Nothing in its place but a secret makes sense: a blank in it is part of it.
    pub(super) whole: bool,
}

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
/// So much of a value tells whether it is a secret.
const FAR_ENOUGH: usize = 200;
const LONGEST_KEY_LINE: usize = 76;
/// Shorter words after a colon are types and the like.
const SHORTEST_LINE: usize = 6;

static COOKIE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^[; \t]{0,4}[A-Za-z0-9_!#%*+.^~-]+=([^\s;"',|&<>()$`]+)"#).ok());

pub(super) fn values(text: &str) -> Vec<Found> {
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
            covered = new.map(Found::end).max().unwrap_or(covered);
        }
    }
    // What was masked before stays as it is.
    let masks = masks(text);
    found.retain(|value| {
        let mut pieces = value.word.iter().chain(&value.data);
        let covers = |piece: &Range<usize>| {
            let mut masks = masks.iter();
            masks.any(|mask| mask.start < piece.end && piece.start < mask.end)
        };
        !pieces.any(covers)
    });
    found
}

impl Found {
    fn itself(kind: &'static str, place: Range<usize>) -> Self {
        Self {
            kind,
            name: String::new(),
            word: vec![place.clone()],
            data: Some(place),
            by_itself: true,
            whole: false,
        }
    }

    fn after(text: &str, start: usize, kind: &'static str, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            data: data(text, start),
            word: word(text, start),
            by_itself: false,
            whole: false,
        }
    }

    fn end(&self) -> usize {
        let pieces = self.word.iter().chain(&self.data);
        pieces.map(|piece| piece.end).max().unwrap_or_default()
    }
}

fn collect(
    text: &str,
    captures: &Captures<'_>,
    kind: &'static str,
    find: Find,
    found: &mut Vec<Found>,
) {
    let Some(all) = captures.get(0) else { return };
    let whole = captures.get(1).unwrap_or(all);
    let name = captures.name("name").map_or("", |name| name.as_str());
    match find {
        Find::Whole if kind == "aws key" && !whole.as_str().contains(|c: char| c.is_numeric()) => {}
        Find::Token if !is_token(whole.as_str()) => {}
        Find::Random if !looks_random(whole.as_str()) => {}
        Find::Whole | Find::Token | Find::Random => found.push(Found::itself(kind, whole.range())),
        Find::Url => found.extend(url_password(whole.as_str(), whole.start(), kind)),
        Find::Key => found.extend(key_lines(text, all.end(), kind)),
        Find::After => found.push(Found::after(text, all.end(), kind, "")),
        Find::Named => {
            if is_assigned(text, captures) {
                found.push(Found::after(text, all.end(), kind_of(name), name));
            }
        }
        Find::Flag => {
            let value = text.get(all.end()..).unwrap_or_default();
            if is_secret(name) && !value.starts_with('-') {
                found.push(Found::after(text, all.end(), kind_of(name), name));
            }
        }
        Find::Block => {
            let indent = captures.name("indent").map_or(0, |indent| indent.len());
            if is_secret(name) {
                found.extend(block(text, all.end(), indent, kind_of(name), name));
            }
        }
        Find::Cookies => cookies(text, all.end(), found),
    }
}

/// Words and dates between hyphens are a name, however the name begins.
fn is_token(text: &str) -> bool {
    let is_long = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        part.len() >= 20 && digits >= 2 && digits < part.len()
    };
    is_random(text) || text.split(['_', '-', '.']).any(is_long)
}

/// Whether a value that belongs to the name of a secret follows. `NAME=value` says so by itself; in what may be
/// prose or a program, the value must be quoted, be alone on its line or look like a secret.
fn is_assigned(text: &str, captures: &Captures<'_>) -> bool {
    let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
    let name = part("name").trim_matches(['-', '.']);
    // What follows is the scheme, and has a pattern of its own.
    let is_scheme = name.to_lowercase().ends_with("authorization");
    let Some(all) = captures.get(0).filter(|_| !is_scheme && is_secret(name)) else {
        return false;
    };
    let value = text.get(all.end()..).unwrap_or_default();
    let near = text.floor_char_boundary(all.end() + FAR_ENOUGH);
    let near = text.get(..near).unwrap_or(text);
    let first = data(near, all.end()).or_else(|| word(near, all.end()).into_iter().next());
    let Some(first) = first.and_then(|place| text.get(place)) else {
        return false;
    };
    let lower = first.to_lowercase();
    if PLACEHOLDERS.contains(&&*lower) || lower == name.to_lowercase() {
        return false;
    }
    let is_quoted = value.starts_with(['"', '\'']) || value.starts_with("\\\"");
    let before = text.get(..all.start()).unwrap_or_default();
    let is_header = part("close").is_empty() && before.ends_with(['"', '\'']);
    let begins = before.trim_end_matches([' ', '\t', '+', '-']);
    let ends = value
        .strip_prefix(first)
        .map(|rest| rest.trim_start_matches([' ', '\t', '\r']));
    let is_line = first.chars().count() >= SHORTEST_LINE
        && (begins.is_empty() || begins.ends_with('\n'))
        && ends.is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
        && is_password(name);
    let op = part("op");
    op == "="
        || (!op.is_empty() && op.trim().is_empty())
        || is_header
        || is_line
        || (is_quoted && first.chars().count() >= 3)
        || looks_random(first)
}

/// The password in front of the host. Up to the first slash it is certain which is which; beyond, only where the
/// host could have no such port.
fn url_password(rest: &str, start: usize, kind: &'static str) -> Option<Found> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let end = authority.rfind('@').or_else(|| {
        let is_port = authority.bytes().all(|byte| byte.is_ascii_digit());
        let at = rest.find('@')?;
        (!is_port && rest.get(authority.len()..)?.starts_with('/')).then_some(at)
    })?;
    (end > 0).then(|| Found {
        by_itself: false,
        whole: true,
        ..Found::itself(kind, start..start + end)
    })
}

/// The lines of a key: nobody chose their letters, and a short one only stands before the end.
fn key_lines(text: &str, start: usize, kind: &'static str) -> Option<Found> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[ \t+>-]{0,8}(?:(?:Proc-Type|DEK-Info): [A-Za-z0-9,-]*|([A-Za-z0-9+/=]*))(?:\\r)?(\r?\n|\\n|$)",
        )
        .ok()
    });
    let line = LINE.as_ref()?;
    let (mut from, mut end, mut at) = (None, start, start);
    while let Some(captures) = line.captures(text.get(at..).unwrap_or_default()) {
        let Some(all) = captures.get(0).filter(|all| !all.is_empty()) else {
            break;
        };
        let next = at + all.end();
        if let Some(letters) = captures.get(1).filter(|letters| !letters.is_empty()) {
            let is_last = text.get(next..).is_some_and(|rest| {
                let rest = rest.trim_start_matches([' ', '\t', '+', '>']);
                rest.starts_with("-----END ")
            });
            let is_key = is_random(letters.as_str().trim_start_matches(['/', '+']));
            let ends_key = is_last && from.is_some() && letters.len() < LONGEST_KEY_LINE;
            if !is_key && !ends_key {
                break;
            }
            from = from.or(Some(at + letters.start()));
            end = at + letters.end();
        }
        at = next;
    }
    Some(Found::itself(kind, from?..end))
}

/// The lines below a name that are indented further than it.
fn block(text: &str, start: usize, indent: usize, kind: &'static str, name: &str) -> Option<Found> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut at = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        let bare = line.trim_end();
        let spaces = bare.len() - bare.trim_start_matches([' ', '\t', '+']).len();
        if bare.is_empty() || spaces <= indent {
            break;
        }
        pieces.push(at + spaces..at + bare.len());
        at += line.len();
    }
    let (first, last) = (pieces.first()?.start, pieces.last()?.end);
    Some(Found {
        kind,
        name: name.to_owned(),
        data: Some(first..last),
        word: Vec::new(),
        by_itself: false,
        whole: false,
    })
}

fn cookies(text: &str, start: usize, found: &mut Vec<Found>) {
    let Some(cookie) = COOKIE.as_ref() else {
        return;
    };
    let (mut at, before) = (start, found.len());
    while let Some(captures) = cookie.captures(text.get(at..).unwrap_or_default()) {
        let Some(value) = captures.get(1) else { return };
        let place = at + value.start()..at + value.end();
        found.push(Found {
            by_itself: false,
            ..Found::itself("cookie", place)
        });
        at += value.end();
    }
    if found.len() == before {
        found.push(Found::after(text, start, "cookie", ""));
    }
}
