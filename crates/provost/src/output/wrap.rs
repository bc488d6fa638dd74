//! Lines that are longer than a terminal is wide.

use unicode_width::UnicodeWidthChar as _;

/// On terminals that are narrower, lines break as they like.
const NARROWEST: usize = 40;

/// Goes on below, behind the indent, where it is longer than a row.
pub(crate) fn wrapped(line: &str, columns: usize, indent: &str) -> String {
    let mut shown = String::new();
    let mut rest = line.to_owned();
    while let Some(end) = end_of_row(&rest, columns) {
        let cut = rest.get(..end).and_then(|row| row.trim_end().rfind(' '));
        // A word that is longer than a row is broken.
        let cut = cut.map(|at| at + 1).filter(|at| *at > indent.len() + 8);
        let (row, after) = rest.split_at(cut.unwrap_or(end));
        shown.push_str(row.trim_end());
        shown.push('\n');
        rest = format!("{indent}{after}");
    }
    shown + &rest
}

/// Where the text is cut, if it is longer than a row. Colours have no width.
fn end_of_row(text: &str, columns: usize) -> Option<usize> {
    let columns = columns.max(NARROWEST);
    let (mut used, mut in_color) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '\u{1b}' => in_color = true,
            'm' if in_color => in_color = false,
            _ if in_color => {}
            c => used += c.width().unwrap_or(0),
        }
        if used > columns {
            return Some(at);
        }
    }
    None
}
