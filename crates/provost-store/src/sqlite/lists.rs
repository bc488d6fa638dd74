//! Reading approvals and events.

use provost_core::{
    approval::Approval,
    event::Numbered,
    ids::ApprovalId,
    ports::{ApprovalFilter, ApprovalPage, QueueDepth},
    time::Time,
};
use rusqlite::{Connection, OptionalExtension as _, params, params_from_iter};

use super::{fault::Fault, rows};
use crate::{
    codec::{self, APPROVAL_COLUMNS},
    filter::{self, Dialect, Value},
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
    let (mut conditions, tools) = filter::approvals(Dialect::Sqlite, filter, now);
    conditions.and("place > @", [Value::Int(filter.after.unwrap_or(0) as i64)]);
    let mut list = sql.prepare_cached(&format!(
        "SELECT place, tool, {APPROVAL_COLUMNS} FROM approvals WHERE {} ORDER BY place",
        conditions.sql()
    ))?;
    let mut found = list.query(params_from_iter(conditions.values()))?;
    let mut page = ApprovalPage::with_room(filter.limit);
    while page.len() < filter.limit {
        let Some(row) = found.next()? else { break };
        if tools.are_all() || tools.matches(rows::text(row, 1)?) {
            page.push(row.get(0)?, rows::text(row, 2)?, rows::state(row, 3)?);
        }
    }
    Ok(page)
}

pub(super) fn overdue(sql: &Connection, now: Time, limit: usize) -> Result<Vec<Approval>, Fault> {
    let mut list = sql.prepare_cached(&format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE status = 'pending' AND due_at <= ?1 \
         ORDER BY due_at LIMIT ?2"
    ))?;
    list.query_and_then(params![now.millis(), limit], rows::approval)?
        .collect()
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
