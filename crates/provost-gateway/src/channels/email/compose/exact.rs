//! What was computed from the call itself, apart from what its agent says.

use provost_core::card::{Card, CommandPart, Exact};

use super::page::{Block, Page};
use crate::channels::email::visible;

const LONGEST: usize = 16 * 1024;
const MOST_LINES: usize = 150;
const LONGEST_OTHERS: usize = 2 * 1024;
const MOST_OTHER_LINES: usize = 20;
const LONGEST_RISK: usize = 200;
const MOST_RISKS: usize = 20;

/// Says how many lines are left out.
pub(super) fn add(page: &mut Page, card: &Card) -> usize {
    let mut more = match &card.exact {
        Exact::Command { parts, more } => {
            page.heading("What it would run");
            more + command(page, parts)
        }
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            more,
        } => {
            page.heading("What it would change");
            page.push(Block::Quoted(changed(
                path.as_deref(),
                *files,
                *added,
                *removed,
            )));
            more + diff
                .as_ref()
                .map_or(0, |diff| quoted(page, diff, MOST_LINES, LONGEST))
        }
        Exact::Arguments { json, more } => {
            page.heading("Its arguments");
            more + quoted(page, json, MOST_LINES, LONGEST)
        }
        Exact::Nothing => 0,
    };
    if let Some(others) = &card.other_arguments {
        page.heading("Its other arguments");
        more += others.more + quoted(page, &others.text, MOST_OTHER_LINES, LONGEST_OTHERS);
    }
    risks(page, &card.risks);
    more
}

fn quoted(page: &mut Page, text: &str, most_lines: usize, most_bytes: usize) -> usize {
    let excerpt = visible::excerpt(text, most_lines, most_bytes);
    if !excerpt.text.is_empty() {
        page.push(Block::Quoted(excerpt.text));
    }
    excerpt.more
}

/// What the agent would run stands behind the mark; what we say of it does not, and cannot be forged.
fn command(page: &mut Page, parts: &[CommandPart]) -> usize {
    let (mut bytes, mut lines, mut more) = (LONGEST, MOST_LINES, 0);
    for part in parts {
        match part.skipped {
            0 => {}
            1 => page.text("1 step is left out here."),
            skipped => page.text(format!("{skipped} steps are left out here.")),
        }
        let text = part.text.as_deref().unwrap_or("(not shown)");
        more += quoted(page, text, lines, bytes);
        bytes = bytes.saturating_sub(text.len());
        lines = lines.saturating_sub(text.lines().count());
        if !part.risks.is_empty() {
            let risks = part.risks.join(", ");
            page.text(format!("Risk: {}", visible::line(&risks, LONGEST_RISK)));
        }
    }
    more
}

fn changed(path: Option<&str>, files: usize, added: usize, removed: usize) -> String {
    let path = path.map(|path| visible::line(path, LONGEST_RISK));
    let what = path.unwrap_or_else(|| format!("files: {files}"));
    format!("{what} (+{added} -{removed} lines)")
}

fn risks(page: &mut Page, risks: &[String]) {
    if risks.is_empty() {
        return;
    }
    page.heading("Risks");
    let lines = risks
        .iter()
        .take(MOST_RISKS)
        .map(|risk| visible::line(risk, LONGEST_RISK));
    page.push(Block::Quoted(lines.collect::<Vec<_>>().join("\n")));
}
