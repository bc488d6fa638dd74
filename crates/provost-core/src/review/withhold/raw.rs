//! Where the words and here-documents of a command seem to stand. Nothing relies on it: the reader of commands has
//! the last word on each.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

static HERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"<<-?[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z0-9_]+))"#).ok()
});
/// Words that say how a script goes on.
const KEYWORDS: [&str; 18] = [
    "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "case",
    "in", "esac", "for", "select", "function",
];

/// The bodies of here-documents, without their last line feed.
pub(super) fn here_documents(command: &str) -> Vec<Range<usize>> {
    let Some(here) = HERE.as_ref() else {
        return Vec::new();
    };
    let mut bodies = Vec::new();
    // Where the line with the delimiter ends, and where the bodies below it do.
    let (mut line, mut below) = (0, 0);
    for captures in here.captures_iter(command) {
        let Some(all) = captures.get(0) else { continue };
        if all.start() < below && all.start() >= line {
            continue;
        }
        let string = command
            .get(..all.start())
            .is_some_and(|it| it.ends_with('<'));
        let rest = command.get(all.end()..).unwrap_or_default();
        if string || rest.starts_with('<') {
            continue;
        }
        let delimiter = (1..=3).find_map(|group| captures.get(group));
        let delimiter = delimiter.map_or("", |found| found.as_str());
        if all.start() >= line {
            let Some(end) = rest.find('\n') else { break };
            line = all.end() + end + 1;
            below = line;
        }
        let start = below;
        for text in command
            .get(start..)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            below += text.len();
            if text.trim_end_matches('\n').trim_start_matches('\t') == delimiter {
                let end = below - text.len();
                bodies.push(start..end.saturating_sub(1).max(start));
                break;
            }
        }
    }
    bodies.retain(|body: &Range<usize>| !body.is_empty());
    bodies
}

/// The words and values outside of here-documents that may be texts, and those of the substitutions in them.
pub(super) fn words(
    command: &str,
    within: Range<usize>,
    bodies: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut escaped = false;
    // Where the comment ends that was found last.
    let (mut comment, mut comments) = (0, Vec::new());
    let text = command.get(within.clone()).unwrap_or_default();
    for (at, letter) in text.char_indices() {
        let at = within.start + at;
        if at < comment || bodies.iter().any(|body| body.contains(&at)) {
            continue;
        }
        if letter == '#' && start.is_none() && quote.is_none() && !escaped {
            let line = command.get(at + 1..within.end).unwrap_or_default();
            let line = line.split('\n').next().unwrap_or_default();
            comment = at + 1 + line.len();
            let text = comment - line.trim_start().len();
            comments.extend((text < comment).then_some(text..comment));
            continue;
        }
        let ends =
            quote.is_none() && !escaped && (letter.is_whitespace() || ";|&<>()`".contains(letter));
        if ends {
            words.extend(start.take().map(|from| from..at));
            continue;
        }
        start = start.or(Some(at));
        match quote {
            _ if escaped => escaped = false,
            Some('"') | None if letter == '\\' => escaped = true,
            Some(mark) if letter == mark => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
    }
    words.extend(start.map(|from| from..within.end));
    let inner: Vec<Range<usize>> = words
        .iter()
        .flat_map(|word| substitutions(command, word))
        .collect();
    let mut prefix = Prefix::default();
    let mut values = Vec::new();
    words.retain(|word| {
        let is_prefix = prefix.reaches(command, word, within.start);
        let text = command.get(word.clone()).unwrap_or_default();
        let is_descriptor = text.bytes().all(|byte| byte.is_ascii_digit())
            && command
                .get(word.end..)
                .is_some_and(|rest| rest.starts_with(['<', '>']));
        if is_prefix && is_assignment(text) {
            values.extend(value(text).map(|from| word.start + from..word.end));
            return false;
        }
        let is_delimiter = command
            .get(..word.start)
            .is_some_and(|before| before.trim_end_matches(['-', ' ']).ends_with("<<"))
            && !command
                .get(..word.start)
                .is_some_and(|before| before.trim_end().ends_with("<<<"));
        let is_end = bodies.iter().any(|body| word.start == body.end + 1);
        let is_head = command
            .get(word.end..)
            .is_some_and(|rest| rest.starts_with('('));
        !KEYWORDS.contains(&text) && !is_descriptor && !is_delimiter && !is_end && !is_head
    });
    words.append(&mut values);
    words.append(&mut comments);
    for inside in inner {
        words.extend(self::words(command, inside, bodies));
    }
    words
}

/// Where the value of an assignment begins, if there is one.
fn value(text: &str) -> Option<usize> {
    let from = text.find('=')? + 1;
    (from < text.len()).then_some(from)
}

fn is_assignment(text: &str) -> bool {
    !text.starts_with(['-', '\'', '"']) && text.contains('=')
}

/// The words before the program of a command, one after the other.
#[derive(Default)]
struct Prefix {
    end: Option<usize>,
    open: bool,
}

impl Prefix {
    /// Whether the next word stands before a program, or is one.
    fn reaches(&mut self, command: &str, word: &Range<usize>, start: usize) -> bool {
        let gap = command.get(self.end.unwrap_or(start)..word.start);
        let gap = gap.unwrap_or_default();
        let separates = gap.contains([';', '|', '(', '`', '\n'])
            || (gap.contains('&') && !gap.contains(['<', '>']));
        let reached = self.end.is_none() || self.open || separates;
        let text = command.get(word.clone()).unwrap_or_default();
        self.open = reached && (is_assignment(text) || KEYWORDS.contains(&text));
        self.end = Some(word.end);
        reached
    }
}

/// What stands inside the substitutions of a word in quotes. Any other ends the word.
fn substitutions(command: &str, word: &Range<usize>) -> Vec<Range<usize>> {
    let text = command.get(word.clone()).unwrap_or_default();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(['$', '`'])) {
        let from = at + start;
        let rest = text.get(from..).unwrap_or_default();
        let (opens, length) = match rest.strip_prefix('`') {
            Some(inner) => (1, inner.find('`').map_or(0, |end| end + 2)),
            None if rest.starts_with("$(") => (2, substitution(rest)),
            None => (0, 0),
        };
        let inside = word.start + from + opens..word.start + (from + length).saturating_sub(1);
        if inside.start < inside.end {
            found.push(inside);
        }
        at = from + length.max(1);
    }
    found
}

/// What of a word or a body is no substitution, without the quotes around it if there is one.
pub(super) fn literals(command: &str, whole: Range<usize>) -> Vec<Range<usize>> {
    let text = command.get(whole.clone()).unwrap_or_default();
    if !text.contains("$(") && !text.contains('`') {
        return vec![whole];
    }
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let length = match letter {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '"' => 1,
            '$' if rest.starts_with("$(") => substitution(rest),
            '`' => rest
                .get(1..)
                .and_then(|it| it.find('`'))
                .map_or(rest.len(), |end| end + 2),
            _ => {
                at += letter.len_utf8();
                continue;
            }
        };
        pieces.push(from..at);
        at += length;
        from = at;
    }
    pieces.push(from..text.len());
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| whole.start + piece.start..whole.start + piece.end)
        .collect()
}

/// How long the substitution is that a text begins with.
fn substitution(text: &str) -> usize {
    let mut open = 0_usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(mark), letter) if letter == mark => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(') => open += 1,
            (None, ')') if open == 1 => return at + 1,
            (None, ')') => open -= 1,
            _ => {}
        }
    }
    text.len()
}
