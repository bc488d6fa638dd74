//! A tool call: a line when it begins, a line when it ends, and a little of what came of it.

use std::time::Duration;

use super::{
    diff,
    fields::{Fields, places, words},
    style::{Ink, Style, columns, size},
};
use crate::output;

const TITLE: usize = 300;
const OUTPUT_LINES: usize = 6;
const FAILURE_LINES: usize = 12;
const DIFF_LINES: usize = 16;
/// Of output that is looked at for its first lines.
const LOOKED_AT: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Tool {
    kind: String,
    title: String,
    status: String,
    places: Vec<String>,
    /// Whether its beginning was shown.
    begun: bool,
    diff_shown: bool,
    since: Option<i64>,
}

impl Tool {
    /// What is to be shown, now that this is known of it.
    pub(super) fn update(&mut self, at: i64, fields: &Fields<'_>, style: Style) -> Vec<String> {
        let was_over = self.is_over();
        self.take(at, fields);
        let mut lines = Vec::new();
        if was_over {
            return lines;
        }
        if !self.begun && !self.is_over() && self.is_described(fields) {
            self.begun = true;
            lines.push(self.line(Ink::Cyan, "▸", "", style));
        }
        if self.begun || self.is_over() {
            let diffs = self.diffs(fields, style);
            if self.is_over() {
                lines.push(self.end(at, style));
                if diffs.is_empty() {
                    lines.extend(self.output(fields, style));
                }
            }
            lines.extend(diffs);
        }
        lines
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(&*self.status, "completed" | "failed" | "cancelled")
    }

    /// Some agents announce a call before they know what it will be: it is shown when there is something.
    fn is_described(&self, fields: &Fields<'_>) -> bool {
        let says = |name: &str| {
            fields
                .raw(name)
                .is_some_and(|raw| !matches!(raw.get(), "{}" | "[]"))
        };
        let pending = matches!(&*self.status, "" | "pending");
        !pending || says("rawInput") || says("content") || !self.places.is_empty()
    }

    fn take(&mut self, at: i64, fields: &Fields<'_>) {
        self.since.get_or_insert(at);
        let set = |own: &mut String, name: &str, most: usize| {
            if let Some(text) = fields.short(name, most) {
                *own = text;
            }
        };
        set(&mut self.kind, "kind", 20);
        set(&mut self.title, "title", TITLE);
        set(&mut self.status, "status", 20);
        let places = places(fields);
        if !places.is_empty() {
            self.places = places;
        }
    }

    fn line(&self, ink: Ink, sign: &str, after: &str, style: Style) -> String {
        let kind = if self.kind.is_empty() {
            "tool"
        } else {
            &self.kind
        };
        let untitled = self.title.is_empty();
        let title = if untitled { "(no title)" } else { &self.title };
        let places = self
            .places
            .iter()
            .filter(|place| !title.contains(place.as_str()));
        let places: Vec<_> = places.map(String::as_str).collect();
        let mut rest = title.to_owned();
        if !places.is_empty() {
            rest.push_str("  ");
            rest.push_str(&places.join(", "));
        }
        let taken = columns(sign) + columns(kind) + columns(after) + 4;
        let rest = style.fit(&rest, taken);
        let (sign, kind) = (style.paint(ink, sign), style.paint(Ink::Bold, kind));
        let after = style.paint(Ink::Dim, after);
        format!("{sign} {kind}  {rest}  {after}")
            .trim_end()
            .to_owned()
    }

    fn end(&self, at: i64, style: Style) -> String {
        let took = at.saturating_sub(self.since.unwrap_or(at));
        let took = Duration::from_millis(u64::try_from(took).unwrap_or(0));
        let took = format!("{:.1} s", took.as_secs_f64());
        match &*self.status {
            "completed" => self.line(Ink::Green, "✓", &took, style),
            status => self.line(Ink::Red, "✗", &format!("{status}, {took}"), style),
        }
    }

    fn diffs(&mut self, fields: &Fields<'_>, style: Style) -> Vec<String> {
        if self.diff_shown {
            return Vec::new();
        }
        let lines = diffs(fields, DIFF_LINES, style);
        self.diff_shown = !lines.is_empty();
        lines
    }

    fn output(&self, fields: &Fields<'_>, style: Style) -> Vec<String> {
        let most = match &*self.status {
            "completed" => OUTPUT_LINES,
            _ => FAILURE_LINES,
        };
        let blocks = fields.list("content");
        let blocks = blocks.iter().map(|block| Fields::read(block));
        let said: Vec<_> = blocks.map(|block| said(&block)).collect();
        let said = said.join("\n");
        let start = said
            .get(..said.floor_char_boundary(LOOKED_AT))
            .unwrap_or(&said);
        let all = start.lines().map(str::trim_end);
        let mut all = all.filter(|line| !line.is_empty() && !line.starts_with("```"));
        let line = |line: &str| {
            let line = output::shorten(&line.replace('\t', "    "), TITLE);
            style.paint(Ink::Dim, &format!("  {}", style.fit(&line, 2)))
        };
        let mut lines: Vec<_> = all.by_ref().take(most).map(line).collect();
        let more = all.count();
        if said.len() > LOOKED_AT {
            lines.push(line(&format!("… {} in all", size(said.len()))));
        } else if more > 0 {
            lines.push(line(&format!("… {more} more lines")));
        }
        lines
    }
}

/// A part of a call's content that is not a change.
fn said(block: &Fields<'_>) -> String {
    match block.text("type").as_deref() {
        Some("content") => words(&block.inner("content")),
        Some("terminal" | "diff") | None => String::new(),
        Some(_) => words(block),
    }
}

/// The changes in a call's content: at most so many lines of each, of the first few.
pub(super) fn diffs(fields: &Fields<'_>, most: usize, style: Style) -> Vec<String> {
    const FILES: usize = 4;
    let blocks = fields.list("content");
    let changes = blocks.iter().map(|block| Fields::read(block));
    let changes: Vec<_> = changes
        .filter(|block| block.text("type").as_deref() == Some("diff"))
        .collect();
    let mut lines = Vec::new();
    for change in changes.iter().take(FILES) {
        let path = change.short("path", TITLE).unwrap_or_default();
        let old = change.text("oldText");
        let new = change.text("newText").unwrap_or_default();
        let made = if old.is_none() { " (new)" } else { "" };
        let heading = style.fit(&format!("{path}{made}"), 2);
        lines.push(format!("  {}", style.paint(Ink::Bold, &heading)));
        let changed = diff::lines(&old.unwrap_or_default(), &new, most, style);
        lines.extend(
            changed
                .into_iter()
                .map(|line| format!("  {line}").trim_end().to_owned()),
        );
    }
    if changes.len() > FILES {
        let more = format!("  … and {} more files", changes.len() - FILES);
        lines.push(style.paint(Ink::Yellow, &more));
    }
    lines
}
