//! How many rows a text takes on a phone, and where it is cut after some of them. Texts are counted as they are
//! shown: with what is hidden written out, and long lines wrapped.

use provost_core::review::hides;
use unicode_width::UnicodeWidthChar as _;

/// Characters of code in a row of a card, on a phone of 390 pixels.
const COLUMNS: usize = 34;
const TAB: usize = 4;

/// At least one.
pub(super) fn rows(text: &str) -> usize {
    let mut pen = Pen::default();
    for c in text.chars() {
        pen.write(c);
    }
    pen.row + 1
}

/// The text of the first rows, in bytes.
pub(super) fn end_of_rows(text: &str, rows: usize) -> usize {
    let mut pen = Pen::default();
    for (at, c) in text.char_indices() {
        pen.write(c);
        if pen.row >= rows {
            return at;
        }
    }
    text.len()
}

#[derive(Default)]
struct Pen {
    row: usize,
    column: usize,
}

impl Pen {
    fn write(&mut self, c: char) {
        if c == '\n' {
            self.row += 1;
            self.column = 0;
            return;
        }
        self.column += width(c);
        if self.column > COLUMNS {
            self.row += 1;
            self.column = width(c);
        }
    }
}

/// As [`visible`](super::visible::visible) writes it.
fn width(c: char) -> usize {
    match c {
        '\t' => TAB,
        c if hides(c) => {
            let digits = u32::from(c).checked_ilog(16).unwrap_or(0) + 1;
            "\\u{}".len() + usize::try_from(digits).unwrap_or(0)
        }
        c => c.width().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::visible::visible;

    #[test]
    fn p14_rows_are_counted_as_a_phone_shows_them() {
        for (text, expected) in [
            ("", 1),
            ("a\nb", 2),
            ("a\n\n", 3),
            (&*"a".repeat(COLUMNS), 1),
            (&*"a".repeat(COLUMNS + 1), 2),
            (&*"日".repeat(COLUMNS), 2),
            (&*"a ".repeat(5000), 10_000_usize.div_ceil(COLUMNS)),
            // Four to a row, as eight characters each.
            (&*"\u{2028}".repeat(3000), 750),
            (&*"\u{1}".repeat(3000), 500),
        ] {
            assert_eq!(rows(text), expected, "{text:.20}");
        }
    }

    #[test]
    fn p14_a_hidden_character_is_as_wide_as_its_escape() {
        for c in ['\0', '\u{7}', '\u{1b}', '\u{202e}', '\u{e0041}'] {
            assert_eq!(width(c), visible(&c.to_string()).chars().count(), "{c:?}");
        }
    }

    #[test]
    fn p14_a_text_is_cut_after_so_many_rows() {
        for (text, count, expected) in [
            ("a\nb\nc", 2, "a\nb"),
            ("a\nb", 2, "a\nb"),
            ("", 1, ""),
            (&*"é".repeat(100), 2, &*"é".repeat(2 * COLUMNS)),
        ] {
            let end = end_of_rows(text, count);
            assert_eq!(text.get(..end), Some(expected));
            assert!(rows(expected) <= count);
        }
    }
}
