//! Rows of SQLite as values of the core.

use std::borrow::Cow;

use provost_core::{
    approval::{Approval, State, Status},
    ids::TraceId,
    ports::{ChainEnds, ChainRecord, Unreadable},
    time::Time,
};
use rusqlite::{
    Row, ToSql,
    types::{ToSqlOutput, ValueRef},
};

use super::{batch::Head, fault::Fault};
use crate::{
    codec::{self, Garbled, StateColumns},
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

/// The state in columns `first` and following, in the order of [`codec::APPROVAL_COLUMNS`]. Most rows of a
/// long list are pending; what only a decision brings is not looked for there.
pub(super) fn state(row: &Row<'_>, first: usize) -> Result<State, Fault> {
    let status = text(row, first)?;
    let decided = status != codec::status_text(Status::Pending);
    let moment = |column, wanted| if wanted { row.get(column) } else { Ok(None) };
    let claim_by = optional_text(row, first + 6)?;
    let columns = StateColumns {
        status,
        level: text(row, first + 1)?,
        expires_at: row.get(first + 2)?,
        supervisor_until: row.get(first + 3)?,
        permit_until: moment(first + 4, decided)?,
        answered_at: moment(first + 5, decided)?,
        claim_by,
        claim_until: moment(first + 7, claim_by.is_some())?,
        decision: if decided {
            optional_text(row, first + 8)?.map(Cow::Borrowed)
        } else {
            None
        },
        escalation: optional_text(row, first + 9)?.map(Cow::Borrowed),
        asked: row.get(first + 10)?,
        votes: optional_text(row, first + 11)?.map(Cow::Borrowed),
    };
    Ok(columns.state()?)
}

/// The state of a pending row in columns `first` and following, in the order of [`codec::PENDING_COLUMNS`].
pub(super) fn pending_state(row: &Row<'_>, first: usize) -> Result<State, Fault> {
    let claim_by = optional_text(row, first + 3)?;
    let columns = StateColumns {
        status: codec::status_text(Status::Pending),
        level: text(row, first)?,
        expires_at: row.get(first + 1)?,
        supervisor_until: row.get(first + 2)?,
        permit_until: None,
        answered_at: None,
        claim_by,
        claim_until: match claim_by {
            Some(_) => row.get(first + 4)?,
            None => None,
        },
        decision: None,
        escalation: optional_text(row, first + 5)?.map(Cow::Borrowed),
        asked: row.get(first + 6)?,
        votes: optional_text(row, first + 7)?.map(Cow::Borrowed),
    };
    Ok(columns.state()?)
}

/// The text of a column where it lies, which is as long as the row is the statement's current one.
pub(super) fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// The bytes of a long text. Most are ASCII, which is seen sooner than that they are UTF-8.
pub(super) fn utf8<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [u8]> {
    match row.get_ref(column)? {
        ValueRef::Text(text) if text.is_ascii() => Ok(text),
        other => Ok(other.as_str()?.as_bytes()),
    }
}

pub(super) fn optional_text<'a>(
    row: &'a Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<&'a str>> {
    Ok(row.get_ref(column)?.as_str_or_null()?)
}

/// A row of exactly [`codec::APPROVAL_COLUMNS`].
pub(super) fn approval(row: &Row<'_>) -> Result<Approval, Fault> {
    Ok(codec::approval(text(row, 0)?, state(row, 1)?)?)
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

/// The columns of [`chain_record`]. A place is also the number in the chain.
pub(super) const CHAIN_RECORD: &str = "SELECT place, hash, trace_id, kind, at, agent, session, tool, \
     verdict, forwarded, body FROM traces";

pub(super) fn chain_record(row: &Row<'_>) -> Result<Result<ChainRecord, Unreadable>, Fault> {
    let place: i64 = row.get(0)?;
    Ok(read_record(row, place).map_err(|why| Unreadable {
        seq: u64::try_from(place).unwrap_or(0),
        trace_id: row.get(2).ok(),
        why: why.to_string(),
    }))
}

fn read_record(row: &Row<'_>, place: i64) -> Result<ChainRecord, Fault> {
    let place = codec::place(place)?;
    Ok(ChainRecord {
        place,
        seq: place,
        hash: codec::hash(&row.get::<_, Vec<u8>>(1)?)?,
        trace_id: TraceId::from(row.get::<_, String>(2)?),
        kind: codec::kind(&row.get::<_, String>(3)?)?,
        at: Time::from_millis(row.get(4)?),
        agent: row.get(5)?,
        session: row.get(6)?,
        tool: row.get(7)?,
        verdict: row.get(8)?,
        forwarded: match row.get(9)? {
            0 => false,
            1 => true,
            other => return Err(Garbled::new("a truth value", other).into()),
        },
        body: row.get(10)?,
    })
}
