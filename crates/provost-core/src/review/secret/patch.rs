//! A patch where a command is expected, as Codex sends it. A shell would run none of the lines that are added or
//! removed: their first word is no program. So these are masked as the text that they are.

use super::{Secret, admit, find::Found};

const BEGIN: &str = "*** Begin Patch";

/// Whether the lines that begin with `+` or `-` are nothing else to a shell, either: no quote that another line opens
/// makes them part of a word.
pub(super) fn is_patch(text: &str) -> bool {
    let is_open = |line: &str| {
        let is_odd = |quote: char| line.matches(quote).count() % 2 == 1;
        is_odd('\'') || is_odd('"') || is_odd('`') || line.contains("<<")
    };
    let others = |line: &&str| !line.starts_with(['+', '-']);
    text.trim_start().starts_with(BEGIN) && !text.lines().filter(others).any(is_open)
}

/// The secrets of the lines that are added or removed.
pub(super) fn in_patch(text: &str, values: Vec<Found>) -> Vec<Secret> {
    let is_changed = |secret: &Secret| {
        let before = text.get(..secret.place.start).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let literal = text.get(secret.place.clone()).unwrap_or_default();
        let is_one_line = !literal.contains('\n') || secret.kind == "private key";
        let line = text.get(line..).unwrap_or_default();
        is_one_line && line.starts_with(['+', '-'])
    };
    let mut found = admit::in_text(text, values);
    found.retain(is_changed);
    found
}
