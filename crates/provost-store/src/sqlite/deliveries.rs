//! The copies of approvals on channels, and what channels remember.

use provost_core::{
    approval::Approval,
    delivery::{Delivery, Plan, Shown},
    ids::{ApprovalId, DeliveryId, random_bytes},
    ports::{Delivered, Leased},
    time::Time,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{
    batch::Batch,
    fault::Fault,
    lists,
    rows::{optional_text, text},
};
use crate::codec::{self, DELIVERY_COLUMNS};

/// Writes the deliveries of a new approval.
pub(super) fn plan(batch: &Batch<'_>, approval: &Approval, plans: &[Plan]) -> Result<(), Fault> {
    let insert = "INSERT INTO deliveries (id, approval_id, channel, purpose, after_ms, due_at, \
         attempts, closed, plan) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, ?7)";
    for plan in plans {
        batch.execute(
            insert,
            params![
                DeliveryId::random().as_str(),
                approval.question.id.as_str(),
                &*plan.channel,
                codec::purpose_text(plan.purpose),
                plan.after.as_millis() as i64,
                codec::first_due(plan, approval).map(Time::millis),
                codec::to_json(plan)?,
            ],
        )?;
    }
    Ok(())
}

/// The question has become a person's.
pub(super) fn begin(batch: &Batch<'_>, approval: &Approval, now: Time) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET due_at = ?2 + after_ms WHERE approval_id = ?1 AND due_at IS NULL \
         AND shown_key IS NULL AND closed = 0 AND purpose <> 'callback'",
        params![approval.question.id.as_str(), now.millis()],
    )?;
    Ok(())
}

/// What is shown of a question that still waits is no longer true: it is due for a change.
pub(super) fn update(batch: &Batch<'_>, approval: &Approval, at: Time) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET due_at = ?2 WHERE approval_id = ?1 AND shown_key IS NOT NULL \
         AND closed = 0 AND (due_at IS NULL OR due_at > ?2)",
        params![approval.question.id.as_str(), at.millis()],
    )?;
    Ok(())
}

/// The approval has ended: who saw the question is told, and nobody is asked any more.
pub(super) fn end(batch: &Batch<'_>, approval: &Approval, now: Time) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET attempts = 0, leased = 0, \
         due_at = CASE WHEN shown_key IS NOT NULL OR purpose = 'callback' THEN ?2 END, \
         closed = NOT (shown_key IS NOT NULL OR purpose = 'callback') \
         WHERE approval_id = ?1 AND closed = 0",
        params![approval.question.id.as_str(), now.millis()],
    )?;
    Ok(())
}

pub(super) fn lease(
    batch: &Batch<'_>,
    now: Time,
    until: Time,
    limit: usize,
) -> Result<Vec<Leased>, Fault> {
    let leased: Vec<Delivery> = batch
        .sql()
        .prepare_cached(&format!(
            "UPDATE deliveries SET due_at = ?2, leased = 1 WHERE id IN (SELECT id FROM deliveries \
             WHERE due_at <= ?1 ORDER BY due_at LIMIT ?3) RETURNING {DELIVERY_COLUMNS}"
        ))?
        .query_and_then(params![now.millis(), until.millis(), limit], delivery)?
        .collect::<Result<_, Fault>>()?;
    let mut found = Vec::with_capacity(leased.len());
    for delivery in leased {
        match lists::approval(batch.sql(), delivery.approval_id.as_str())? {
            Some(approval) => found.push(Leased { delivery, approval }),
            None => closed(batch, &delivery.id)?,
        }
    }
    Ok(found)
}

/// What a process that is gone had leased is due at once: there is no other one.
pub(super) fn reclaim(sql: &Connection, now: Time) -> Result<(), Fault> {
    sql.execute(
        "UPDATE deliveries SET due_at = ?1, leased = 0 WHERE leased = 1 AND due_at IS NOT NULL",
        [now.millis()],
    )?;
    Ok(())
}

