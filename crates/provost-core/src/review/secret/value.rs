//! Where a value ends that follows its name. A value in quotes ends at its closing quote, any other at the first
//! character that may begin something else: nothing beside a value is ever part of it.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::looks::{SIGNS, is_plain, is_scrambled, looks_random};

/// What may stand around a literal in code: `b"…"`, `[]byte("…")`, `SecretStr("…")`, `field(default="…")`.
static OPENS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^(?:(?:\(|(?:new[ \t])?(?:\[\]byte|bytes|bytearray|str|Some|Ok|SecretStr|SecretString|SecretBox|Secret|[Ff]ield|Buffer\.from|bcrypt|Hash::make|TEXT)(?:::[a-z_]{1,20})?\()\s{0,40}(?:default[ \t]?=[ \t]?)?)?(?:[bBfFrRuUL@$]{0,2})(?:["']|`)"#,
    )
    .ok()
});
/// A line of settings is no longer.
const LONGEST_LINE: usize = 256;

/// How much of this stands before the quote of a literal.
pub(super) fn opening(rest: &str) -> usize {
    let found = OPENS.as_ref().and_then(|opens| opens.find(rest));
    found.map_or(0, |found| found.end() - 1)
}

/// A value without quotes that goes to the end of its line, as settings and variables are written in files. It has
/// signs in it that end a value elsewhere.
pub(super) fn line(text: &str, start: usize) -> Option<Range<usize>> {
    let far = text.floor_char_boundary(start + LONGEST_LINE);
    let rest = text.get(start..far)?;
    let end = rest.find(|c: char| c.is_whitespace() || c.is_control());
    let end = end.or_else(|| (far == text.len()).then_some(rest.len()))?;
    let value = rest.get(..end)?.trim_end_matches([',', ';']);
    let after = text
        .get(start + end..)?
        .trim_start_matches([' ', '\t', '\r']);
    let is_alone = after.is_empty() || after.starts_with(['\n', '#']);
    (is_alone && !is_plain(value) && is_scrambled(value)).then(|| start..start + value.len())
}

/// The value at `start`, as data formats and keyword arguments write it.
pub(super) fn data(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    for quote in ["\"\"\"", "'''", "\\\"", "\\'"] {
        if let Some(inner) = rest.strip_prefix(quote) {
            let end = inner.find(quote)?;
            let from = start + quote.len();
            return some(from..from + end);
        }
    }
    if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let from = start + 1;
        return match closing(rest.get(1..)?, quote) {
            Some(end) => some(from..from + end),
            None => bare(text, from),
        };
    }
    if let Some(inner) = rest.strip_prefix('`') {
        // To a shell this is a command: a literal of code or prose has a blank before it, and is no word.
        let is_apart = text.get(..start)?.ends_with([' ', '(']);
        let end = inner.find('`').filter(|_| is_apart)?;
        let is_literal = |inner: &&str| looks_random(inner) && !inner.contains([' ', '\n', '$']);
        return inner
            .get(..end)
            .filter(is_literal)
            .map(|_| start + 1..start + 1 + end);
    }
    bare(text, start)
}

fn some(range: Range<usize>) -> Option<Range<usize>> {
    (!range.is_empty()).then_some(range)
}

/// Where the quote closes, on the same line.
fn closing(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            '\n' => return None,
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if letter == quote => return Some(at),
            _ => {}
        }
    }
    None
}

