//! What was computed from the call.

use provost_core::card::{CommandPart, Exact};

use super::Block;
use crate::channels::telegram::visible;

const LONGEST_PATH: usize = 200;

pub(super) fn computed(exact: &Exact) -> Block {
    match exact {
        Exact::Command { parts, cut } => block(
            "🔎 What it would run, read from the call",
            String::new(),
            None,
            parts.iter().map(part).collect::<Vec<_>>().join("\n"),
            *cut,
        ),
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            cut,
        } => block(
            "🔎 What it would change, read from the call",
            changed(path.as_deref(), *files, (*added, *removed)),
            Some("diff"),
            diff.as_deref().map(visible::exact).unwrap_or_default(),
            *cut,
        ),
        Exact::Arguments { json } => block(
            "🔎 The arguments of the call",
            String::new(),
            Some("json"),
            visible::exact(json),
            false,
        ),
        Exact::Nothing => block(
            "🔎 Nothing is known but what the agent says",
            String::new(),
            None,
            String::new(),
            false,
        ),
    }
}

fn block(
    heading: &'static str,
    remark: String,
    language: Option<&'static str>,
    body: String,
    cut: bool,
) -> Block {
    Block {
        heading,
        remark,
        language,
        body,
        cut,
    }
}

/// As a shell shows it: no line of the command can begin like a risk, or like the next part.
fn part(part: &CommandPart) -> String {
    let text = part.text.as_deref().map(visible::exact);
    let text = text.as_deref().unwrap_or("(not shown)");
    let mut lines = format!("$ {}", text.replace('\n', "\n> "));
    for risk in &part.risks {
        lines.push_str("\n⚠ ");
        lines.push_str(&visible::exact(risk).replace('\n', " "));
    }
    lines
}

fn changed(path: Option<&str>, files: usize, (added, removed): (usize, usize)) -> String {
    let path = path.map_or_else(String::new, |path| {
        format!("{}: ", visible::line(path, LONGEST_PATH))
    });
    let lines = format!("{path}+{added} −{removed} lines");
    if files > 1 {
        format!("{lines}, in {files} files")
    } else {
        lines
    }
}
