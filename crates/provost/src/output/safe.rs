//! Text that agents wrote, made fit for a terminal: it could otherwise move the cursor, hide itself or
//! swap its order before the eyes of the person who decides.

use std::{borrow::Cow, fmt::Write as _};

use provost_core::review::hides;

/// In one line: everything that does not print is written as an escape.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    escape(text, hides)
}

/// As [`safe`], line breaks kept.
pub(crate) fn safe_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && hides(c))
}

/// At most `most` characters, in one line.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let text = safe(text);
    if text.chars().count() <= most {
        return text.into_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

fn escape(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if is_unsafe(c) => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\r' => escaped.push_str("\\r"),
            c if is_unsafe(c) => {
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_does_not_print() {
        for (text, expected) in [
            ("plain — ünïcode 日本", "plain — ünïcode 日本"),
            ("a\nb", "a\\nb"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("a\rb\tc", "a\\rb\\tc"),
        ] {
            assert_eq!(safe(text), expected);
        }
        assert_eq!(safe_lines("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("abcd", 4), "abcd");
        assert_eq!(shorten("日本語です", 3), "日本…");
    }
}
