//! Differences, line by line, with the signs kept as text.

use serde::Serialize;
use similar::TextDiff;

use super::visible::json;

/// A line of a diff.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) kind: &'static str,
    pub(super) sign: &'static str,
    pub(super) text: String,
}

/// From some arguments to others.
pub(super) fn changes(asked: &impl Serialize, permitted: &impl Serialize) -> Vec<Line> {
    let (asked, permitted) = (json(asked) + "\n", json(permitted) + "\n");
    let diff = TextDiff::from_lines(&asked, &permitted);
    lines(&diff.unified_diff().to_string())
}

/// A unified diff, line by line. A carriage return is part of its line, and seen.
pub(super) fn lines(diff: &str) -> Vec<Line> {
    let diff = diff.strip_suffix('\n').unwrap_or(diff);
    let all: Vec<_> = diff.split('\n').collect();
    let starts = |at: usize, with: &str| all.get(at).is_some_and(|line| line.starts_with(with));
    // What an agent removes may begin with dashes, too: the names of files come in twos, before a hunk.
    let names = |at: usize| starts(at, "--- ") && starts(at + 1, "+++ ") && starts(at + 2, "@@");
    let line = |(at, line): (usize, &&str)| {
        let rest = || line.get(1..).unwrap_or_default();
        let (kind, sign, text) = match line.chars().next() {
            _ if names(at) || at.checked_sub(1).is_some_and(names) => ("file", "", *line),
            // What is said about the lines, such as that the file does not end in a line break.
            Some('@' | '\\') => ("hunk", "", *line),
            Some('+') => ("added", "+", rest()),
            Some('-') => ("removed", "-", rest()),
            Some(' ') => ("same", " ", rest()),
            _ => ("same", " ", *line),
        };
        Line {
            kind,
            sign,
            text: text.to_owned(),
        }
    };
    all.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signs_of_a_diff_stay_text() {
        let shown = lines("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n\n+<script>");
        let kinds: Vec<_> = shown.iter().map(|line| (line.kind, line.sign)).collect();
        let expected = [
            ("file", ""),
            ("file", ""),
            ("hunk", ""),
            ("removed", "-"),
            ("added", "+"),
            ("same", " "),
            ("same", " "),
            ("added", "+"),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(shown[7].text, "<script>");
        let sly = lines("--- a\n+++ a\n@@ -1,2 +1 @@\n--- gone\n-x\n+++ new\n");
        let kinds: Vec<_> = sly.iter().map(|line| line.kind).collect();
        assert_eq!(
            kinds,
            ["file", "file", "hunk", "removed", "removed", "added"]
        );
        assert_eq!(sly[3].text, "-- gone");
        let said = lines("@@ -1 +1 @@\n-a\n+b\n\\ joined\n \\ joined\n");
        let kinds: Vec<_> = said.iter().map(|line| line.kind).collect();
        assert_eq!(kinds, ["hunk", "removed", "added", "hunk", "same"]);
    }
}