pub(super) fn shown(
    batch: &Batch<'_>,
    id: &DeliveryId,
    shown: &Shown,
    now: Time,
) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET shown_key = ?2, shown = ?3, attempts = 0, leased = 0, error = NULL, \
         closed = 0,
         due_at = (SELECT ?4 FROM approvals WHERE approvals.id = approval_id \
         AND status <> 'pending') WHERE id = ?1",
        params![id.as_str(), shown.key, codec::to_json(shown)?, now.millis()],
    )?;
    Ok(())
}

pub(super) fn closed(batch: &Batch<'_>, id: &DeliveryId) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET closed = 1, leased = 0, due_at = NULL WHERE id = ?1",
        [id.as_str()],
    )?;
    Ok(())
}

pub(super) fn postpone(batch: &Batch<'_>, id: &DeliveryId, until: Time) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET due_at = ?2, leased = 0 WHERE id = ?1 AND closed = 0",
        params![id.as_str(), until.millis()],
    )?;
    Ok(())
}

pub(super) fn failed(
    batch: &Batch<'_>,
    id: &DeliveryId,
    again_at: Option<Time>,
    why: &str,
) -> Result<(), Fault> {
    batch.execute(
        "UPDATE deliveries SET attempts = attempts + 1, leased = 0, error = ?3, due_at = ?2, \
         closed = ?2 IS NULL WHERE id = ?1",
        params![id.as_str(), again_at.map(Time::millis), why],
    )?;
    Ok(())
}

pub(super) fn one(sql: &Connection, id: &DeliveryId) -> Result<Option<Delivery>, Fault> {
    let find = format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE id = ?1");
    sql.prepare_cached(&find)?
        .query_row([id.as_str()], |row| Ok(delivery(row)))
        .optional()?
        .transpose()
}

pub(super) fn shown_as(
    sql: &Connection,
    channel: &str,
    key: &str,
) -> Result<Option<Delivery>, Fault> {
    let find =
        format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE channel = ?1 AND shown_key = ?2");
    sql.prepare_cached(&find)?
        .query_row([channel, key], |row| Ok(delivery(row)))
        .optional()?
        .transpose()
}

pub(super) fn of(sql: &Connection, approval: &ApprovalId) -> Result<Vec<Delivered>, Fault> {
    let find =
        format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE approval_id = ?1 ORDER BY rowid");
    sql.prepare_cached(&find)?
        .query_and_then([approval.as_str()], |row| {
            Ok(Delivered {
                delivery: delivery(row)?,
                closed: row.get(5)?,
                error: row.get(6)?,
            })
        })?
        .collect()
}

pub(super) fn cursor(sql: &Connection, name: &str) -> Result<Option<String>, Fault> {
    Ok(sql
        .prepare_cached("SELECT value FROM cursors WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?)
}

pub(super) fn set_cursor(batch: &Batch<'_>, name: &str, value: &str) -> Result<(), Fault> {
    batch.execute(
        "INSERT OR REPLACE INTO cursors (name, value) VALUES (?1, ?2)",
        [name, value],
    )?;
    Ok(())
}

pub(super) fn secret(batch: &Batch<'_>, name: &str) -> Result<[u8; 32], Fault> {
    batch.execute(
        "INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![name, &random_bytes::<32>()[..]],
    )?;
    let bytes: Vec<u8> = batch
        .sql()
        .prepare_cached("SELECT value FROM secrets WHERE name = ?1")?
        .query_row([name], |row| row.get(0))?;
    Ok(codec::secret(&bytes)?)
}

fn delivery(row: &Row<'_>) -> Result<Delivery, Fault> {
    Ok(codec::delivery(
        text(row, 0)?,
        text(row, 1)?,
        text(row, 2)?,
        optional_text(row, 3)?,
        row.get(4)?,
    )?)
}
