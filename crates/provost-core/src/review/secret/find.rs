//! Values that may be secrets, by what stands before them or by how they look. Whether one is masked is decided
//! where its place is known (`admit`).

mod lines;

use std::{ops::Range, sync::LazyLock};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use self::lines::{block, key_lines};
use super::{
    columns, kind_of,
    looks::{is_long_token, is_random, is_setting, is_target, looks_random},
    masks,
    patterns::{Find, occurring},
    setting, url,
    value::{data, line, opening, word},
};
use crate::review::names::{
    is_key_name, is_password, is_pin, is_reference, is_secret, may_name_secret,
};

/// A value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) kind: &'static str,
    /// What it stands under.
    pub(super) name: String,
    /// As data has it.
    pub(super) data: Option<Range<usize>>,
    /// As a file of settings has it, where it has signs.
    pub(super) line: Option<Range<usize>>,
    /// As a shell reads it, in pieces.
    pub(super) word: Vec<Range<usize>>,
    /// It is a secret by its own looks, whatever stands before it.
    pub(super) by_itself: bool,
    /// Nothing in its place but a secret makes sense: a blank in it is part of it.
    pub(super) whole: bool,
    /// The program that takes it, where only that one does.
    pub(super) program: Option<String>,
}

/// So much of a value tells whether it is a secret.
const FAR_ENOUGH: usize = 200;
const LONGEST_WORD: usize = 1024;
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
            if find == Find::Program {
                further(text, regex, kind, before, &mut found);
            }
            let new = found.iter().skip(before);
            covered = new.filter_map(Found::end).max().unwrap_or(covered);
        }
    }
    if found.is_empty() {
        return found;
    }
    // A host says where something happens, however it looks.
    let hosts = url::hosts(text);
    // What was masked before stays as it is. A mask that is only a part of a value is a forged one.
    let masks = masks(text);
    found.retain_mut(|value| {
        let is_masked = |piece: &Range<usize>| {
            let mask = touching(&masks, piece);
            mask.is_some_and(|mask| mask.start <= piece.start && piece.end <= mask.end)
        };
        let pieces = value.word.iter().chain(&value.data).chain(&value.line);
        if pieces.into_iter().any(is_masked) {
            return false;
        }
        // To a shell the value may go on where data has a host.
        let is_host = |piece: &Range<usize>| touching(&hosts, piece).is_some();
        value.data = value.data.take().filter(|piece| !is_host(piece));
        value.line = value.line.take().filter(|piece| !is_host(piece));
        if value.word.iter().any(is_host) {
            value.word.clear();
        }
        value.data.is_some() || value.line.is_some() || !value.word.is_empty()
    });
    found
}

/// The first of these, which are in order and apart from each other, that the piece overlaps.
fn touching<'r>(ranges: &'r [Range<usize>], piece: &Range<usize>) -> Option<&'r Range<usize>> {
    let first = ranges.partition_point(|range| range.end <= piece.start);
    ranges.get(first).filter(|range| range.start < piece.end)
}

impl Found {
    fn itself(kind: &'static str, place: Range<usize>) -> Self {
        Self {
            kind,
            name: String::new(),
            word: vec![place.clone()],
            data: Some(place),
            line: None,
            by_itself: true,
            whole: false,
            program: None,
        }
    }

    pub(super) fn after(text: &str, start: usize, kind: &'static str, name: &str) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            data: data(text, start),
            line: None,
            word: near_word(text, start),
            by_itself: false,
            whole: false,
            program: None,
        }
    }

    /// As data has it, which is the shorter of the two: to a shell `"a","b":"c"` is one word.
    fn end(&self) -> Option<usize> {
        let piece = self.line.as_ref().or(self.data.as_ref());
        let piece = piece.or(self.word.last());
        piece.map(|piece| piece.end)
    }
}

/// A word of a shell. What is longer than any is none, and not read again and again.
fn near_word(text: &str, start: usize) -> Vec<Range<usize>> {
    let far = text.floor_char_boundary(start + LONGEST_WORD);
    let pieces = word(text.get(..far).unwrap_or(text), start);
    let is_cut = far < text.len() && pieces.last().is_some_and(|last| last.end + 1 >= far);
    if is_cut { Vec::new() } else { pieces }
}

