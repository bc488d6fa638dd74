//! Rows of SQLite as values of the core.

use provost_core::{
    approval::{Approval, State},
    ids::TraceId,
    ports::{ChainEnds, ChainRecord},
    time::Time,
};
use rusqlite::{Row, ToSql, types::ToSqlOutput};

use super::{batch::Head, fault::Fault};
use crate::{
    codec::{self, StateColumns},
    filter::Value,
};

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Int(int) => int.to_sql(),
            Self::Text(text) => text.to_sql(),
        }
    }
}

/// The state in columns `first` and following, in the order of [`codec::APPROVAL_COLUMNS`].
pub(super) fn state(row: &Row<'_>, first: usize) -> Result<State, Fault> {
    let columns = StateColumns {
        status: row.get(first)?,
        level: row.get(first + 1)?,
        expires_at: row.get(first + 2)?,
        supervisor_until: row.get(first + 3)?,
        permit_until: row.get(first + 4)?,
        answered_at: row.get(first + 5)?,
        claim_by: row.get(first + 6)?,
        claim_until: row.get(first + 7)?,
        decision: row.get(first + 8)?,
        escalation: row.get(first + 9)?,
    };
    Ok(columns.state()?)
}

/// A row of exactly [`codec::APPROVAL_COLUMNS`].
pub(super) fn approval(row: &Row<'_>) -> Result<Approval, Fault> {
    let question: String = row.get(0)?;
    Ok(codec::approval(&question, state(row, 1)?)?)
}

pub(super) const CHAIN_ENDS: &str =
    "SELECT chain, anchor_seq, anchor_hash, head_seq, head_hash FROM chains";

pub(super) fn chain_ends(row: &Row<'_>) -> Result<ChainEnds, Fault> {
    Ok(ChainEnds {
        chain: row.get(0)?,
        anchor_seq: row.get(1)?,
        anchor_hash: codec::hash(&row.get::<_, Vec<u8>>(2)?)?,
        head_seq: row.get(3)?,
        head_hash: codec::hash(&row.get::<_, Vec<u8>>(4)?)?,
    })
}

/// A place and a hash.
pub(super) fn head(row: &Row<'_>) -> Result<Head, Fault> {
    Ok(Head {
        seq: row.get(0)?,
        hash: codec::hash(&row.get::<_, Vec<u8>>(1)?)?,
    })
}

pub(super) fn chain_record(row: &Row<'_>) -> Result<ChainRecord, Fault> {
    Ok(ChainRecord {
        seq: row.get(0)?,
        hash: codec::hash(&row.get::<_, Vec<u8>>(1)?)?,
        trace_id: TraceId::from(text(row, 2)?),
        kind: codec::kind(&row.get::<_, String>(3)?)?,
        at: Time::from_millis(row.get(4)?),
        agent: text(row, 5)?,
        session: row.get(6)?,
        tool: text(row, 7)?,
        verdict: text(row, 8)?,
        body: text(row, 9)?,
    })
}

/// What is no text any more reads as another text: it then fails its hash, and the proof says where.
fn text(row: &Row<'_>, at: usize) -> Result<String, Fault> {
    let bytes = row.get_ref(at)?.as_bytes().map_err(rusqlite::Error::from)?;
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
