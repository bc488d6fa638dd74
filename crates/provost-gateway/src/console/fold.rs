//! What is folded away on a page: long lists of plain lines and the rest of long ones, behind a native
//! `<details>` that says how much it is. Lines that deserve a look stay open before others. A card is bounded all
//! the same: where there are too many of them, the fold says that some are in it.

use super::{
    diff::Line,
    phone::{end_of_rows, rows},
    shown::Step,
};
use provost_core::review::{hides, more_lines};

/// Fewer rows are not worth a click.
const SHORTEST_FOLD: usize = 4;
/// Where lines are longer than this, their number alone says little.
const LONG_LINE: usize = 120;
/// What the line of a fold itself takes.
const FOLD_ROWS: usize = 2;

/// How much stands open.
#[derive(Clone, Copy, Debug)]
pub(super) enum Folding {
    /// In a list of many: so many rows on a phone, half as many again for what deserves a look, and the rest
    /// folded.
    After(usize),
    /// On a page of its own.
    Open,
}

/// Neighbours that are all open, or all folded.
#[derive(Debug, PartialEq)]
pub(super) struct Run<T> {
    pub(super) folded: bool,
    /// Some of them deserve a look.
    pub(super) marked: bool,
    pub(super) items: Vec<T>,
    rows: usize,
    lines: usize,
    /// Begins with the rest of the item before it.
    goes_on: bool,
}

/// What can be folded.
pub(super) trait Foldable: Sized {
    /// Why some of them deserve a look, after a number of lines.
    const MARK: &'static str;

    fn text(&self) -> &str;

    /// Rows that it takes besides those of its text.
    fn frame(&self) -> usize {
        0
    }

    /// Deserves a look.
    fn is_marked(&self) -> bool;

    /// The item without its text from there on, and the rest of it.
    fn split(self, at: usize) -> (Self, Self);

    fn rows(&self) -> usize {
        rows(self.text()) + self.frame()
    }
}

impl<T> Run<T> {
    /// On a phone.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

impl<T: Foldable> Run<T> {
    /// What stands on the fold.
    pub(super) fn told(&self) -> String {
        let texts = self.items.iter().map(Foldable::text);
        let count: usize = texts.map(|text| text.chars().count()).sum();
        let more = match more_lines(self.lines) {
            _ if self.goes_on && self.lines == 1 => format!("{count} more characters"),
            lines if count > self.lines * LONG_LINE => format!("{lines}, {count} characters"),
            lines => lines,
        };
        if self.marked {
            format!("{more}, {} among them", T::MARK)
        } else {
            more
        }
    }
}

pub(super) fn fold<T: Foldable>(items: Vec<T>, folding: Folding) -> Vec<Run<T>> {
    let mut runs = Runs(Vec::new());
    let Folding::After(most) = folding else {
        for item in items {
            let marked = item.is_marked();
            runs.push(item, false, marked, false);
        }
        return runs.0;
    };
    let (mut room, mut spare) = (most, most / 2);
    for item in items {
        let marked = item.is_marked();
        let between = if room == 0 && runs.is_folded() {
            FOLD_ROWS
        } else {
            0
        };
        let free = if marked {
            (room + spare).saturating_sub(between)
        } else {
            room
        };
        let (high, frame) = (item.rows(), item.frame());
        let take = |rows: usize, room: &mut usize, spare: &mut usize| {
            let of_room = rows.min(*room);
            *room -= of_room;
            *spare = spare.saturating_sub(rows - of_room);
        };
        if high <= free || (free > frame && high < free + SHORTEST_FOLD) {
            take(high + between, &mut room, &mut spare);
            runs.push(item, false, marked, false);
        } else if free > frame {
            let end = end_of_rows(item.text(), free - frame);
            let (head, rest) = item.split(end);
            (room, spare) = (0, if marked { 0 } else { spare });
            runs.push(head, false, marked, false);
            runs.push(rest, true, marked, true);
        } else {
            room = 0;
            runs.push(item, true, marked, false);
        }
    }
    for run in &mut runs.0 {
        run.folded &= run.rows >= SHORTEST_FOLD;
    }
    runs.0
}

struct Runs<T>(Vec<Run<T>>);

impl<T: Foldable> Runs<T> {
    fn is_folded(&self) -> bool {
        self.0.last().is_some_and(|run| run.folded)
    }

