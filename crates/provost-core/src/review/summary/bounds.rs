//! Texts within bounds.

use crate::review::hidden::is_invisible;

const MARK: &str = "…";

/// At most `longest` bytes, with a mark where the rest was.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let kept = head(text, longest.saturating_sub(MARK.len()));
    format!("{kept}{MARK}")
}

/// At most the first `longest` bytes, in whole characters.
pub(super) fn head(text: &str, longest: usize) -> &str {
    let end = text.floor_char_boundary(longest);
    text.get(..end).unwrap_or_default()
}

/// Characters that a reader does not see, or that move the ones around them.
pub(super) fn hides_characters(text: &str) -> bool {
    // A carriage return elsewhere than at the end of a line writes over what stands before it.
    text.replace("\r\n", "\n").chars().any(|c| {
        is_invisible(c) || is_odd_space(c) || (c.is_control() && !matches!(c, '\n' | '\t'))
    })
}

/// Looks like a space or a new line, and is neither to a shell.
fn is_odd_space(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii()
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
