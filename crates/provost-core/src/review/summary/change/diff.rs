//! A unified diff within bounds. Line numbers count within an edit: where in the file it lies is not known.

use similar::TextDiff;

use crate::review::summary::bounds::{head, shorten};

const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 16 * 1024;
const LONGEST_PATH: usize = 1024;
/// Texts longer than this are shown as replaced whole: finding what they share takes too long.
const MOST_COMPARED: usize = 1000;

#[derive(Default)]
pub(super) struct Diff {
    pub(super) text: String,
    pub(super) added: usize,
    pub(super) removed: usize,
    pub(super) cut: bool,
    lines: usize,
}

impl Diff {
    pub(super) fn of(path: &str) -> Self {
        let path = shorten(path, LONGEST_PATH).replace(['\n', '\r'], "␤");
        let mut diff = Self::default();
        diff.line(&format!("--- {path}"));
        diff.line(&format!("+++ {path}"));
        diff
    }

    pub(super) fn edit(&mut self, old: &str, new: &str) {
        let (before, after) = (old.lines().count(), new.lines().count());
        if old.is_empty() || new.is_empty() || before.max(after) > MOST_COMPARED {
            self.replaced(old, new);
        } else {
            self.compared(old, new);
        }
    }

    fn replaced(&mut self, old: &str, new: &str) {
        let range = |text: &str| (usize::from(!text.is_empty()), text.lines().count());
        let ((from, before), (to, after)) = (range(old), range(new));
        self.line(&format!("@@ -{from},{before} +{to},{after} @@"));
        old.lines().for_each(|line| self.change('-', line));
        new.lines().for_each(|line| self.change('+', line));
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
        if !self.cut {
            self.line(&format!("{sign}{line}"));
        }
    }

    /// Adds a line as long as there is room. What is cut once stays cut.
    pub(super) fn line(&mut self, line: &str) {
        let room = MOST_BYTES.saturating_sub(self.text.len() + 1);
        if self.cut || self.lines >= MOST_LINES || room == 0 {
            self.cut = true;
            return;
        }
        self.lines += 1;
        self.cut = line.len() > room;
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
