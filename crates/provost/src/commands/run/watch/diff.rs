//! A change of a file in a few lines.

use similar::{ChangeTag, TextDiff};

use super::style::{Ink, Style, size};
use crate::output;

/// Beyond this it is told, and not worked out: comparing takes time, and an agent chooses what is compared.
const LARGEST: usize = 128 * 1024;
const MOST_LINES: usize = 3_000;
const CONTEXT: usize = 1;
const LONGEST: usize = 400;

/// At most `most` lines, and a line that says how many more there are.
pub(super) fn lines(old: &str, new: &str, most: usize, style: Style) -> Vec<String> {
    let too_long = |text: &str| text.lines().nth(MOST_LINES).is_some();
    if old.len() + new.len() > LARGEST || too_long(old) || too_long(new) {
        let (old, new) = (size(old.len()), size(new.len()));
        return vec![style.paint(
            Ink::Yellow,
            &format!("from {old} to {new}: too much to be shown"),
        )];
    }
    let all = changed(old, new, style);
    let more = all.len().saturating_sub(most);
    let mut shown: Vec<_> = all.into_iter().take(most).collect();
    if more > 0 {
        shown.push(style.paint(Ink::Yellow, &format!("… {more} more lines of the change")));
    }
    shown
}

fn changed(old: &str, new: &str, style: Style) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (place, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            lines.push(style.paint(Ink::Dim, "⋯"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, ink) = match change.tag() {
                ChangeTag::Delete => ('-', Ink::Red),
                ChangeTag::Insert => ('+', Ink::Green),
                ChangeTag::Equal => (' ', Ink::Dim),
            };
            let text = change.value().trim_end_matches(['\n', '\r']);
            let text = output::shorten(&text.replace('\t', "    "), LONGEST);
            let line = style.fit(&format!("{sign} {text}"), 4);
            lines.push(style.paint(ink, line.trim_end()));
        }
    }
    lines
}
