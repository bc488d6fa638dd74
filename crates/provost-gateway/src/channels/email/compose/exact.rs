//! What was computed from the call itself, apart from what its agent says.

use provost_core::card::{Card, CommandPart, Exact};

use super::page::{Block, Page};
use crate::channels::email::visible;

const LONGEST: usize = 16 * 1024;
const LONGEST_RISK: usize = 200;
const MOST_PARTS: usize = 50;
const MOST_RISKS: usize = 20;

pub(super) fn add(page: &mut Page, card: &Card) {
    match &card.exact {
        Exact::Command { parts, cut } => {
            page.heading("What it would run");
            page.push(Block::Quoted(command(parts)));
            notice(page, *cut || parts.len() > MOST_PARTS);
        }
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            cut,
        } => {
            page.heading("What it would change");
            page.push(Block::Quoted(changed(
                path.as_deref(),
                *files,
                *added,
                *removed,
            )));
            if let Some(diff) = diff {
                page.push(Block::Quoted(visible::block(diff, LONGEST)));
            }
            notice(page, *cut);
        }
        Exact::Arguments { json } => {
            page.heading("Its arguments");
            page.push(Block::Quoted(visible::block(json, LONGEST)));
        }
        Exact::Nothing => {}
    }
    risks(page, &card.risks);
}

fn command(parts: &[CommandPart]) -> String {
    let mut lines = String::new();
    for part in parts.iter().take(MOST_PARTS) {
        lines.push_str(part.text.as_deref().unwrap_or("(not shown)"));
        lines.push('\n');
        for risk in part.risks.iter().take(MOST_RISKS) {
            lines.push_str("    risk: ");
            lines.push_str(risk);
            lines.push('\n');
        }
    }
    visible::block(&lines, LONGEST)
}

fn changed(path: Option<&str>, files: usize, added: usize, removed: usize) -> String {
    let path = path.map(|path| visible::line(path, LONGEST_RISK));
    let what = path.unwrap_or_else(|| format!("files: {files}"));
    format!("{what} (+{added} -{removed} lines)")
}

fn notice(page: &mut Page, cut: bool) {
    if cut {
        page.text("It is longer than that: this is not all of it.");
    }
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
