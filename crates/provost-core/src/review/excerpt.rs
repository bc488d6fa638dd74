//! The beginning of a text, bounded in lines as well as in bytes, and how many lines were left out. Every card
//! is bounded by this, so that neither a long line nor many short ones push the buttons out of sight.

use serde::Serialize;

const MARK: &str = "…";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    pub text: String,
    /// Lines that are not in the text, or not in full.
    pub more: usize,
}

impl Excerpt {
    /// At most so many lines and bytes of the text. A line that does not fit is cut, with a mark at its end.
    pub fn of(text: &str, most_lines: usize, most_bytes: usize) -> Self {
        let total = text.lines().count();
        if total <= most_lines && text.len() <= most_bytes {
            return Self {
                text: text.to_owned(),
                more: 0,
            };
        }
        let mut kept = String::new();
        let mut shown = 0;
        for line in text.lines().take(most_lines) {
            let room = most_bytes.saturating_sub(kept.len() + usize::from(shown > 0));
            if line.len() > room {
                if room > MARK.len() {
                    separate(&mut kept, shown);
                    kept.push_str(head(line, room - MARK.len()));
                    kept.push_str(MARK);
                }
                break;
            }
            separate(&mut kept, shown);
            kept.push_str(line);
            shown += 1;
        }
        Self {
            text: kept,
            more: total - shown,
        }
    }
}

fn separate(text: &mut String, lines_before: usize) {
    if lines_before > 0 {
        text.push('\n');
    }
}

/// At most the first `longest` bytes, in whole characters.
pub(super) fn head(text: &str, longest: usize) -> &str {
    let end = text.floor_char_boundary(longest);
    text.get(..end).unwrap_or_default()
}

/// `1 more line`, `12 more lines`.
pub fn more_lines(more: usize) -> String {
    match more {
        1 => "1 more line".to_owned(),
        more => format!("{more} more lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_an_excerpt_is_bounded_in_lines_and_in_bytes() {
        for (text, lines, bytes, expected, more) in [
            ("", 3, 10, "", 0),
            ("a\nb\n", 2, 10, "a\nb\n", 0),
            ("a\nb\nc", 2, 10, "a\nb", 1),
            ("\n\n\n\n", 2, 10, "\n", 2),
            ("abcdefgh", 9, 6, "abc…", 1),
            ("ééééé", 9, 6, "é…", 1),
            ("ab\ncdefghij\nk", 9, 9, "ab\ncde…", 2),
            ("ab\ncdefghij", 9, 4, "ab", 1),
            ("a", 0, 10, "", 1),
        ] {
            let found = Excerpt::of(text, lines, bytes);
            assert_eq!(
                (found.text.as_str(), found.more),
                (expected, more),
                "{text:?}"
            );
            assert!(found.text.len() <= bytes && found.text.lines().count() <= lines);
        }
        let newlines = Excerpt::of(&"\n".repeat(3000), 60, 8192);
        assert_eq!((newlines.text.lines().count(), newlines.more), (59, 2940));
    }
}
