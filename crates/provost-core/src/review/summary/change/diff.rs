//! A unified diff within bounds. Line numbers count within an edit: where in the file it lies is not known.

use similar::TextDiff;

use crate::review::summary::bounds::{Bounds, head, shorten};

const LONGEST_PATH: usize = 1024;
/// Texts of more lines are compared from their ends only: all that they share takes too long to find.
const MOST_COMPARED: usize = 1000;

pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// Lines that are not in the text, or not in full. What is cut once stays cut.
    pub(super) more: usize,
    lines: usize,
    bounds: Bounds,
}

impl Diff {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            text: String::new(),
            added: 0,
            removed: 0,
            more: 0,
            lines: 0,
            bounds,
        }
    }

    pub(super) fn of(path: &str, bounds: Bounds) -> Self {
        let path = shorten(path, LONGEST_PATH).replace(['\n', '\r'], "␤");
        let mut diff = Self::new(bounds);
        diff.line(&format!("--- {path}"));
        diff.line(&format!("+++ {path}"));
        diff
    }

    pub(super) fn edit(&mut self, old: &str, new: &str) {
        let (before, after) = (lines(old), lines(new));
        if old.is_empty() || new.is_empty() || before.len().max(after.len()) > MOST_COMPARED {
            self.replaced(&before, &after);
        } else {
            self.compared(old, new);
        }
    }

    /// One hunk from the first line that differs to the last.
    fn replaced(&mut self, old: &[&str], new: &[&str]) {
        let same = shared(old.iter(), new.iter());
        let (old, new) = (rest(old, same), rest(new, same));
        let tail = shared(old.iter().rev(), new.iter().rev());
        let (before, after) = (old.len() - tail, new.len() - tail);
        let start = |count: usize| same + usize::from(count > 0);
        let (from, to) = (start(before), start(after));
        self.line(&format!("@@ -{from},{before} +{to},{after} @@"));
        for line in old.iter().take(before) {
            self.change('-', line);
        }
        for line in new.iter().take(after) {
            self.change('+', line);
        }
    }

    fn compared(&mut self, old: &str, new: &str) {
        let diff = TextDiff::from_lines(old, new);
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            self.line(&hunk.header().to_string());
            for change in hunk.iter_changes() {
                let line = change.value().trim_end_matches(['\n', '\r']);
                match change.tag() {
                    similar::ChangeTag::Equal => self.line(&format!(" {line}")),
                    similar::ChangeTag::Delete => self.change('-', line),
                    similar::ChangeTag::Insert => self.change('+', line),
                }
            }
        }
    }

    fn change(&mut self, sign: char, line: &str) {
        match sign {
            '+' => self.added += 1,
            _ => self.removed += 1,
        }
        if self.more > 0 {
            self.more += 1;
        } else {
            self.line(&format!("{sign}{line}"));
        }
    }

    /// Adds a line as long as there is room.
    pub(super) fn line(&mut self, line: &str) {
        let room = self.bounds.diff_bytes.saturating_sub(self.text.len() + 1);
        if self.more > 0 || self.lines >= self.bounds.diff_lines || room == 0 {
            self.more += 1;
            return;
        }
        self.lines += 1;
        self.more = usize::from(line.len() > room);
        self.text.push_str(head(line, room));
        self.text.push('\n');
    }

    /// Takes a line that is a diff's already.
    pub(super) fn given(&mut self, line: &str) {
        match line.as_bytes() {
            [b'+', ..] => self.added += 1,
            [b'-', ..] => self.removed += 1,
            _ => {}
        }
        self.line(line);
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn rest<'a, 'b>(lines: &'a [&'b str], from: usize) -> &'a [&'b str] {
    lines.get(from..).unwrap_or_default()
}

/// How many lines are the same, from the start of both.
fn shared<'a>(
    one: impl Iterator<Item = &'a &'a str>,
    other: impl Iterator<Item = &'a &'a str>,
) -> usize {
    one.zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}
