//! What was computed from the call.

use provost_core::{
    card::{CommandPart, Exact},
    review::Excerpt,
};

use super::Block;
use crate::channels::telegram::visible;

const LONGEST_PATH: usize = 200;
const MOST_LINES: usize = 50;
const MOST_OTHER_LINES: usize = 12;

pub(super) fn computed(exact: &Exact) -> Block {
    match exact {
        Exact::Command { parts, more } => block(
            "🔎 What it would run, read from the call",
            String::new(),
            None,
            parts.iter().map(part).collect::<Vec<_>>().join("\n"),
            *more,
        ),
        Exact::Change {
            path,
            files,
            diff,
            added,
            removed,
            more,
        } => block(
            "🔎 What it would change, read from the call",
            changed(path.as_deref(), *files, (*added, *removed)),
            Some("diff"),
            diff.as_deref().map(visible::exact).unwrap_or_default(),
            *more,
        ),
        Exact::Arguments { json, more } => block(
            "🔎 The arguments of the call",
            String::new(),
            Some("json"),
            visible::exact(json),
            *more,
        ),
        Exact::Nothing => block(
            "🔎 Nothing is known but what the agent says",
            String::new(),
            None,
            String::new(),
            0,
        ),
    }
}

/// The arguments of which the rest says nothing.
pub(super) fn others(others: &Excerpt) -> Block {
    Block {
        most_lines: MOST_OTHER_LINES,
        ..block(
            "🔎 Its other arguments",
            String::new(),
            Some("json"),
            visible::exact(&others.text),
            others.more,
        )
    }
}

fn block(
    heading: &'static str,
    remark: String,
    language: Option<&'static str>,
    body: String,
    more: usize,
) -> Block {
    Block {
        heading,
        remark,
        language,
        body,
        most_lines: MOST_LINES,
        more,
    }
}

/// As a shell shows it: no line of the command can begin like a risk, or like the next part.
fn part(part: &CommandPart) -> String {
    let text = part.text.as_deref().map(visible::exact);
    let text = text.as_deref().unwrap_or("(not shown)");
    let mut lines = match part.skipped {
        0 => String::new(),
        1 => "… 1 step is left out here\n".to_owned(),
        skipped => format!("… {skipped} steps are left out here\n"),
    };
    lines.push_str("$ ");
    lines.push_str(&text.replace('\n', "\n> "));
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
