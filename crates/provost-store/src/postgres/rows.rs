//! Rows of PostgreSQL as values of the core.

use std::borrow::Cow;

use provost_core::{
    approval::{Approval, State},
    ids::TraceId,
    ports::{ChainEnds, ChainRecord, TraceEntry, Unreadable},
    time::Time,
};
use tokio_postgres::{Row, types::ToSql};

use super::fault::Fault;
use crate::{
    codec::{self, StateColumns},
    filter::Value,
};

/// The values of a filter as parameters.
pub(super) fn parameters(values: &[Value]) -> Vec<&(dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| match value {
            Value::Int(int) => int as &(dyn ToSql + Sync),
            Value::Text(text) => text,
        })
        .collect()
}

/// Of what this query finds, in this order, the rows whose text fills so many bytes, and at least one. The server
/// knows the length of a text without reading it.
pub(super) fn of_one_page(query: &str, text: &str, order: &str, bytes: usize) -> String {
    let length = format!("coalesce(octet_length({text}), 0)");
    format!(
        "SELECT * FROM (SELECT *, sum({length}) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) - {length} \
         AS before FROM ({query}) AS found) AS page WHERE before < {bytes} ORDER BY {order}"
    )
}

/// A count or a place. They never pass 2^63.
pub(super) fn unsigned(row: &Row, column: usize) -> Result<u64, Fault> {
    Ok(row.try_get::<_, i64>(column)? as u64)
}

pub(super) fn time(row: &Row, column: usize) -> Result<Time, Fault> {
    Ok(Time::from_millis(row.try_get(column)?))
}

/// The state in columns `first` and following, in the order of [`codec::APPROVAL_COLUMNS`].
pub(super) fn state(row: &Row, first: usize) -> Result<State, Fault> {
    let columns = StateColumns {
        status: row.try_get(first)?,
        level: row.try_get(first + 1)?,
        expires_at: row.try_get(first + 2)?,
        supervisor_until: row.try_get(first + 3)?,
        permit_until: row.try_get(first + 4)?,
        answered_at: row.try_get(first + 5)?,
        claim_by: row.try_get(first + 6)?,
        claim_until: row.try_get(first + 7)?,
        decision: row
            .try_get::<_, Option<&str>>(first + 8)?
            .map(Cow::Borrowed),
        escalation: row
            .try_get::<_, Option<&str>>(first + 9)?
            .map(Cow::Borrowed),
        asked: row.try_get(first + 10)?,
        votes: row
            .try_get::<_, Option<&str>>(first + 11)?
            .map(Cow::Borrowed),
    };
    Ok(columns.state()?)
}

/// A row of exactly [`codec::APPROVAL_COLUMNS`].
pub(super) fn approval(row: &Row) -> Result<Approval, Fault> {
    Ok(codec::approval(row.try_get(0)?, state(row, 1)?)?)
}

pub(super) const CHAIN_ENDS: &str =
    "SELECT chain, anchor_seq, anchor_hash, head_seq, head_hash FROM chains";

pub(super) fn chain_ends(row: &Row) -> Result<ChainEnds, Fault> {
    Ok(ChainEnds {
        chain: row.try_get(0)?,
        anchor_seq: unsigned(row, 1)?,
        anchor_hash: codec::hash(row.try_get(2)?)?,
        head_seq: unsigned(row, 3)?,
        head_hash: codec::hash(row.try_get(4)?)?,
    })
}

/// The columns of [`chain_record`].
pub(super) const CHAIN_RECORD: &str = "SELECT seq, hash, trace_id, kind, at, agent, session, tool, \
     verdict, forwarded, body, place FROM traces";

pub(super) fn chain_record(row: &Row) -> Result<Result<ChainRecord, Unreadable>, Fault> {
    let seq: i64 = row.try_get(0)?;
    Ok(read_record(row, seq).map_err(|why| Unreadable {
        seq: u64::try_from(seq).unwrap_or(0),
        trace_id: row.try_get(2).ok(),
        why: why.to_string(),
    }))
}

fn read_record(row: &Row, seq: i64) -> Result<ChainRecord, Fault> {
    Ok(ChainRecord {
        place: codec::place(row.try_get(11)?)?,
        seq: codec::place(seq)?,
        hash: codec::hash(row.try_get(1)?)?,
        trace_id: TraceId::from(row.try_get::<_, &str>(2)?),
        kind: codec::kind(row.try_get(3)?)?,
        at: time(row, 4)?,
        agent: row.try_get(5)?,
        session: row.try_get(6)?,
        tool: row.try_get(7)?,
        verdict: row.try_get(8)?,
        forwarded: row.try_get(9)?,
        body: row.try_get(10)?,
    })
}

pub(super) fn trace_entry(row: &Row) -> Result<TraceEntry, Fault> {
    Ok(TraceEntry {
        place: unsigned(row, 0)?,
        decision: row.try_get(1)?,
        in_flight: row.try_get(2)?,
        outcome: row.try_get(3)?,
    })
}
