//! Writing records into their table.
//!
//! One statement writes several of them: alone, each would open the table and its index and look for their
//! ends. And SQLite gives each the place after the last one, which is its number in the chain unless
//! somebody removed or added records behind our back: given as a value, SQLite would look whether the place
//! is taken, and keep a copy of every page to be able to undo the statement.

use std::{array, sync::LazyLock};

use provost_core::trace::TraceRow;
use rusqlite::{Connection, Statement};

use super::{batch::Head, fault::Fault};
use crate::codec::Garbled;

/// Records that one statement writes. What more of them hold would not fit into the memory that SQLite sets
/// apart for a connection.
const MANY: usize = 12;

/// Values of a record, beside its place.
const COLUMNS: usize = 10;

/// For one record, for two, and so on.
static INSERTS: LazyLock<[String; MANY]> = LazyLock::new(|| array::from_fn(insert_of));

const INSERT_AT: &str = "INSERT INTO traces (trace_id, kind, at, agent, session, tool, verdict, forwarded, \
     hash, body, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// A record of a batch, and where it stands in the chain.
#[derive(Clone, Copy)]
pub(super) struct Linked<'r> {
    pub(super) link: Head,
    pub(super) row: &'r TraceRow,
}

/// Writes records that follow one another, behind the last one in the table.
pub(super) fn insert(sql: &Connection, records: &[Linked<'_>]) -> Result<(), Fault> {
    let (full, rest) = records.as_chunks::<MANY>();
    insert_each(sql, MANY, full.iter().map(|records| &records[..]))?;
    insert_each(sql, rest.len(), Some(rest).into_iter())
}

/// Writes records where their numbers say, wherever the table ends.
pub(super) fn insert_at(sql: &Connection, records: &[Linked<'_>]) -> Result<(), Fault> {
    let mut statement = sql.prepare_cached(INSERT_AT)?;
    for record in records {
        bind(&mut statement, 0, None, record)?;
        statement.raw_bind_parameter(COLUMNS + 1, record.link.seq)?;
        statement.raw_execute()?;
    }
    Ok(())
}

/// In groups of as many records as `size` says.
fn insert_each<'r>(
    sql: &Connection,
    size: usize,
    groups: impl Iterator<Item = &'r [Linked<'r>]>,
) -> Result<(), Fault> {
    let Some(text) = size.checked_sub(1).and_then(|less| INSERTS.get(less)) else {
        return Ok(());
    };
    let mut statement = sql.prepare_cached(text)?;
    let mut before: &[Linked<'_>] = &[];
    for records in groups {
        for (at, record) in records.iter().enumerate() {
            bind(&mut statement, at, before.get(at), record)?;
        }
        statement.raw_execute()?;
        let last = records.last().map(|record| record.link.seq as i64);
        if last != Some(sql.last_insert_rowid()) {
            return Err(Garbled::new("the record", "it does not end where its chain ends").into());
        }
        before = records;
    }
    Ok(())
}

/// Binds the values of the record `at` so many others in the statement. What stands there still, from the one
/// `before`, stays: names recur, and comparing costs a tenth of binding.
fn bind(
    statement: &mut Statement<'_>,
    at: usize,
    before: Option<&Linked<'_>>,
    &Linked { link, row }: &Linked<'_>,
) -> rusqlite::Result<()> {
    let first = at * COLUMNS + 1;
    let before = before.map(|before| before.row);
    statement.raw_bind_parameter(first, row.trace_id.as_str())?;
    if before.is_none_or(|before| before.kind != row.kind) {
        statement.raw_bind_parameter(first + 1, row.kind.as_str())?;
    }
    statement.raw_bind_parameter(first + 2, row.at.millis())?;
    if before.is_none_or(|before| before.agent != row.agent) {
        statement.raw_bind_parameter(first + 3, &*row.agent)?;
    }
    if before.is_none_or(|before| before.session != row.session) {
        statement.raw_bind_parameter(first + 4, row.session.as_deref())?;
    }
    if before.is_none_or(|before| before.tool != row.tool) {
        statement.raw_bind_parameter(first + 5, &*row.tool)?;
    }
    if before.is_none_or(|before| before.verdict != row.verdict) {
        statement.raw_bind_parameter(first + 6, row.verdict)?;
    }
    if before.is_none_or(|before| before.forwarded != row.forwarded) {
        statement.raw_bind_parameter(first + 7, row.forwarded)?;
    }
    statement.raw_bind_parameter(first + 8, &link.hash[..])?;
    statement.raw_bind_parameter(first + 9, &*row.body)
}

/// A batch of which anything fails is rolled back as a whole, so the statement may do that itself.
fn insert_of(less: usize) -> String {
    let rows = ["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"].repeat(less + 1);
    format!(
        "INSERT OR ROLLBACK INTO traces (trace_id, kind, at, agent, session, tool, verdict, forwarded, \
         hash, body) VALUES {}",
        rows.join(", ")
    )
}
