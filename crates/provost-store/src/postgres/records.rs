//! Decisions and outcomes.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    ids::TraceId,
    ports::{IdempotencyKey, KeyedAnswer, Record, Recorded},
    time::Time,
    trace::TraceRow,
};

use super::{batch::Batch, fault::Fault, rows};
use crate::codec;

/// Looks at everything the decision rests on before it writes anything, because a batch has no way to
/// undo one of its operations. The key comes last of what can fail: of two replicas, one keeps it.
pub(super) async fn record(batch: &mut Batch, record: &Record) -> Result<Recorded, Fault> {
    if record
        .version
        .is_some_and(|version| version != batch.version())
    {
        return Ok(Recorded::Stale);
    }
    if let Some(key) = &record.key
        && key_is_taken(batch, key).await?
    {
        return Ok(Recorded::KeyTaken);
    }
    if let Some(max) = record.max_total
        && locked_total(batch, &record.row.agent).await? + batch.entered(&record.row.agent) >= max
    {
        return Ok(Recorded::TotalSpent);
    }
    if let Some(grant) = &record.grant
        && !batch.grants().permits(grant, record.row.at)
    {
        return Ok(Recorded::GrantSpent);
    }
    if let Some(key) = &record.key
        && !keep_key(batch, key, &record.row.trace_id).await?
    {
        return Ok(Recorded::KeyTaken);
    }
    if let Some(grant) = &record.grant {
        batch.grants().take_use(grant);
    }
    if record.row.forwarded {
        batch.await_outcome(&record.row.trace_id);
    }
    batch.append(&record.row);
    Ok(Recorded::Done)
}

/// What was counted so far. Other replicas wait with theirs until this batch is counted too.
pub(super) async fn locked_total(batch: &Batch, agent: &str) -> Result<u64, Fault> {
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 7))";
    let lock = batch.sql().prepare_cached(lock).await?;
    batch.sql().query(&lock, &[&agent]).await?;
    let find = "SELECT calls FROM totals WHERE agent = $1";
    let find = batch.sql().prepare_cached(find).await?;
    let found = batch.sql().query(&find, &[&agent]).await?;
    found.first().map_or(Ok(0), |row| rows::unsigned(row, 0))
}

pub(super) async fn outcome(
    batch: &mut Batch,
    row: &TraceRow,
    answer: Option<&(IdempotencyKey, String)>,
) -> Result<(), Fault> {
    batch.append(row);
    batch.has_outcome(&row.trace_id);
    if let Some((key, answer)) = answer {
        let keep = "UPDATE idempotency SET answer = $3 WHERE agent = $1 AND key = $2";
        batch
            .execute(keep, &[&&*key.agent, &key.key, answer])
            .await?;
    }
    Ok(())
}

async fn key_is_taken(batch: &Batch, key: &IdempotencyKey) -> Result<bool, Fault> {
    let find = "SELECT 1 FROM idempotency WHERE agent = $1 AND key = $2 \
         AND trace_id IS DISTINCT FROM $3";
    let find = batch.sql().prepare_cached(find).await?;
    let replaced = key.replaces.as_ref().map(TraceId::as_str);
    Ok(batch
        .sql()
        .query_opt(&find, &[&&*key.agent, &key.key, &replaced])
        .await?
        .is_some())
}

/// Whether no call had it. Waits for another replica that is about to take it.
pub(super) async fn reserve_trace_id(
    batch: &Batch,
    id: &TraceId,
    now: Time,
) -> Result<bool, Fault> {
    let insert = "INSERT INTO given_trace_ids (id, at) SELECT $1, $2 \
         WHERE NOT EXISTS (SELECT 1 FROM traces WHERE trace_id = $1) ON CONFLICT DO NOTHING";
    Ok(batch
        .execute(insert, &[&id.as_str(), &now.millis()])
        .await?
        == 1)
}

/// Whether it was still free, or stood for what it replaces. Waits for another replica that is about to take it.
pub(super) async fn keep_key(
    batch: &Batch,
    key: &IdempotencyKey,
    trace_id: &TraceId,
) -> Result<bool, Fault> {
    let replaced = key.replaces.as_ref().map(TraceId::as_str);
    let kept = batch
        .execute(
            "INSERT INTO idempotency (agent, key, digest, trace_id, at, answer) \
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (agent, key) DO UPDATE \
             SET digest = $3, trace_id = $4, at = $5, answer = $6 \
             WHERE idempotency.trace_id = $7",
            &[
                &&*key.agent,
                &key.key,
                &key.digest.to_string(),
                &trace_id.as_str(),
                &key.at.millis(),
                &key.answer,
                &replaced,
            ],
        )
        .await?;
    Ok(kept == 1)
}

pub(super) async fn keyed_answer(
    sql: &ClientWrapper,
    agent: &str,
    key: &str,
) -> Result<Option<KeyedAnswer>, Fault> {
    let find = sql
        .prepare_cached(
            "SELECT digest, trace_id, at, answer, (SELECT version FROM control) FROM idempotency \
             WHERE agent = $1 AND key = $2",
        )
        .await?;
    let Some(row) = sql.query_opt(&find, &[&agent, &key]).await? else {
        return Ok(None);
    };
    let (trace_id, at, answer) = (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    let version = rows::unsigned(&row, 4)?;
    let found = codec::keyed_answer(row.try_get(0)?, trace_id, at, answer, version)?;
    Ok(Some(found))
}

pub(super) async fn total_calls(sql: &ClientWrapper, agent: &str) -> Result<u64, Fault> {
    let find = sql
        .prepare_cached("SELECT calls FROM totals WHERE agent = $1")
        .await?;
    let found = sql.query_opt(&find, &[&agent]).await?;
    found.map_or(Ok(0), |row| rows::unsigned(&row, 0))
}
