//! A unified diff within bounds. Line numbers count within an edit: where in the file it lies is not known.

use similar::{ChangeTag, TextDiff};

use super::seams::seams;
use crate::review::summary::bounds::{Bounds, head, shorten};

const LONGEST_PATH: usize = 1024;
/// Texts of more lines are compared from their ends only: all that they share takes too long to find.
const MOST_COMPARED: usize = 1000;

pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: usize,
    pub(super) removed: usize,
    /// Lines that are not in the text, or not in full. What is cut once stays cut.
    cut: usize,
    /// Lines that stay the same, and stand too far from what changes to be shown. A tool may still write them.
    unchanged: usize,
    lines: usize,
    bounds: Bounds,
}

impl Diff {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            text: String::new(),
            added: 0,
            removed: 0,
            cut: 0,
            unchanged: 0,
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

    /// How many lines are left out.
    pub(super) fn more(&self) -> usize {
        self.cut + self.unchanged
    }

    pub(super) fn edit(&mut self, old: &str, new: &str) {
        let (before, after) = (lines(old), lines(new));
        if old.is_empty() || new.is_empty() || before.len().max(after.len()) > MOST_COMPARED {
            self.replaced(&before, &after);
        } else {
            self.compared(&before, &after);
        }
        for seam in seams(old, new) {
            self.line(&format!("\\ {seam}"));
        }
    }

    /// One hunk from the first line that differs to the last, and some lines around it.
    fn replaced(&mut self, old: &[&str], new: &[&str]) {
        let same = shared(old.iter(), new.iter());
        let tail = shared(rest(old, same).iter().rev(), rest(new, same).iter().rev());
        let before = same.min(self.bounds.diff_context);
        let after = tail.min(self.bounds.diff_context);
        let from = same - before;
        let count = |lines: &[&str]| lines.len() - from - (tail - after);
        let start = |count: usize| from + usize::from(count > 0);
        let (removed, added) = (count(old), count(new));
        let (first, to) = (start(removed), start(added));
        self.line(&format!("@@ -{first},{removed} +{to},{added} @@"));
        for line in rest(old, from).iter().take(before) {
            self.line(&format!(" {}", shown(line)));
        }
        for line in rest(old, same).iter().take(old.len() - same - tail) {
            self.change('-', line);
        }
        for line in rest(new, same).iter().take(new.len() - same - tail) {
            self.change('+', line);
        }
        for line in rest(new, new.len() - tail).iter().take(after) {
            self.line(&format!(" {}", shown(line)));
        }
        self.unchanged += from + tail - after;
    }

    fn compared(&mut self, old: &[&str], new: &[&str]) {
        let diff = TextDiff::from_slices(old, new);
        let all = diff.iter_all_changes();
        let mut unchanged = all.filter(|it| it.tag() == ChangeTag::Equal).count();
        let radius = self.bounds.diff_context.min(unchanged);
        for hunk in diff.unified_diff().context_radius(radius).iter_hunks() {
            self.line(&hunk.header().to_string());
            for change in hunk.iter_changes() {
                let line = change.value();
                match change.tag() {
                    ChangeTag::Equal => {
                        unchanged = unchanged.saturating_sub(1);
                        self.line(&format!(" {}", shown(line)));
                    }
                    ChangeTag::Delete => self.change('-', line),
                    ChangeTag::Insert => self.change('+', line),
                }
            }
        }
        self.unchanged += unchanged;
    }

    fn change(&mut self, sign: char, line: &str) {
        match sign {
            '+' => self.added += 1,
            _ => self.removed += 1,
        }
        self.line(&format!("{sign}{}", shown(line)));
    }

    /// Adds a line as long as there is room.
    pub(super) fn line(&mut self, line: &str) {
        let room = self.bounds.diff_bytes.saturating_sub(self.text.len() + 1);
        if self.cut > 0 || self.lines >= self.bounds.diff_lines || room == 0 {
            self.cut += 1;
            return;
        }
        self.lines += 1;
        self.cut = usize::from(line.len() > room);
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

/// With their ends, so that a line that ends differs from one that goes on. A carriage return is part of its line.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn shown(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
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
