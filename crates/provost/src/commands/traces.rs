//! `provost traces`: the record of every decision and what came of it.

mod accept_gap;
mod export;
mod prove;
mod verify;

use std::sync::Arc;

use clap::Subcommand;
use provost_core::ports::Store;
use provost_store::OpenError;
use serde_json::Value;

use super::view::{pages, parse_moment, some_text, traces_table};
use crate::{
    client::{ClientError, Target},
    context::Context,
    exit::Exit,
    gateway, output,
    table::Fields,
};

pub(super) use verify::report as verification_report;

#[derive(Debug, Subcommand)]
pub(crate) enum Traces {
    /// List decisions, newest first
    #[command(after_help = "Examples:
  provost traces list
  provost traces list --agent claude --verdict deny --since 24h
  provost traces list --tool 'filesystem.*' --limit 1000 --json")]
    List(Box<ListArgs>),
    /// Show one decision in detail
    #[command(after_help = "Examples:\n  provost traces show 0af7651916cd43dd8448eb211c80319c")]
    Show {
        /// The id, or its first eight characters or more
        id: String,
        /// Also show withheld content, if your key may see it
        #[arg(long)]
        full: bool,
    },
    /// Verify that no record was changed, or name the first that was
    #[command(after_help = "Examples:
  provost traces verify                        of the running gateway
  provost traces verify --data provost-data    of a gateway that does not run
  provost traces verify export.jsonl           an export, without any gateway
  provost traces verify --head 9c1e…           that a head noted earlier is still in the chain")]
    Verify(verify::Args),
    /// Write every record with its hash, as JSON lines
    #[command(after_help = "Examples:
  provost traces export --out traces.jsonl
  provost traces export --data provost-data    without a gateway, from its data folder
  provost traces export | gzip > traces.jsonl.gz")]
    Export(export::Args),
    /// Accept a record that lacks earlier entries, such as a restored backup, and note it
    #[command(
        name = "accept-gap",
        after_help = "For a record that `provost serve` refuses because it lacks what was here before. It reads \
the same configuration as `provost serve` in this folder; the gateway itself must not run.\n
Examples:
  provost traces accept-gap --reason 'restored the backup of Monday'"
    )]
    AcceptGap(accept_gap::Args),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only tools that match
    #[arg(long, value_name = "GLOB")]
    tool: Option<String>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only decisions with this verdict
    #[arg(long, value_parser = ["allow", "deny", "expired", "rate_limited", "stopped", "invalid", "unsupervised"])]
    verdict: Option<String>,
    #[command(flatten)]
    span: SpanArgs,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

/// From when to when.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SpanArgs {
    /// From this time on: a time, or how long ago, such as 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Until this time: a time, or how long ago
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
}

impl SpanArgs {
    pub(super) fn read(&self, context: &Context) -> anyhow::Result<Span> {
        let read = |text: &Option<String>| {
            text.as_deref()
                .map(|text| parse_moment(text, context.now()))
                .transpose()
        };
        Ok(Span {
            since: read(&self.since)?,
            until: read(&self.until)?,
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) since: Option<provost_core::time::Time>,
    pub(super) until: Option<provost_core::time::Time>,
}

impl Span {
    pub(super) fn query(self, target: Target) -> Target {
        target
            .query_some("since", self.since)
            .query_some("until", self.until)
    }
}

pub(super) async fn run(context: &Context, command: Traces) -> anyhow::Result<Exit> {
    match command {
        Traces::List(args) => list(context, *args).await,
        Traces::Show { id, full } => show(context, &id, full).await,
        Traces::Verify(args) => verify::run(context, args).await,
        Traces::Export(args) => export::run(context, &args).await,
        Traces::AcceptGap(args) => accept_gap::run(context, &args).await,
    }
}

/// The record of a gateway that does not run, for reading: opening it as a gateway does would correct a head that
/// somebody changed.
async fn open_folder(
    context: &Context,
    unreachable: ClientError,
) -> anyhow::Result<Arc<dyn Store>> {
    let store = gateway::store_config(&context.config_of_record()?);
    match provost_store::open_for_reading(&store).await {
        Ok(store) => {
            output::note("no gateway answers: reading its record");
            Ok(store)
        }
        Err(OpenError::Missing { place }) => {
            output::note(format_args!("there is no record at {place} either"));
            Err(unreachable.into())
        }
        Err(error) => anyhow::bail!("{error}; {}", error.help()),
    }
}

async fn list(context: &Context, args: ListArgs) -> anyhow::Result<Exit> {
    let target = Target::new("/traces")
        .query_some("agent", args.agent)
        .query_some("tool", args.tool)
        .query_some("session", args.session)
        .query_some("verdict", args.verdict);
    let target = args.span.read(context)?.query(target);
    let traces = pages(
        &context.client()?,
        &target,
        ("x-next-before", "before"),
        args.limit,
    )
    .await?;
    if context.json() {
        output::json(&traces)?;
    } else if traces.is_empty() {
        output::note("no decisions are recorded that fit");
    } else {
        output::line(traces_table(&traces, context.now()))?;
    }
    Ok(Exit::Ok)
}

async fn show(context: &Context, id: &str, full: bool) -> anyhow::Result<Exit> {
    let target = Target::new("/traces")
        .step(id)
        .query_some("content", full.then_some("full"));
    let trace = context.client()?.get(target).await?.body;
    if context.json() {
        output::json(&trace)?;
    } else {
        output::line(detail(&trace))?;
    }
    Ok(Exit::Ok)
}

/// Known fields first and in an order that tells a story.
fn detail(trace: &Value) -> Fields {
    const TEXTS: [(&str, &str); 17] = [
        ("trace", "trace_id"),
        ("time", "timestamp"),
        ("agent", "agent_id"),
        ("session", "session_id"),
        ("tool", "tool"),
        ("verdict", "verdict"),
        ("reason", "reason"),
        ("rule", "policy_rule"),
        ("policy said", "policy"),
        ("grant", "grant_id"),
        ("approval", "approval_id"),
        ("decided by", "approved_by"),
        ("who said", "supervisor_reasoning"),
        ("escalated by", "escalated_by"),
        ("who said", "escalation_reasoning"),
        ("outcome", "outcome"),
        ("error", "error"),
    ];
    const NUMBERS: [(&str, &str); 5] = [
        ("waited ms", "approval_ms"),
        ("confidence", "supervisor_confidence"),
        ("status", "status_code"),
        ("latency ms", "latency_ms"),
        ("size", "size"),
    ];
    let mut fields = Fields::default();
    for (shown, name) in TEXTS {
        fields.add_some(shown, some_text(trace, name));
    }
    for (shown, name) in NUMBERS {
        fields.add_some(shown, trace.get(name));
    }
    fields.add_some("door", some_text(trace, "door"));
    fields.add_some("digest", some_text(trace, "digest"));
    let params = trace.get("params").unwrap_or(&Value::Null);
    fields.add(
        "arguments",
        serde_json::to_string_pretty(params).unwrap_or_default(),
    );
    fields.add_some("edited", some_text(trace, "edit").map(str::trim_end));
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn p17_whoever_denied_a_call_did_not_approve_it() {
        let trace = json!({"verdict": "deny", "approved_by": "admin:local-1"});
        let shown = detail(&trace).to_string();
        assert!(shown.contains("decided by  admin:local-1"), "{shown}");
        assert!(!shown.contains("approved by"), "{shown}");
    }
}