/// A value without quotes. One that seems to go on after its end is none: half a secret is neither hidden nor
/// seen.
fn bare(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let ends = |c: char| c.is_whitespace() || c.is_control() || SIGNS.contains(c);
    let end = rest.find(ends).unwrap_or(rest.len());
    let after = rest.get(end..)?;
    let next = after.chars().nth(1);
    let goes_on = match after.chars().next() {
        // A call.
        Some('(') => end > 0,
        Some('\\') => !next.is_some_and(|c| matches!(c, '"' | '\'' | 'n' | 'r' | 't')),
        Some('"' | '\'') => next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '"' | '\'')),
        Some(',') => {
            let others = after.get(1..).unwrap_or_default();
            let is_other = |c: char| c.is_whitespace() || "=:/\"')]}".contains(c);
            let next = others.find(is_other).and_then(|at| others.get(at..));
            let next = next.and_then(|rest| rest.chars().next());
            !others.is_empty()
                && !others.starts_with(char::is_whitespace)
                && next.is_none_or(char::is_whitespace)
        }
        _ => false,
    };
    if goes_on {
        return None;
    }
    some(start..start + end)
}

/// The literal pieces of the word of a shell that goes on at `start`, up to the first substitution or variable.
pub(super) fn word(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut piece, mut at) = (start, start);
    let begins_quoted = text
        .get(start..)
        .is_some_and(|it| it.starts_with(['"', '\'']));
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + letter.len_utf8();
        match letter {
            '$' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
            _ if letter.is_whitespace() => break,
            // `password='x'host=y` in quotes of its own is not a word, and what follows takes effect.
            _ if begins_quoted && at > start && at == piece && !matches!(letter, '"' | '\'') => {
                return pieces;
            }
            '\\' => {
                let escaped = text.get(next..).and_then(|rest| rest.chars().next());
                at = next + escaped.map_or(0, char::len_utf8);
            }
            '"' | '\'' => {
                pieces.extend(some(piece..at));
                let inner = text.get(next..).unwrap_or_default();
                let Some(end) = closing(inner, letter) else {
                    return pieces;
                };
                let runs = (letter == '"')
                    .then(|| inner.get(..end).and_then(|inner| inner.find(['$', '`'])))
                    .flatten();
                pieces.extend(some(next..next + runs.unwrap_or(end)));
                if runs.is_some() {
                    return pieces;
                }
                at = next + end + 1;
                piece = at;
            }
            _ => at = next,
        }
    }
    pieces.extend(some(piece..at));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_a_value_ends_before_its_neighbours() {
        for (text, expected) in [
            ("P=abc rm -rf /", Some("abc")),
            ("P=abc;rm -rf /", Some("abc")),
            ("P=abc&&rm", Some("abc")),
            ("P=\"a b\",x=1", Some("a b")),
            ("P='x',role='admin'", Some("x")),
            ("P=x,target=prod,action=wipe", Some("x")),
            ("P=1,/../admin/delete/all", Some("1")),
            ("P=\\\"xyz\\\",\\\"a\\\":\\\"b\\\"", Some("xyz")),
            ("P=\"\"\"a\nb\"\"\" x", Some("a\nb")),
            ("P=$(rm -rf /) cmd", None),
            ("P=a$(rm -rf /)b cmd", Some("a")),
            ("P=", None),
            ("P= rm", None),
            ("P=a, c", Some("a")),
            ("P=a}", Some("a")),
            // Half a secret.
            ("P=a\\ pw", None),
            ("P=a\"b c\"", None),
            ("P=a,b c", None),
            ("P=make2(a)", None),
        ] {
            let found = data(text, 2).map(|place| &text[place]);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn p09_a_word_of_a_shell_ends_where_something_runs() {
        for (text, expected) in [
            ("P=abc rm", &["abc"][..]),
            ("P='a b' cmd", &["a b"]),
            ("P=ab\"c d\"e cmd", &["ab", "c d", "e"]),
            ("P='a b'host=y cmd", &["a b"]),
            ("P='a b'\"c\" cmd", &["a b", "c"]),
            ("P=a\\ pw cmd", &["a\\ pw"]),
            ("P=a,b c", &["a,b"]),
            ("P=a$(rm -rf /)b cmd", &["a"]),
            ("P=\"a$(rm -rf /) b\"", &["a"]),
            ("P=`rm`x", &[]),
        ] {
            let found: Vec<_> = word(text, 2)
                .into_iter()
                .map(|piece| &text[piece])
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
