//! The whole act, for those who ask for it: every step, every line of a change, every argument. It is computed
//! from the stored question, and read in pages, so that no act is too long to be read.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{CommandPart, claimed_words, pretty};
use crate::{
    approval::Question,
    review::{Act, Part, Summary, mask_map, mask_some, not_shown, redact_map, summarize_whole},
    trace::view::Exposure,
};

/// Of one page.
const PAGE_LINES: usize = 500;
const PAGE_BYTES: usize = 64 * 1024;
/// A longer line is told in pieces.
const LONGEST_PIECE: usize = 4 * 1024;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Whole {
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub title: &'static str,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    Steps(Vec<CommandPart>),
    /// A unified diff, or a patch.
    Diff(String),
    Text(String),
}

/// A page of it.
#[derive(Debug, PartialEq)]
pub struct WholePage<'a> {
    /// Counted from one.
    pub number: usize,
    pub pages: usize,
    /// On all pages.
    pub lines: usize,
    pub rows: Vec<Row<'a>>,
}

/// A line, or a piece of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// Which section it is of.
    pub section: usize,
    pub text: &'a str,
    /// Goes on with the step or the line before it.
    pub goes_on: bool,
    /// Of the step that begins here.
    pub risks: &'a [String],
}

impl Whole {
    pub fn of(question: &Question, exposure: Exposure) -> Self {
        let hidden = exposure == Exposure::Structure;
        let sections = match claimed_words(question, hidden) {
            Some((title, preview)) => vec![
                text("What the agent asks", title),
                text("What it would do, in its own words", preview),
            ],
            None if hidden => vec![text(
                "The arguments, without their content",
                pretty(&redact_map(&question.params)),
            )],
            None => call(question),
        };
        let is_empty = |section: &Section| match &section.body {
            Body::Steps(steps) => steps.is_empty(),
            Body::Diff(text) | Body::Text(text) => text.is_empty(),
        };
        let mut whole = Self { sections };
        whole.sections.retain(|section| !is_empty(section));
        whole
    }

    pub fn lines(&self) -> usize {
        self.rows().count()
    }

    /// The page of that number, or the last one.
    pub fn page(&self, wanted: usize) -> WholePage<'_> {
        let (mut number, mut lines) = (1, 0);
        let mut rows: Vec<Row<'_>> = Vec::new();
        let (mut on_page, mut bytes) = (0, 0);
        for row in self.rows() {
            if on_page > 0 && (on_page == PAGE_LINES || bytes + row.text.len() > PAGE_BYTES) {
                number += 1;
                (on_page, bytes) = (0, 0);
                if number <= wanted {
                    rows.clear();
                }
            }
            on_page += 1;
            lines += 1;
            bytes += row.text.len();
            if number <= wanted {
                rows.push(row);
            }
        }
        WholePage {
            number: wanted.clamp(1, number),
            pages: number,
            lines,
            rows,
        }
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let sections = self.sections.iter().enumerate();
        sections.flat_map(|(at, section)| section.rows(at))
    }

    /// For a terminal or a plain page. No line of an act can begin like a title, a risk or another step.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for row in self.rows() {
            let Some(section) = self.sections.get(row.section) else {
                continue;
            };
            if last != Some(row.section) {
                let gap = if last.is_some() { "\n" } else { "" };
                let _ = writeln!(text, "{gap}{}:", section.title);
                last = Some(row.section);
            }
            let mark = match (&section.body, row.goes_on) {
                (Body::Steps(_), false) => "$ ",
                (Body::Steps(_), true) => "> ",
                _ => "| ",
            };
            let _ = writeln!(text, "{mark}{}", row.text);
            for risk in row.risks {
                let _ = writeln!(text, "! {risk}");
            }
        }
        text
    }
}

impl Section {
    fn rows(&self, section: usize) -> Box<dyn Iterator<Item = Row<'_>> + '_> {
        let row = move |text, goes_on, risks| Row {
            section,
            text,
            goes_on,
            risks,
        };
        match &self.body {
            Body::Steps(steps) => Box::new(steps.iter().flat_map(move |step| {
                let text = step.text.as_deref().unwrap_or("(not shown)");
                let pieces = text.split('\n').flat_map(pieces).enumerate();
                pieces.map(move |(at, (piece, _))| {
                    let risks: &[String] = if at == 0 { &step.risks } else { &[] };
                    row(piece, at > 0, risks)
                })
            })),
            Body::Diff(text) | Body::Text(text) => {
                let lines = text.lines().flat_map(pieces);
                Box::new(lines.map(move |(piece, goes_on)| row(piece, goes_on, &[])))
            }
        }
    }
}

/// A line in pieces, and whether a piece goes on with the one before it. An empty line is one empty piece.
fn pieces(line: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = Some(line);
    let mut first = true;
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let end = text.floor_char_boundary(LONGEST_PIECE);
        let (piece, left) = text.split_at_checked(end).unwrap_or((text, ""));
        rest = Some(left).filter(|left| !left.is_empty());
        Some((piece, !std::mem::replace(&mut first, false)))
    })
}

fn text(title: &'static str, text: String) -> Section {
    Section {
        title,
        body: Body::Text(text),
    }
}

fn call(question: &Question) -> Vec<Section> {
    let params = &question.params;
    let masked = mask_map(params);
    // The act is taken apart as it is and masked then: a mask is no command, and would be read as another one.
    let whole = summarize_whole(&question.tool, params).map(|it| it.masked(params));
    let (Some(stored), Some(whole)) = (&question.summary, whole) else {
        return vec![text("The arguments of the call", pretty(&masked))];
    };
    let others = mask_some(&not_shown(params, stored), params);
    let mut sections = match whole.act {
        Act::Command { parts } => command(&masked, stored, parts),
        Act::Change { diff, .. } => vec![Section {
            title: "What it would change",
            body: Body::Diff(diff.unwrap_or_default()),
        }],
    };
    if !others.is_empty() {
        sections.push(text("Other arguments of the call", pretty(&others)));
    }
    sections
}

fn command(params: &Map<String, Value>, stored: &Summary, parts: Vec<Part>) -> Vec<Section> {
    let steps = with_stored_risks(stored, parts);
    let written = ["command", "cmd"].iter().filter_map(|name| {
        let written = params.get(*name)?;
        let shown =
            |text: &str| matches!(&*steps, [step] if step.text.as_deref() == Some(text.trim()));
        match written {
            Value::String(text) if !shown(text) => Some(text.clone()),
            Value::Array(_) => Some(pretty(written)),
            _ => None,
        }
    });
    let written: Vec<_> = written
        .map(|written| text("The command as it was written", written))
        .collect();
    let mut sections = vec![Section {
        title: "What it would run, step by step",
        body: Body::Steps(steps),
    }];
    sections.extend(written);
    sections
}

/// What a step risks was computed with the folder of the project, which is known only then.
fn with_stored_risks(stored: &Summary, parts: Vec<Part>) -> Vec<CommandPart> {
    let known = match &stored.act {
        Act::Command { parts } => parts.as_slice(),
        Act::Change { .. } => &[],
    };
    let mut known = known.iter().peekable();
    let mut next = known.peek().map(|part| part.skipped);
    let mut steps = Vec::new();
    for (at, mut part) in parts.into_iter().enumerate() {
        if next == Some(at) {
            if let Some(stored) = known.next() {
                part.risks.clone_from(&stored.risks);
            }
            next = known.peek().map(|part| at + 1 + part.skipped);
        } else {
            part.risks.retain(|risk| stored.risks.contains(risk));
        }
        steps.push(CommandPart::of(part));
    }
    steps
}
