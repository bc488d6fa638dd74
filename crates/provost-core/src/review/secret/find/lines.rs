//! Secrets of several lines: private keys, and blocks below a name.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::Found;
use crate::review::secret::looks::{is_key, is_key_line, is_random};

/// The lines of a key behind its first, up to its end. Without an end, those that nobody chose.
pub(super) fn key_lines(text: &str, first: &Range<usize>, kind: &'static str) -> Option<Found> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^[ \t]{0,80}(?:[A-Z][A-Za-z-]{1,20}: [^\n\\]{0,200}|([A-Za-z0-9+/=]*))[ \t]*(?:\\r)?(\r?\n|\\n|$)",
        )
        .ok()
    });
    let line = LINE.as_ref()?;
    // As in a diff or a quote, each line begins like the first.
    let before = text.get(..first.start)?;
    let before = before.rsplit('\n').next().unwrap_or_default();
    let sign = before.trim_start_matches([' ', '\t']);
    let sign = sign.get(
        ..sign
            .find(|c: char| !"+>-".contains(c))
            .unwrap_or(sign.len()),
    )?;
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut at = first.end;
    loop {
        let rest = text.get(at..)?;
        let from = at
            + rest
                .strip_prefix(sign)
                .map_or(0, |after| rest.len() - after.len());
        let Some(captures) = line.captures(text.get(from..)?) else {
            break;
        };
        let Some(all) = captures.get(0).filter(|all| !all.is_empty()) else {
            break;
        };
        let letters = captures.get(1);
        if letters.is_none() && !lines.is_empty() {
            break;
        }
        let letters = letters.filter(|letters| !letters.is_empty());
        lines.extend(letters.map(|letters| from + letters.start()..from + letters.end()));
        at = from + all.end();
    }
    let rest = text.get(at..)?.trim_start_matches([' ', '\t', '+', '>']);
    let is_closed = rest.trim_start_matches('-').starts_with("END ");
    let texts: Vec<&str> = lines
        .iter()
        .filter_map(|line| text.get(line.clone()))
        .collect();
    if !(is_closed && is_key(&texts)) {
        let random = texts
            .iter()
            .take_while(|line| is_random(line) || is_key_line(line));
        lines.truncate(random.count());
    }
    Some(Found::itself(kind, lines.first()?.start..lines.last()?.end))
}

/// The lines below a name that are indented further than it.
pub(super) fn block(
    text: &str,
    start: usize,
    indent: usize,
    kind: &'static str,
    name: &str,
) -> Option<Found> {
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
        line: None,
        word: Vec::new(),
        by_itself: false,
        whole: false,
        program: None,
    })
}
