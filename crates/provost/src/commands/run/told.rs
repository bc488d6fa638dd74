//! How a run ended: its answer on the output, the rest beside it, or all of it as JSON.

use std::path::Path;

use provost_runner::run::{Ended, Outcome, UNAUTHORIZED};
use serde_json::{Value, json};

use super::Args;
use crate::{
    context::Context,
    output::{self, counted},
};

/// In the way that was asked for.
pub(super) fn all(
    context: &Context,
    ended: &Ended,
    journal: Option<&Path>,
    args: &Args,
) -> anyhow::Result<()> {
    match (args.watch, context.json()) {
        (true, true) => last_line(ended, journal),
        (true, false) => {
            summary(ended, journal);
            Ok(())
        }
        (false, _) => end(context, ended, journal, args.quiet),
    }
}

/// As one more line of a stream.
fn last_line(ended: &Ended, journal: Option<&Path>) -> anyhow::Result<()> {
    note_unheard(ended);
    output::json_line(&described(ended, journal))
}

/// The agent's last message goes to the output, so that it can be piped on. What is said of the run goes beside
/// it, unless it is to be quiet.
fn end(
    context: &Context,
    ended: &Ended,
    journal: Option<&Path>,
    quiet: bool,
) -> anyhow::Result<()> {
    if context.json() {
        note_unheard(ended);
        return output::json(&described(ended, journal));
    }
    let answer = ended.done.answer.trim_end();
    if !answer.is_empty() {
        output::line(output::safe_lines(answer))?;
    }
    let failed = !matches!(ended.outcome, Outcome::Complete { .. });
    if failed || !quiet {
        output::note(output::safe_lines(&how(ended)));
    }
    if quiet {
        // Whoever is not quiet has seen them.
        note_warnings(ended);
        note_refusals(ended);
    } else {
        note_details(ended, journal);
    }
    Ok(())
}

/// The same after a run that was watched: its answer was seen.
fn summary(ended: &Ended, journal: Option<&Path>) {
    output::note(output::safe_lines(&how(ended)));
    note_details(ended, journal);
}

fn how(ended: &Ended) -> String {
    match &ended.outcome {
        Outcome::Complete { stop_reason } => format!("done: {stop_reason}"),
        Outcome::Failed { reason, message } => format!("failed ({reason}): {message}"),
        Outcome::Unauthorized => format!("failed: {UNAUTHORIZED}"),
    }
}

fn note_details(ended: &Ended, journal: Option<&Path>) {
    let spent = ended.done.spent;
    output::note(format_args!(
        "{}, {}, {}, {} changed",
        counted(spent.turns, "turn"),
        counted(spent.tool_calls, "tool call"),
        counted(spent.tokens, "token"),
        counted(spent.files_changed, "file")
    ));
    if let Some(session) = &ended.done.session {
        output::note(format_args!("session: {}", output::safe_lines(session)));
    }
    note_refusals(ended);
    if ended.drained.left > 0 {
        output::note(format_args!(
            "not delivered: {}; kept beside the journal: {}",
            counted(ended.drained.left, "report"),
            ended.drained.kept
        ));
    }
    if let Some(journal) = journal {
        output::note(format_args!("journal: {}", journal.display()));
    }
}

fn note_warnings(ended: &Ended) {
    for warning in &ended.done.warnings {
        output::note(format_args!("warning: {}", output::safe_lines(warning)));
    }
}

/// Beside JSON: whoever waits for reports waits for ever, which is for people's eyes as well.
fn note_unheard(ended: &Ended) {
    if ended.outcome == Outcome::Unauthorized {
        output::note(format_args!("error: {UNAUTHORIZED}"));
    }
    note_refusals(ended);
}

fn note_refusals(ended: &Ended) {
    let reported = ended.reported;
    if let Some(refusals) = reported.refusals() {
        let lost = reported.refused_everything() || reported.end_refused;
        let what = if lost { "error" } else { "warning" };
        output::note(format_args!("{what}: {refusals}"));
    }
}

fn described(ended: &Ended, journal: Option<&Path>) -> Value {
    let done = &ended.done;
    let spent = done.spent;
    json!({
        "outcome": ended.outcome.describe(),
        "message": done.answer, "sessionId": done.session, "usage": done.usage,
        "files": done.files, "decisions": ended.decisions, "warnings": done.warnings,
        "turns": spent.turns, "toolCalls": spent.tool_calls, "tokens": spent.tokens, "cost": spent.cost,
        "filesChanged": spent.files_changed, "outputBytes": spent.output_bytes,
        "undelivered": ended.drained.left, "kept": ended.drained.kept, "refused": ended.reported.refused,
        "journal": journal,
    })
}