fn collect(
    text: &str,
    captures: &Captures<'_>,
    kind: &'static str,
    find: Find,
    found: &mut Vec<Found>,
) {
    let Some(all) = captures.get(0) else { return };
    let whole = captures.iter().skip(1).flatten().next().unwrap_or(all);
    let name = captures.name("name").map_or("", |name| name.as_str());
    match find {
        // The name stands elsewhere, and must be a secret's.
        Find::Random | Find::Program | Find::Quoted | Find::Replaced
            if !name.is_empty() && !is_secret(name) => {}
        Find::Token if !is_token(whole.as_str()) => {}
        Find::Random if !looks_random(whole.as_str()) => {}
        Find::Jwt if !is_jwt(whole.as_str()) => {}
        Find::Whole | Find::Input | Find::Token | Find::Random | Find::Jwt => {
            found.push(Found::itself(kind, whole.range()));
        }
        Find::Url => found.extend(url_password(whole.as_str(), whole.start(), kind)),
        Find::Key => found.extend(key_lines(text, &all.range(), kind)),
        Find::After => found.push(Found::after(text, all.end(), kind, name)),
        // Another flag.
        Find::Program if text.get(all.end()..).is_some_and(|it| it.starts_with('-')) => {}
        Find::Program => found.push(Found {
            program: captures.name("program").map(|it| it.as_str().to_owned()),
            ..Found::after(text, all.end(), kind, "")
        }),
        Find::User => {
            let user = captures.name("user").filter(|it| is_random(it.as_str()));
            found.extend(user.map(|user| taken(captures, kind, user.range())));
        }
        Find::Replaced => {
            let value = captures
                .name("value")
                .filter(|it| looks_random(it.as_str()));
            found.extend(value.map(|value| taken(captures, kind_of(name), value.range())));
        }
        Find::Columns => {
            let columns = captures.name("columns").map_or("", |it| it.as_str());
            columns::values(text, columns, all.end(), found);
        }
        Find::Named => {
            let rest = text.get(all.end()..).unwrap_or_default();
            let start = all.end() + opening(rest);
            let line = own_line(text, captures);
            if is_assigned(text, captures, start, line.as_ref()) {
                let value = Found::after(text, start, kind_of(name), name);
                found.push(Found { line, ..value });
            }
        }
        Find::Flag => found.extend(flag_value(text, all.end(), name)),
        Find::Quoted => {
            if is_quoted(text.get(all.end()..).unwrap_or_default()) {
                let value = Found::after(text, all.end(), kind, name);
                let literal = value.data.clone().and_then(|place| text.get(place));
                found.extend(Some(value).filter(|_| !literal.is_some_and(is_setting)));
            }
        }
        Find::Block => {
            let indent = captures.name("indent").map_or(0, |indent| indent.len());
            if is_secret(name) {
                found.extend(block(text, all.end(), indent, kind_of(name), name));
            }
        }
        Find::Setting => found.extend(setting::values(text, all.end(), all.as_str())),
        Find::Cookies => cookies(text, all.end(), name, found),
    }
}

/// A part of the match that its program takes.
fn taken(captures: &Captures<'_>, kind: &'static str, place: Range<usize>) -> Found {
    Found {
        by_itself: false,
        program: captures.name("program").map(|it| it.as_str().to_owned()),
        ..Found::itself(kind, place)
    }
}

/// What the same program takes behind its other flags: `keytool -storepass … -keypass …`.
fn further(text: &str, regex: &Regex, kind: &'static str, first: usize, found: &mut Vec<Found>) {
    const MOST: usize = 8;
    const FAR: usize = 1024;
    let Some((mut from, program)) = found
        .get(first)
        .and_then(|found| Some((found.end()?, found.program.clone()?)))
    else {
        return;
    };
    let far = text.floor_char_boundary(from + FAR);
    let rest = text.get(from..far).unwrap_or_default();
    let end = from + rest.find(['\n', ';', '|', '&']).unwrap_or(rest.len());
    for _ in 0..MOST {
        let behind = text.get(from..end).unwrap_or_default();
        let command = format!("{program} {behind}");
        let Some(captures) = regex.captures(&command) else {
            return;
        };
        let name = captures.name("name").map_or("", |name| name.as_str());
        let matched = captures.get(0).map_or(0, |all| all.end());
        let at = from + matched.saturating_sub(program.len() + 1);
        let is_flag = text.get(at..).is_some_and(|it| it.starts_with('-'));
        let value = Found {
            program: Some(program.clone()),
            ..Found::after(text, at, kind, "")
        };
        let Some(end_of_value) = value.end().filter(|it| *it > from) else {
            return;
        };
        if !is_flag && (name.is_empty() || is_secret(name)) {
            found.push(value);
        }
        from = end_of_value;
    }
}

/// Words and dates between hyphens are a name, however the name begins.
fn is_token(text: &str) -> bool {
    let text = text.rsplit(':').next().unwrap_or_default();
    is_random(text) || text.split(['_', '-', '.']).any(is_long_token)
}

/// Its first part says how it is signed.
fn is_jwt(text: &str) -> bool {
    let head = text.split('.').next().unwrap_or_default();
    let head = URL_SAFE_NO_PAD.decode(head).unwrap_or_default();
    let head: Map<String, Value> = serde_json::from_slice(&head).unwrap_or_default();
    ["alg", "enc", "typ"]
        .iter()
        .any(|name| head.contains_key(*name))
}

/// The word after a flag. Many flags take no value, and then the next word is what the program acts on: only what
/// nobody chose is masked.
fn flag_value(text: &str, start: usize, name: &str) -> Option<Found> {
    let found = Found::after(text, start, kind_of(name), name);
    let value = found.data.clone().and_then(|place| text.get(place))?;
    let is_value = (is_secret(name) || is_key_name(name)) && !is_reference(name);
    (is_value && !value.starts_with('-') && is_random(value)).then_some(found)
}

