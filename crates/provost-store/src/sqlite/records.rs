//! Decisions and outcomes.

use std::borrow::Cow;

use provost_core::{
    ids::{GrantId, TraceId},
    ports::{IdempotencyKey, KeyedAnswer, Record, Recorded},
    time::Time,
    trace::TraceRow,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{batch::Batch, fault::Fault};
use crate::codec;

pub(super) fn record(batch: &mut Batch<'_>, record: &Record) -> Result<Recorded, Fault> {
    let admitted = admit(batch, record)?;
    if admitted == Recorded::Done {
        if record.row.forwarded {
            batch.begin_call(Cow::Owned(record.row.trace_id.clone()));
        }
        batch.append(&record.row)?;
    }
    Ok(admitted)
}

/// As [`record`], but the record comes into the table with others.
pub(super) fn record_soon<'r>(
    batch: &mut Batch<'r>,
    record: &'r Record,
) -> Result<Recorded, Fault> {
    let admitted = admit(batch, record)?;
    if admitted == Recorded::Done {
        if record.row.forwarded {
            batch.begin_call(Cow::Borrowed(&record.row.trace_id));
        }
        batch.append_soon(&record.row)?;
    }
    Ok(admitted)
}

/// Looks at everything the decision rests on before it writes anything, because a batch has no way to
/// undo one of its operations.
fn admit(batch: &Batch<'_>, record: &Record) -> Result<Recorded, Fault> {
    if record
        .version
        .is_some_and(|version| version != batch.version())
    {
        return Ok(Recorded::Stale);
    }
    if let Some(key) = &record.key
        && key_is_taken(batch, key)?
    {
        return Ok(Recorded::KeyTaken);
    }
    if let Some(max) = record.max_total
        && total_calls(batch.sql(), &record.row.agent)? + batch.entered(&record.row.agent) >= max
    {
        return Ok(Recorded::TotalSpent);
    }
    if let Some(grant) = &record.grant
        && !use_grant(batch, grant, record.row.at)?
    {
        return Ok(Recorded::GrantSpent);
    }
    if let Some(key) = &record.key {
        keep_key(batch, key, &record.row.trace_id)?;
    }
    Ok(Recorded::Done)
}

pub(super) fn outcome(
    batch: &mut Batch<'_>,
    row: &TraceRow,
    answer: Option<&(IdempotencyKey, String)>,
) -> Result<(), Fault> {
    batch.append(row)?;
    batch.end_call(Cow::Owned(row.trace_id.clone()));
    if let Some((key, answer)) = answer {
        batch.execute(
            "UPDATE idempotency SET answer = ?3 WHERE agent = ?1 AND key = ?2",
            params![&*key.agent, key.key, answer],
        )?;
    }
    Ok(())
}

/// As [`outcome`], but the record comes into the table with others.
pub(super) fn outcome_soon<'r>(batch: &mut Batch<'r>, row: &'r TraceRow) -> Result<(), Fault> {
    batch.append_soon(row)?;
    batch.end_call(Cow::Borrowed(&row.trace_id));
    Ok(())
}

pub(super) fn reserve_trace_id(batch: &Batch<'_>, id: &TraceId, now: Time) -> Result<bool, Fault> {
    let insert = "INSERT INTO given_trace_ids (id, at) SELECT ?1, ?2 \
         WHERE NOT EXISTS (SELECT 1 FROM traces WHERE trace_id = ?1) ON CONFLICT DO NOTHING";
    Ok(batch.execute(insert, params![id.as_str(), now.millis()])? == 1)
}

pub(super) fn key_is_taken(batch: &Batch<'_>, key: &IdempotencyKey) -> Result<bool, Fault> {
    let mut find = batch.sql().prepare_cached(
        "SELECT 1 FROM idempotency WHERE agent = ?1 AND key = ?2 AND trace_id IS NOT ?3",
    )?;
    let replaced = key.replaces.as_ref().map(TraceId::as_str);
    Ok(find.exists(params![&*key.agent, key.key, replaced])?)
}

/// To be called where [`key_is_taken`] says that it is free.
pub(super) fn keep_key(
    batch: &Batch<'_>,
    key: &IdempotencyKey,
    trace_id: &TraceId,
) -> Result<(), Fault> {
    batch.execute(
        "INSERT OR REPLACE INTO idempotency (agent, key, digest, trace_id, at, answer) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            &*key.agent,
            key.key,
            key.digest.to_string(),
            trace_id.as_str(),
            key.at.millis(),
            key.answer
        ],
    )?;
    Ok(())
}

pub(super) fn use_grant(batch: &Batch<'_>, id: &GrantId, now: Time) -> Result<bool, Fault> {
    let used = batch.execute(
        "UPDATE grants SET uses = uses + 1 WHERE id = ?1 AND revoked_at IS NULL \
         AND (expires_at IS NULL OR expires_at > ?2) AND (max_uses IS NULL OR uses < max_uses)",
        params![id.as_str(), now.millis()],
    )?;
    Ok(used == 1)
}

pub(super) fn keyed_answer(
    sql: &Connection,
    agent: &str,
    key: &str,
) -> Result<Option<KeyedAnswer>, Fault> {
    let found = sql
        .prepare_cached(
            "SELECT digest, trace_id, at, answer, (SELECT version FROM control) FROM idempotency \
             WHERE agent = ?1 AND key = ?2",
        )?
        .query_row([agent, key], |row| {
            let digest: String = row.get(0)?;
            let (trace_id, at) = (row.get(1)?, row.get(2)?);
            let (answer, version) = (row.get(3)?, row.get(4)?);
            Ok(codec::keyed_answer(&digest, trace_id, at, answer, version))
        })
        .optional()?;
    Ok(found.transpose()?)
}

pub(super) fn total_calls(sql: &Connection, agent: &str) -> Result<u64, Fault> {
    let mut find = sql.prepare_cached("SELECT calls FROM totals WHERE agent = ?1")?;
    Ok(find
        .query_row([agent], |row| row.get(0))
        .optional()?
        .unwrap_or(0))
}
