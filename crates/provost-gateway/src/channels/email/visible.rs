//! Text that agents and strangers wrote, made fit for a mail: nothing in it hides, turns around what stands
//! next to it, or ends a header.

use std::fmt::Write as _;

use provost_core::review::hides;

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

/// Line breaks and tabs kept; at most `most` bytes of the text, with a notice where more followed.
pub(super) fn block(text: &str, most: usize) -> String {
    let text = text.replace("\r\n", "\n");
    let end = text.floor_char_boundary(most);
    let (kept, cut) = text.split_at_checked(end).unwrap_or((&text, ""));
    let mut shown = String::with_capacity(kept.len());
    for c in kept.trim_end_matches('\n').chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c => push(&mut shown, c),
        }
    }
    if !cut.is_empty() {
        let _ = write!(
            shown,
            "\n… cut here: {} bytes more are not shown",
            cut.len()
        );
    }
    shown
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
        assert_eq!(block("a\r\n\tb\n", 100), "a\n\tb");
        assert_eq!(block("a\rb\u{2066}c", 100), "a\\u{d}b\\u{2066}c");
        let shown = block("ééé", 3);
        assert_eq!(shown, "é\n… cut here: 4 bytes more are not shown");
    }
}
