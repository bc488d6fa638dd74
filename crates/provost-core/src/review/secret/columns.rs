//! `INSERT INTO users (email, password) VALUES ('a', '…')`: the names stand in one list, and the values in others.

use super::{find::Found, kind_of};
use crate::review::names::is_secret;

/// So many rows are read, and so many letters of each.
const MOST_ROWS: usize = 100;
const LONGEST: usize = 2048;

/// The secrets of the rows from `start` on, behind the bracket of the first.
pub(super) fn values(text: &str, columns: &str, start: usize, found: &mut Vec<Found>) {
    let columns: Vec<&str> = columns
        .split(',')
        .map(|column| column.trim().trim_matches(['"', '`', '[', ']']))
        .collect();
    if !columns.iter().any(|column| is_secret(column)) {
        return;
    }
    let mut at = start;
    for _ in 0..MOST_ROWS {
        let Some((items, end)) = row(text, at) else {
            return;
        };
        for (column, item) in columns.iter().zip(items) {
            if is_secret(column) && text.get(item..).is_some_and(|it| it.starts_with('\'')) {
                found.push(Found::after(text, item, kind_of(column), ""));
            }
        }
        let rest = text.get(end..).unwrap_or_default();
        let next = rest.trim_start().strip_prefix(',').map(str::trim_start);
        let Some(next) = next.and_then(|rest| rest.strip_prefix('(')) else {
            return;
        };
        at = text.len() - next.len();
    }
}

/// Where the items of a row begin, and where it ends behind its bracket.
fn row(text: &str, start: usize) -> Option<(Vec<usize>, usize)> {
    let far = text.floor_char_boundary(start + LONGEST);
    let (mut items, mut quoted, mut begins) = (Vec::new(), false, true);
    for (offset, letter) in text.get(start..far)?.char_indices() {
        let at = start + offset;
        if begins && !letter.is_whitespace() {
            items.push(at);
            begins = false;
        }
        match letter {
            '\'' => quoted = !quoted,
            ',' if !quoted => begins = true,
            ')' if !quoted => return Some((items, at + 1)),
            _ => {}
        }
    }
    None
}
