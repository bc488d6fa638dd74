//! Texts within bounds.

pub(super) use crate::review::excerpt::head;
use crate::review::hidden::{hides, is_invisible};

const MARK: &str = "…";

/// How much of an act a summary tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) parts: usize,
    pub(super) part_lines: usize,
    pub(super) part_bytes: usize,
    pub(super) diff_lines: usize,
    pub(super) diff_bytes: usize,
    /// Lines around a change that stay the same.
    pub(super) diff_context: usize,
}

impl Bounds {
    /// What is stored with a question and shown on every channel.
    pub(super) const CARD: Self = Self {
        parts: 40,
        part_lines: 12,
        part_bytes: 400,
        diff_lines: 200,
        diff_bytes: 16 * 1024,
        diff_context: 3,
    };
    /// For those who ask for all of it.
    pub(super) const NONE: Self = Self {
        parts: usize::MAX,
        part_lines: usize::MAX,
        part_bytes: usize::MAX,
        diff_lines: usize::MAX,
        diff_bytes: usize::MAX,
        diff_context: usize::MAX,
    };
}

/// At most `longest` bytes, with a mark where the rest was.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let kept = head(text, longest.saturating_sub(MARK.len()));
    format!("{kept}{MARK}")
}

/// Characters that a reader does not see, or that move the ones around them.
pub(super) fn hides_characters(text: &str) -> bool {
    // A carriage return elsewhere than at the end of a line writes over what stands before it.
    let mut chars = text.chars().peekable();
    let mut found = false;
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        found |= (hides(c) || is_invisible(c)) && !matches!(c, '\n' | '\t') && !ends_line;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcdef", 5), "ab…");
        assert_eq!(shorten("ééé", 5), "é…");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn hidden_characters_are_found() {
        assert!(hides_characters("a\u{202e}b"));
        assert!(hides_characters("a\u{1b}[2K"));
        assert!(hides_characters("rm x\rls"));
        assert!(hides_characters("rm\u{a0}x"));
        assert!(hides_characters("a\u{2028}b"));
        assert!(!hides_characters("a\tb\r\n"));
    }
}
