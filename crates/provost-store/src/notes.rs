//! Records the store itself adds to a chain.

use provost_core::{
    ids::TraceId,
    ports::ChainEnds,
    time::Time,
    trace::{NoteRecord, OutcomeKind, OutcomeRecord, TraceRow, chain, verify::testimony},
};
use serde_json::{Value, json};

/// A decision was let through by a process that is gone.
pub(crate) struct Unfinished {
    pub(crate) trace_id: TraceId,
    pub(crate) agent: String,
    pub(crate) session: Option<String>,
    pub(crate) tool: String,
}

pub(crate) fn unknown_outcome(call: Unfinished, now: Time) -> TraceRow {
    let record = OutcomeRecord {
        trace_id: call.trace_id,
        session_id: call.session.map(Into::into),
        agent_id: call.agent.into(),
        tool: call.tool.into(),
        outcome: OutcomeKind::Unknown,
        status_code: None,
        latency_ms: 0,
        error: Some("the gateway stopped before it learnt what happened".to_owned()),
        size: 0,
        estimated_output_tokens: 0,
        timestamp: now,
    };
    record.row()
}

pub(crate) fn pruned(chain: &str, upto: u64, anchor: &chain::Hash, now: Time) -> TraceRow {
    note(
        testimony::PRUNED,
        json!({ "chain": chain, "upto_seq": upto, "anchor_hash": chain::text(anchor) }),
        now,
    )
}

/// The first record of a replica's chain names the heads of the others, so that a whole chain cannot
/// vanish unnoticed.
pub(crate) fn chain_opened(others: &[ChainEnds], now: Time) -> TraceRow {
    let heads: Vec<Value> = others
        .iter()
        .map(|ends| {
            json!({
                "chain": ends.chain,
                "head_seq": ends.head_seq,
                "head_hash": chain::text(&ends.head_hash),
            })
        })
        .collect();
    note(testimony::CHAIN_OPENED, json!({ "heads": heads }), now)
}

/// The last record and the noted head of the chain differ: somebody changed one of them.
pub(crate) fn head_differs(
    noted: (u64, &chain::Hash),
    found: (u64, &chain::Hash),
    now: Time,
) -> TraceRow {
    let end = |(seq, hash): (u64, &chain::Hash)| json!({ "seq": seq, "hash": chain::text(hash) });
    note(
        testimony::HEAD_DIFFERS,
        json!({ "noted": end(noted), "found": end(found) }),
        now,
    )
}

fn note(text: &str, detail: Value, now: Time) -> TraceRow {
    let note = NoteRecord {
        trace_id: TraceId::at(now),
        note: text.to_owned(),
        by: testimony::BY.to_owned(),
        agent_id: None,
        session_id: None,
        detail,
        timestamp: now,
    };
    note.row()
}
