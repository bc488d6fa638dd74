//! Reading approvals and events.

use provost_core::{
    approval::{Approval, State, Status},
    call::Digest,
    event::Numbered,
    ids::ApprovalId,
    ports::{
        ApprovalFilter, ApprovalPage, ApprovalRow, PAGE_BYTES, QueueDepth, WriteRow, WrittenPage,
    },
    time::Time,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::{fault::Fault, rows};
use crate::{
    codec::{self, APPROVAL_COLUMNS, PENDING_COLUMNS},
    filter::{self, Dialect, Value},
    transition,
};

const MIN_PREFIX: usize = 4;

pub(super) fn approval(sql: &Connection, id: &str) -> Result<Option<Approval>, Fault> {
    let exact = sql
        .prepare_cached(&format!(
            "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id = ?1"
        ))?
        .query_row([id], |row| Ok(rows::approval(row)))
        .optional()?
        .transpose()?;
    if exact.is_some() || id.len() < MIN_PREFIX {
        return Ok(exact);
    }
    let Some(end) = filter::end_of_prefix(id) else {
        return Ok(None);
    };
    let mut find = sql.prepare_cached(&format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id >= ?1 AND id < ?2 LIMIT 2"
    ))?;
    let mut found = find.query([id, &end])?;
    let first = found.next()?.map(rows::approval).transpose()?;
    Ok(if found.next()?.is_some() { None } else { first })
}

pub(super) fn untaken(
    sql: &Connection,
    digest: Digest,
    now: Time,
) -> Result<Option<Approval>, Fault> {
    let mut find = sql.prepare_cached(&format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE digest = ?1 AND answered_at IS NULL \
         AND status = 'approved' ORDER BY place"
    ))?;
    let mut found = find.query([digest.to_string()])?;
    while let Some(row) = found.next()? {
        let approval = rows::approval(row)?;
        if transition::is_open(&approval.state, now) {
            return Ok(Some(approval));
        }
    }
    Ok(None)
}

/// Those that are no longer there are settled too: a pending approval is never removed.
pub(super) fn settled(
    sql: &Connection,
    ids: Vec<ApprovalId>,
    now: Time,
) -> Result<Vec<ApprovalId>, Fault> {
    let mut pending = sql.prepare_cached(
        "SELECT 1 FROM approvals WHERE id = ?1 AND status = 'pending' AND expires_at > ?2",
    )?;
    let mut settled = Vec::new();
    for id in ids {
        if !pending.exists(params![id.as_str(), now.millis()])? {
            settled.push(id);
        }
    }
    Ok(settled)
}

pub(super) fn approvals(
    sql: &Connection,
    filter: &ApprovalFilter,
    now: Time,
) -> Result<ApprovalPage, Fault> {
    let mut page = ApprovalPage::with_room(filter.limit);
    each_approval(sql, filter, now, |place, question, state| {
        page.push(place, question, state);
        !page.is_full()
    })?;
    Ok(page)
}

pub(super) fn written_approvals(
    sql: &Connection,
    filter: &ApprovalFilter,
    now: Time,
    write: WriteRow,
) -> Result<WrittenPage, Fault> {
    let mut page = WrittenPage::of_at_most(filter.limit);
    each_approval(sql, filter, now, |place, question, state| {
        let row = ApprovalRow {
            place,
            question,
            state: &state,
        };
        page.push(row, now, write);
        !page.is_full()
    })?;
    Ok(page)
}

/// Until `each` says that it has enough.
fn each_approval(
    sql: &Connection,
    filter: &ApprovalFilter,
    now: Time,
    mut each: impl FnMut(u64, &[u8], State) -> bool,
) -> Result<(), Fault> {
    let (mut conditions, tools) = filter::approvals(Dialect::Sqlite, filter, now);
    let after = i64::try_from(filter.after.unwrap_or(0)).unwrap_or(i64::MAX);
    conditions.and("place > @", [Value::Int(after)]);
    // What every row would say the same is not fetched from each.
    let tool = if tools.are_all() { "NULL" } else { "tool" };
    let (columns, state): (_, fn(&Row<'_>, usize) -> _) = match filter.status {
        Some(Status::Pending) => (PENDING_COLUMNS, rows::pending_state),
        _ => (APPROVAL_COLUMNS, rows::state),
    };
    let mut list = sql.prepare_cached(&format!(
        "SELECT place, {tool}, {columns} FROM approvals WHERE {} ORDER BY place",
        conditions.sql()
    ))?;
    let mut found = list.query(params_from_iter(conditions.values()))?;
    while let Some(row) = found.next()? {
        if (tools.are_all() || tools.matches(rows::text(row, 1)?))
            && !each(row.get(0)?, rows::utf8(row, 2)?, state(row, 3)?)
        {
            break;
        }
    }
    Ok(())
}

pub(super) fn overdue(sql: &Connection, now: Time, limit: usize) -> Result<Vec<Approval>, Fault> {
    let mut list = sql.prepare_cached(&format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE status = 'pending' AND due_at <= ?1 \
         ORDER BY due_at LIMIT ?2"
    ))?;
    let mut found = list.query(params![now.millis(), limit])?;
    let (mut overdue, mut bytes) = (Vec::new(), 0);
    while bytes < PAGE_BYTES
        && let Some(row) = found.next()?
    {
        let approval = rows::approval(row)?;
        bytes += approval.question.bytes();
        overdue.push(approval);
    }
    Ok(overdue)
}

/// Both come from the index by status, which holds its rows in the order they were made.
pub(super) fn queue_depth(sql: &Connection) -> Result<QueueDepth, Fault> {
    let pending = sql
        .prepare_cached("SELECT count(*) FROM approvals WHERE status = 'pending'")?
        .query_row([], |row| row.get(0))?;
    let oldest = sql
        .prepare_cached(
            "SELECT created_at FROM approvals WHERE status = 'pending' ORDER BY place LIMIT 1",
        )?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(QueueDepth {
        pending,
        oldest: oldest.map(Time::from_millis),
    })
}

pub(super) fn events(sql: &Connection, after: u64, limit: usize) -> Result<Vec<Numbered>, Fault> {
    let mut list =
        sql.prepare_cached("SELECT id, at, body FROM events WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let found = list.query_and_then(params![after, limit], |row| {
        let event = codec::from_json("an event", &row.get::<_, String>(2)?)?;
        Ok(Numbered {
            id: row.get(0)?,
            at: Time::from_millis(row.get(1)?),
            event,
        })
    })?;
    found.collect()
}

pub(super) fn last_event(sql: &Connection) -> Result<u64, Fault> {
    Ok(sql
        .prepare_cached("SELECT last FROM event_counter")?
        .query_row([], |row| row.get(0))?)
}