/// Whether a value that belongs to the name of a secret follows. `NAME=value` says so by itself; in what may be
/// prose or a program, the value must be quoted, be alone on its line or look like a secret.
fn is_assigned(
    text: &str,
    captures: &Captures<'_>,
    start: usize,
    line: Option<&Range<usize>>,
) -> bool {
    let part = |name: &str| captures.name(name).map_or("", |part| part.as_str());
    let name = part("name").trim_matches(['-', '.']);
    // What follows is the scheme, and has a pattern of its own.
    let is_scheme = name.to_lowercase().ends_with("authorization");
    let is_named = part("name").starts_with('-') && is_reference(name);
    let is_name = (is_secret(name) || is_key_name(name)) && !is_named;
    let Some(all) = captures.get(0).filter(|_| !is_scheme && is_name) else {
        return false;
    };
    let value = text.get(start..).unwrap_or_default();
    let near = text.floor_char_boundary(start + FAR_ENOUGH);
    let near = text.get(..near).unwrap_or(text);
    let first = line.cloned().or_else(|| data(near, start));
    let first = first.or_else(|| word(near, start).into_iter().next());
    let Some(first) = first.and_then(|place| text.get(place)) else {
        return false;
    };
    if is_setting(first) || first.eq_ignore_ascii_case(name) {
        return false;
    }
    let before = text.get(..all.start()).unwrap_or_default();
    if !is_secret(name) || says_which(part("name"), before) {
        return is_random(first.trim_start_matches("base64:"));
    }
    if is_chosen(name, first) {
        return false;
    }
    let is_quoted = is_quoted(value);
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
    if op == ">" {
        return ends.is_some_and(|rest| rest.starts_with("</"));
    }
    // Beside another argument, or in a list of names.
    if op.trim_start().starts_with(',') {
        return is_quoted && looks_random(first);
    }
    op == "="
        || (!op.is_empty() && op.trim().is_empty())
        || is_header
        || is_line
        || (is_quoted && first.chars().count() >= 3)
        || looks_random(first)
}

/// The value of a setting that is all of its line.
fn own_line(text: &str, captures: &Captures<'_>) -> Option<Range<usize>> {
    const FAR: usize = 80;
    let (all, name, op) = (
        captures.get(0)?,
        captures.name("name")?,
        captures.name("op")?,
    );
    let is_setting = matches!(op.as_str().trim(), "=" | ":") && op.end() == all.end();
    let near = text.ceil_char_boundary(name.start().saturating_sub(FAR));
    let before = text.get(near..name.start())?;
    let before = match before.rfind('\n') {
        Some(at) => before.get(at + 1..)?,
        None if near == 0 => before,
        None => return None,
    };
    let before = before.trim_start_matches([' ', '\t', '+', '-', '>']);
    let begins = before.is_empty() || matches!(before.trim_end(), "export" | "ENV" | "ARG");
    (is_setting && begins).then(|| line(text, all.end()))?
}

/// Whether the name may say which secret is meant, or which rows: `--secret=prod-db`, `WHERE token = 'x'`.
fn says_which(name: &str, before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next();
    let is_condition = |word: &str| {
        let mut words = ["where", "and", "or", "having"].iter();
        words.any(|it| word.eq_ignore_ascii_case(it))
    };
    may_name_secret(name) || (!is_password(name) && word.is_some_and(is_condition))
}

/// Whether a value under the name of a secret is one that says what is done, and where: a board has pins, too.
fn is_chosen(name: &str, value: &str) -> bool {
    let is_number = || (4..=12).contains(&value.len()) && value.bytes().all(|c| c.is_ascii_digit());
    (is_target(value) && !is_password(name)) || (is_pin(name) && !is_number() && !is_random(value))
}

fn is_quoted(value: &str) -> bool {
    value.starts_with(['"', '\'']) || value.starts_with("\\\"")
}

/// The password in front of the host.
fn url_password(rest: &str, start: usize, kind: &'static str) -> Option<Found> {
    let end = url::end_of_password(rest)?;
    (end > 0).then(|| Found {
        by_itself: false,
        whole: true,
        ..Found::itself(kind, start..start + end)
    })
}

fn cookies(text: &str, start: usize, name: &str, found: &mut Vec<Found>) {
    let Some(cookie) = COOKIE.as_ref() else {
        return;
    };
    let (mut at, before) = (start, found.len());
    while let Some(captures) = cookie.captures(text.get(at..).unwrap_or_default()) {
        let Some(value) = captures.get(1) else { return };
        let place = at + value.start()..at + value.end();
        found.push(Found {
            name: name.to_owned(),
            by_itself: false,
            ..Found::itself("cookie", place)
        });
        at += value.end();
    }
    if found.len() == before {
        let whole = Found::after(text, start, "cookie", name);
        let value = whole.data.clone().and_then(|place| text.get(place));
        if value.is_some_and(looks_random) {
            found.push(whole);
        }
    }
}
