//! The copies of approvals on channels, and what channels remember.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    approval::Approval,
    delivery::{Delivery, Plan, Shown},
    ids::{ApprovalId, DeliveryId, random_bytes},
    ports::{Delivered, Leased},
    time::Time,
};
use tokio_postgres::Row;

use super::{batch::Batch, fault::Fault, lists};
use crate::codec::{self, DELIVERY_COLUMNS};

/// Writes the deliveries of a new approval.
pub(super) async fn plan(batch: &Batch, approval: &Approval, plans: &[Plan]) -> Result<(), Fault> {
    let insert = "INSERT INTO deliveries (id, approval_id, channel, purpose, after_ms, due_at, \
         attempts, closed, plan) VALUES ($1, $2, $3, $4, $5, $6, 0, false, $7)";
    for plan in plans {
        batch
            .execute(
                insert,
                &[
                    &DeliveryId::random().as_str(),
                    &approval.question.id.as_str(),
                    &&*plan.channel,
                    &codec::purpose_text(plan.purpose),
                    &(plan.after.as_millis() as i64),
                    &codec::first_due(plan, approval).map(Time::millis),
                    &codec::to_json(plan)?,
                ],
            )
            .await?;
    }
    Ok(())
}

/// The question has become a person's.
pub(super) async fn begin(batch: &Batch, approval: &Approval, now: Time) -> Result<(), Fault> {
    batch
        .execute(
            "UPDATE deliveries SET due_at = $2 + after_ms WHERE approval_id = $1 AND due_at IS NULL \
             AND shown_key IS NULL AND NOT closed AND purpose <> 'callback'",
            &[&approval.question.id.as_str(), &now.millis()],
        )
        .await?;
    Ok(())
}

/// What is shown of a question that still waits is no longer true: it is due for a change.
pub(super) async fn update(batch: &Batch, approval: &Approval, at: Time) -> Result<(), Fault> {
    let update = "UPDATE deliveries SET due_at = $2 WHERE approval_id = $1 \
         AND shown_key IS NOT NULL AND NOT closed AND (due_at IS NULL OR due_at > $2)";
    batch
        .execute(update, &[&approval.question.id.as_str(), &at.millis()])
        .await?;
    Ok(())
}

/// The approval has ended: who saw the question is told, and nobody is asked any more.
pub(super) async fn end(batch: &Batch, approval: &Approval, now: Time) -> Result<(), Fault> {
    batch
        .execute(
            "UPDATE deliveries SET attempts = 0, \
             due_at = CASE WHEN shown_key IS NOT NULL OR purpose = 'callback' THEN $2::bigint END, \
             closed = NOT (shown_key IS NOT NULL OR purpose = 'callback') \
             WHERE approval_id = $1 AND NOT closed",
            &[&approval.question.id.as_str(), &now.millis()],
        )
        .await?;
    Ok(())
}

pub(super) async fn lease(
    batch: &Batch,
    now: Time,
    until: Time,
    limit: usize,
) -> Result<Vec<Leased>, Fault> {
    let lease = format!(
        "UPDATE deliveries SET due_at = $2 WHERE id IN (SELECT id FROM deliveries \
         WHERE due_at <= $1 ORDER BY due_at LIMIT $3) RETURNING {DELIVERY_COLUMNS}"
    );
    let lease = batch.sql().prepare_cached(&lease).await?;
    let leased = batch
        .sql()
        .query(&lease, &[&now.millis(), &until.millis(), &(limit as i64)])
        .await?;
    let mut found = Vec::with_capacity(leased.len());
    for row in &leased {
        let delivery = delivery(row)?;
        match lists::approval(batch.sql(), delivery.approval_id.as_str()).await? {
            Some(approval) => found.push(Leased { delivery, approval }),
            None => closed(batch, &delivery.id).await?,
        }
    }
    Ok(found)
}

