//! `provost policy replay`: a policy over recorded decisions, and which of them would change.

mod recorded;

use std::path::PathBuf;

use provost_core::policy::replay::{Replayed, replay};
use serde_json::json;

use crate::{commands::traces::SpanArgs, context::Context, exit::Exit, output, table::Table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    span: SpanArgs,
    /// At most this many decisions, the newest
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    limit: usize,
    /// An export to read the decisions from, instead of the running gateway
    #[arg(long, value_name = "EXPORT")]
    from: Option<PathBuf>,
    /// Exit with 1 if any decision would change
    #[arg(long)]
    fail_on_change: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let policies = context.policies()?;
    let span = args.span.read(context)?;
    let decisions = match &args.from {
        Some(file) => recorded::from_export(file, span, args.limit)?,
        None => recorded::from_gateway(&context.client()?, span, args.limit).await?,
    };
    let replayed = replay(&decisions, &policies);
    if context.json() {
        output::json(&json!(replayed))?;
    } else {
        print(&replayed)?;
    }
    Ok(Exit::yes_or_no(
        replayed.changed.is_empty() || !args.fail_on_change,
    ))
}

fn print(replayed: &Replayed) -> anyhow::Result<()> {
    if !replayed.changed.is_empty() {
        let mut table = Table::new(["trace", "agent", "tool", "was", "would be", "rule"]);
        for change in &replayed.changed {
            table.row([
                &change.trace_id,
                &change.agent,
                &change.tool,
                &change.old,
                &change.new,
                &change.rule,
            ]);
        }
        output::line(table)?;
        output::line("")?;
        let mut table = Table::new(["was", "would be", "decisions"]);
        for count in &replayed.counts {
            table.row([&count.old, &count.new, &count.decisions.to_string()]);
        }
        output::line(table)?;
        output::line("")?;
    }
    let skipped = match replayed.skipped {
        0 => String::new(),
        skipped => format!(" ({skipped} were limited or stopped before any rule was asked)"),
    };
    output::line(format_args!(
        "{} of {} would change{skipped}",
        replayed.changed.len(),
        output::counted(replayed.decisions, "decision")
    ))?;
    Ok(())
}
