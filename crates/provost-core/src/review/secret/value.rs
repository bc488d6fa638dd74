//! Where a value ends that follows its name, and how it looks. A value in quotes ends at its closing quote, any
//! other at the first character that may begin something else: nothing beside a value is ever part of it.

use std::ops::Range;

const ENDS: &str = ",;&\"'()[]{}<>|$`\\";

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
    let ends = |c: char| c.is_whitespace() || c.is_control() || ENDS.contains(c);
    let end = rest.find(ends).unwrap_or(rest.len());
    let after = rest.get(end..)?;
    let next = after.chars().nth(1);
    let goes_on = match after.chars().next() {
        Some('\\') => !next.is_some_and(|c| matches!(c, '"' | '\'' | 'n' | 'r' | 't')),
        Some('"' | '\'') => next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '"' | '\'')),
        Some(',') => {
            let others = after.get(1..).unwrap_or_default();
            let others = others.split(char::is_whitespace).next().unwrap_or_default();
            !others.is_empty() && !others.contains(['=', ':', '/', '"', '\'', ')', ']', '}'])
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
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + letter.len_utf8();
        match letter {
            '$' | '`' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
            _ if letter.is_whitespace() => break,
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

/// Letters, digits and signs that mean nothing to a shell.
pub(super) fn is_plain(value: &str) -> bool {
    value
        .chars()
        .all(|c| c.is_alphanumeric() || "_.@%+=:!#^~-/".contains(c))
}

/// A path, a file or an address: it says where something happens.
pub(super) fn is_place(value: &str) -> bool {
    if value.starts_with(['/', '~', '.', '%']) || value.contains("://") {
        return true;
    }
    if value.contains('/') {
        return !is_random(value);
    }
    let extension = value.rsplit_once('.').map_or("", |(_, end)| end);
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic());
    (1..=4).contains(&extension.len()) && is_word(extension) && !looks_random(value)
}

/// Blanks and signs as a command has them.
pub(super) fn is_command_like(value: &str) -> bool {
    value.contains([';', '|', '&', '<', '>', '$', '`', '(', ')', '/', '*', '{'])
        || value
            .split_whitespace()
            .any(|word| word.starts_with(['-', '!', '~', '.']))
}

/// Letters and digits mixed, as nobody writes them in a sentence.
pub(super) fn looks_random(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    let digits = has(u8::is_ascii_digit);
    (text.len() >= 6 && digits && has(u8::is_ascii_alphabetic))
        || (text.len() >= 20
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && switches(text) >= 3)
        || (text.len() >= 16 && digits)
}

/// Letters and digits in an order that nobody chose: no word, no name, no path is like this.
pub(super) fn is_random(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.~/".contains(c);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let rare = if text.contains('/') { 3 } else { 7 };
    text.len() >= 12
        && !text.starts_with(['/', '.', '~'])
        && text.chars().all(plain)
        && digits >= 2
        && digits < text.len()
        && switches(text) * rare >= text.len()
}

/// How often neighbours are of different kinds: lower case, upper case, digits. `Word` is no switch.
fn switches(text: &str) -> usize {
    let kind = |c: u8| match c {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let pairs = text.as_bytes().windows(2).filter_map(|pair| match pair {
        [first, second] => Some((kind(*first)?, kind(*second)?)),
        _ => None,
    });
    pairs
        .filter(|(first, second)| first != second && (*first, *second) != (1, 0))
        .count()
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

    #[test]
    fn p09_words_names_and_paths_are_not_random() {
        for word in [
            "production_backup_folder",
            "production-server-backups",
            "evil-script-run",
            "evil-script-v2-run1",
            "/usr/local/bin/wipeeverythingnow",
            "home/ann/Documents/important2024",
            "important-file-2024-01",
        ] {
            assert!(!is_random(word), "{word}");
        }
        for token in ["a1B2c3D4e5F6g7H8", "0f3a9c0f3a9c0f3a9c", "3k9XqLm02Vb7Tz"] {
            assert!(is_random(token), "{token}");
        }
    }
}