    fn push(&mut self, item: T, folded: bool, marked: bool, goes_on: bool) {
        let lines = item.text().split('\n').count();
        let rows = item.rows();
        match self.0.last_mut().filter(|run| run.folded == folded) {
            Some(run) => {
                run.rows += rows;
                run.lines += lines;
                run.marked |= marked;
                run.items.push(item);
            }
            None => self.0.push(Run {
                folded,
                marked,
                items: vec![item],
                rows,
                lines,
                goes_on,
            }),
        }
    }
}

/// Whether some of what deserves a look is folded away.
pub(super) fn folds_marked<T>(runs: &[Run<T>]) -> bool {
    runs.iter().any(|run| run.folded && run.marked)
}

/// Whether something is folded away, whatever it is.
pub(super) fn folds_any<T>(runs: &[Run<T>]) -> bool {
    runs.iter().any(|run| run.folded)
}

fn cut(mut text: String, at: usize) -> (String, String) {
    let rest = text.get(at..).unwrap_or_default().to_owned();
    text.truncate(text.len() - rest.len());
    (text, rest)
}

/// Something in it would not be seen, or stands as an escape of JSON because of that.
fn hides_some(line: &str) -> bool {
    let is_escape = |(at, _): (usize, &str)| {
        let digits = line.get(at + 2..at + 6).unwrap_or_default();
        digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    line.chars().any(|c| hides(c) && c != '\t') || line.match_indices("\\u").any(is_escape)
}

const HIDDEN: &str = "hidden characters";

impl Foldable for String {
    const MARK: &'static str = HIDDEN;

    fn text(&self) -> &str {
        self
    }

    fn is_marked(&self) -> bool {
        hides_some(self)
    }

    fn split(self, at: usize) -> (Self, Self) {
        cut(self, at)
    }
}

impl Foldable for Line {
    const MARK: &'static str = HIDDEN;

    fn text(&self) -> &str {
        &self.text
    }

    fn is_marked(&self) -> bool {
        hides_some(&self.text)
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (text, rest) = cut(self.text, at);
        let (kind, sign) = (self.kind, "");
        let rest = Self {
            kind,
            sign,
            text: rest,
        };
        (Self { text, ..self }, rest)
    }
}

impl Foldable for Step {
    const MARK: &'static str = "risky steps";

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// The space around it, and its badges, two in a row.
    fn frame(&self) -> usize {
        1 + self.risks.len() / 2
    }

    fn is_marked(&self) -> bool {
        !self.risks.is_empty()
    }

    fn split(self, at: usize) -> (Self, Self) {
        let (text, rest) = cut(self.text.unwrap_or_default(), at);
        let head = Self {
            text: Some(text),
            ..self
        };
        let rest = Self {
            text: Some(rest),
            risks: Vec::new(),
            skipped: 0,
        };
        (head, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AFTER: Folding = Folding::After(8);

    fn told(items: Vec<String>, folding: Folding) -> Vec<(bool, String)> {
        let runs = fold(items, folding);
        let told = runs.iter().map(|run| (run.folded, run.told()));
        told.collect()
    }

    fn open_rows(runs: &[Run<String>]) -> usize {
        let open = runs.iter().filter(|run| !run.folded);
        open.map(|run| run.rows).sum()
    }

    #[test]
    fn p14_plain_lines_are_folded_and_those_that_deserve_a_look_stay() {
        let folds = |count: usize, marked: &[usize], folding| {
            let line = |at| {
                if marked.contains(&at) {
                    "\u{202e}"
                } else {
                    "a"
                }
            };
            let lines = (0..count).map(|at| line(at).to_owned()).collect();
            let runs = fold(lines, folding);
            let told = runs.iter().map(|run| (run.folded, run.items.len()));
            told.collect::<Vec<_>>()
        };
        assert_eq!(folds(0, &[], AFTER), []);
        assert_eq!(folds(8, &[], AFTER), [(false, 8)]);
        assert_eq!(folds(11, &[], AFTER), [(false, 8), (false, 3)]);
        assert_eq!(folds(30, &[], AFTER), [(false, 8), (true, 22)]);
        assert_eq!(
            folds(40, &[20], AFTER),
            [(false, 8), (true, 12), (false, 1), (true, 19)]
        );
        assert_eq!(folds(400, &[], Folding::Open), [(false, 400)]);
    }

    #[test]
    fn p14_whatever_the_lines_are_a_bounded_number_of_rows_stands_open() {
        let lines = |text: &str, count: usize| vec![text.to_owned(); count];
        for (items, end) in [
            (lines(&"a".repeat(2000), 1), "1728 more characters"),
            (lines(&"a ".repeat(5000), 1), "9728 more characters"),
            (
                lines(&"\u{2028}".repeat(3000), 1),
                "2952 more characters, hidden characters among them",
            ),
            (
                lines(&"a".repeat(2000), 16),
                "16 more lines, 31728 characters",
            ),
            (
                lines(&"\u{1}".repeat(50), 60),
                "59 more lines, hidden characters among them",
            ),
            (lines("\u{2028}", 3000), ", hidden characters among them"),
        ] {
            let runs = fold(items.clone(), AFTER);
            assert!(open_rows(&runs) <= 16, "{runs:?}");
            let last = told(items.clone(), AFTER).pop();
            let (folded, words) = last.unwrap();
            assert!(folded && words.ends_with(end), "{words}");
            let all: String = runs.iter().flat_map(|run| &run.items).cloned().collect();
            assert_eq!(all, items.concat(), "nothing is lost");
            assert_eq!(folds_marked(&runs), end.contains("hidden"));
        }
    }

    #[test]
    fn p14_escapes_of_json_deserve_a_look_as_what_they_stand_for_does() {
        for (line, expected) in [
            ("plain\t", false),
            ("a\u{202e}b", true),
            (r#""a\u202eb""#, true),
            (r#""\u0001""#, true),
            (r#""C:\\users""#, false),
            (r"\u12", false),
        ] {
            assert_eq!(hides_some(line), expected, "{line:?}");
        }
    }

    #[test]
    fn p14_what_is_a_little_too_long_is_not_cut() {
        let runs = fold(vec!["a".repeat(34 * 10)], AFTER);
        assert_eq!((runs.len(), runs[0].folded), (1, false));
    }
}