pub(super) async fn shown(
    batch: &Batch,
    id: &DeliveryId,
    shown: &Shown,
    now: Time,
) -> Result<(), Fault> {
    batch
        .execute(
            "UPDATE deliveries SET shown_key = $2, shown = $3, attempts = 0, error = NULL, \
             closed = false, due_at = (SELECT $4::bigint FROM approvals \
             WHERE approvals.id = approval_id AND status <> 'pending') WHERE id = $1",
            &[
                &id.as_str(),
                &shown.key,
                &codec::to_json(shown)?,
                &now.millis(),
            ],
        )
        .await?;
    Ok(())
}

pub(super) async fn closed(batch: &Batch, id: &DeliveryId) -> Result<(), Fault> {
    let close = "UPDATE deliveries SET closed = true, due_at = NULL WHERE id = $1";
    batch.execute(close, &[&id.as_str()]).await?;
    Ok(())
}

pub(super) async fn postpone(batch: &Batch, id: &DeliveryId, until: Time) -> Result<(), Fault> {
    let postpone = "UPDATE deliveries SET due_at = $2 WHERE id = $1 AND NOT closed";
    batch
        .execute(postpone, &[&id.as_str(), &until.millis()])
        .await?;
    Ok(())
}

pub(super) async fn failed(
    batch: &Batch,
    id: &DeliveryId,
    again_at: Option<Time>,
    why: &str,
) -> Result<(), Fault> {
    batch
        .execute(
            "UPDATE deliveries SET attempts = attempts + 1, error = $3, due_at = $2::bigint, \
             closed = $2::bigint IS NULL WHERE id = $1",
            &[&id.as_str(), &again_at.map(Time::millis), &why],
        )
        .await?;
    Ok(())
}

pub(super) async fn one(sql: &ClientWrapper, id: &DeliveryId) -> Result<Option<Delivery>, Fault> {
    let find = format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE id = $1");
    let row = sql.query_opt(&find, &[&id.as_str()]).await?;
    row.as_ref().map(delivery).transpose()
}

pub(super) async fn shown_as(
    sql: &ClientWrapper,
    channel: &str,
    key: &str,
) -> Result<Option<Delivery>, Fault> {
    let find = format!(
        "SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE channel = $1 AND shown_key = $2 LIMIT 1"
    );
    let row = sql.query_opt(&find, &[&channel, &key]).await?;
    row.as_ref().map(delivery).transpose()
}

pub(super) async fn of(
    sql: &ClientWrapper,
    approval: &ApprovalId,
) -> Result<Vec<Delivered>, Fault> {
    let find =
        format!("SELECT {DELIVERY_COLUMNS} FROM deliveries WHERE approval_id = $1 ORDER BY place");
    let rows = sql.query(&find, &[&approval.as_str()]).await?;
    rows.iter()
        .map(|row| {
            Ok(Delivered {
                delivery: delivery(row)?,
                closed: row.try_get(5)?,
                error: row.try_get(6)?,
            })
        })
        .collect()
}

pub(super) async fn cursor(sql: &ClientWrapper, name: &str) -> Result<Option<String>, Fault> {
    let find = "SELECT value FROM cursors WHERE name = $1";
    let row = sql.query_opt(find, &[&name]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

pub(super) async fn set_cursor(batch: &Batch, name: &str, value: &str) -> Result<(), Fault> {
    let set = "INSERT INTO cursors (name, value) VALUES ($1, $2) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    batch.execute(set, &[&name, &value]).await?;
    Ok(())
}

pub(super) async fn secret(batch: &Batch, name: &str) -> Result<[u8; 32], Fault> {
    let make = "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let fresh = random_bytes::<32>();
    batch.execute(make, &[&name, &&fresh[..]]).await?;
    let find = "SELECT value FROM secrets WHERE name = $1";
    let row = batch.sql().query_one(find, &[&name]).await?;
    Ok(codec::secret(row.try_get(0)?)?)
}

fn delivery(row: &Row) -> Result<Delivery, Fault> {
    Ok(codec::delivery(
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
        row.try_get(3)?,
        row.try_get(4)?,
    )?)
}
