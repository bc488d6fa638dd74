//! How a run ended, in a line or as JSON.

use std::path::Path;

use provost_runner::run::{Ended, Outcome};
use serde_json::{Value, json};

use crate::{
    context::Context,
    output::{self, counted},
};

/// As one more line of a stream.
pub(super) fn last_line(ended: &Ended, journal: Option<&Path>) -> anyhow::Result<()> {
    output::json_line(&described(ended, journal))
}

pub(super) fn end(context: &Context, ended: &Ended, journal: Option<&Path>) -> anyhow::Result<()> {
    let spent = ended.spent;
    if context.json() {
        return output::json(&described(ended, journal));
    }
    let how = match &ended.outcome {
        Outcome::Complete { stop_reason } => format!("done: {stop_reason}"),
        Outcome::Failed { reason, message } => format!("failed ({reason}): {message}"),
        Outcome::Unauthorized => {
            "failed: the callback does not know the token, so nothing more was sent".to_owned()
        }
    };
    output::line(output::safe_lines(&how))?;
    output::line(format_args!(
        "{}, {}, {}, {} changed",
        counted(spent.turns, "turn"),
        counted(spent.tool_calls, "tool call"),
        counted(spent.tokens, "token"),
        counted(spent.files_changed, "file")
    ))?;
    if ended.drained.left > 0 {
        output::line(format_args!(
            "not delivered: {}; kept beside the journal: {}",
            counted(ended.drained.left, "report"),
            ended.drained.kept
        ))?;
    }
    if let Some(journal) = journal {
        output::line(format_args!("journal: {}", journal.display()))?;
    }
    Ok(())
}

fn described(ended: &Ended, journal: Option<&Path>) -> Value {
    let spent = ended.spent;
    json!({
        "outcome": ended.outcome.describe(),
        "turns": spent.turns, "toolCalls": spent.tool_calls, "tokens": spent.tokens, "cost": spent.cost,
        "filesChanged": spent.files_changed, "outputBytes": spent.output_bytes,
        "undelivered": ended.drained.left, "kept": ended.drained.kept,
        "journal": journal,
    })
}
