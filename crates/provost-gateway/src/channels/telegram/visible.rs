//! Text that agents wrote, made fit for the eyes of the person who decides: what does not print, moves what
//! stands around it or passes for a space is written as an escape.

use std::fmt::Write as _;

use provost_core::review::hides;

use super::text::{head, units};

/// More marks than that on one letter run over the lines around it.
const MARKS: usize = 2;

/// For what would be run: spaces that are none are shown, too. Line breaks stay.
pub(super) fn exact(text: &str) -> String {
    escape(text, hides)
}

/// For words: languages have spaces of their own. Line breaks stay.
pub(super) fn prose(text: &str) -> String {
    let is_space = |c: char| {
        let ends_line = c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        c.is_whitespace() && !c.is_ascii() && !ends_line
    };
    escape(text, |c| hides(c) && !is_space(c))
}

/// One line, of at most `most` UTF-16 units.
pub(super) fn line(text: &str, most: usize) -> String {
    let text = exact(text).replace('\n', "\\n");
    if units(&text) <= most {
        return text;
    }
    let mut short = head(&text, most.saturating_sub(1)).to_owned();
    short.push('…');
    short
}

fn escape(text: &str, hides: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut marks = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match c {
            '\n' | '\t' => escaped.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            c if hides(c) || marks > MARKS => {
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Combining marks, which are drawn over the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, expected) in [
            ("plain — ünïcode 日本 👍", "plain — ünïcode 日本 👍"),
            ("a\r\nb\tc", "a\nb\tc"),
            ("rm x\rls", "rm x\\u{d}ls"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("rm\u{a0}x", "rm\\u{a0}x"),
            ("a\u{2028}b", "a\\u{2028}b"),
            ("e\u{301}", "e\u{301}"),
            (
                "z\u{300}\u{300}\u{300}\u{300}",
                "z\u{300}\u{300}\\u{300}\\u{300}",
            ),
            ("tag\u{e0041}", "tag\\u{e0041}"),
        ] {
            assert_eq!(exact(text), expected, "{text:?}");
        }
        assert_eq!(prose("Bonjour\u{a0}!\u{3000}"), "Bonjour\u{a0}!\u{3000}");
        assert_eq!(prose("a\u{202e}b\u{2028}c"), "a\\u{202e}b\\u{2028}c");
    }

    #[test]
    fn a_line_is_one_line_of_that_length() {
        assert_eq!(line("a\nb", 10), "a\\nb");
        assert_eq!(line("日本語です", 3), "日本…");
    }
}
