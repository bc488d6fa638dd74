//! Text that agents and strangers wrote, made fit for a mail: nothing in it hides, turns around what stands
//! next to it, or ends a header.

use std::fmt::Write as _;

use provost_core::review::{Excerpt, hides, more_lines};

/// In one line of at most `most` characters.
pub(super) fn line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let mut shown = String::new();
    for c in text.chars().take(most) {
        push(&mut shown, c);
    }
    if text.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}

/// Line breaks and tabs kept; at most so many lines and bytes of the text, and how many lines were left out.
pub(super) fn excerpt(text: &str, most_lines: usize, most_bytes: usize) -> Excerpt {
    let text = text.replace("\r\n", "\n");
    let Excerpt { text, more } = Excerpt::of(text.trim_end_matches('\n'), most_lines, most_bytes);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c => push(&mut shown, c),
        }
    }
    Excerpt { text: shown, more }
}

/// The same, with a notice where more followed.
pub(super) fn block(text: &str, most_lines: usize, most_bytes: usize) -> String {
    let Excerpt { mut text, more } = excerpt(text, most_lines, most_bytes);
    if more > 0 {
        let _ = write!(text, "\n… {}", more_lines(more));
    }
    text
}

fn push(shown: &mut String, c: char) {
    if hides(c) {
        let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
    } else {
        shown.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_in_a_line() {
        for (text, expected) in [
            ("plain — ünïcode 日本", "plain — ünïcode 日本"),
            ("a\r\nBcc: x@evil", "a Bcc: x@evil"),
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("abcdefghijklmnopqrstuvwxy", "abcdefghijklmnopqrst…"),
        ] {
            assert_eq!(line(text, 20), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_block_says_that_it_was_cut() {
        assert_eq!(block("a\r\n\tb\n", 9, 100), "a\n\tb");
        assert_eq!(block("a\rb\u{2066}c", 9, 100), "a\\u{d}b\\u{2066}c");
        let shown = block("ééé", 9, 5);
        assert_eq!(shown, "é…\n… 1 more line");
        let shown = block("a\nb\nc\nd", 2, 100);
        assert_eq!(shown, "a\nb\n… 2 more lines");
    }
}
