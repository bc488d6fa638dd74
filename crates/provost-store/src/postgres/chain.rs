//! The chain of this process: begun when it starts, kept alive by its writer, ended with it.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use provost_core::{
    ids::{hex, random_bytes},
    ports::StoreError,
    time::Time,
    trace::chain,
};

use super::{
    batch::{Batch, Head, SERVER_NOW, execute},
    fault::Fault,
    locks::Locks,
    probe, rows,
};
use crate::{codec, notes};

/// Begins a chain whose first record names the heads of all others that still hold records.
pub(super) async fn begin(
    sql: ClientWrapper,
    now: Time,
) -> Result<(ClientWrapper, Arc<str>, Head), Fault> {
    let sql = Arc::new(sql);
    let name: Arc<str> = hex(&random_bytes::<8>()).into();
    let start = Head {
        seq: 0,
        hash: chain::genesis(&name),
    };
    let mut batch = Batch::begin(
        sql.clone(),
        name.clone(),
        start,
        Locks::MAINTENANCE,
        Vec::new(),
    )
    .await?;
    let others = format!(
        "{} WHERE head_seq > anchor_seq ORDER BY chain",
        rows::CHAIN_ENDS
    );
    let others = batch.sql().query(&others, &[]).await?;
    let others: Vec<_> = others
        .iter()
        .map(rows::chain_ends)
        .collect::<Result<_, _>>()?;
    let insert = format!("INSERT INTO chains VALUES ($1, 0, $2, 0, $2, {SERVER_NOW}, NULL)");
    batch.execute(&insert, &[&&*name, &&start.hash[..]]).await?;
    batch.append(&notes::chain_opened(&others, now));
    let committed = batch.commit().await?;
    let sql = Arc::into_inner(sql).ok_or(Fault::Moved)?;
    Ok((sql, name, committed.head))
}

/// Where the chain stands. Waits for a commit in doubt: it holds the row, and so this sees its end.
pub(super) async fn find_head(sql: &ClientWrapper, name: &str) -> Result<Head, Fault> {
    let find = "SELECT head_seq, head_hash, ended_at FROM chains WHERE chain = $1 FOR UPDATE";
    let row = sql.query_opt(find, &[&name]).await?.ok_or(Fault::Ended)?;
    if row.try_get::<_, Option<i64>>(2)?.is_some() {
        return Err(Fault::Ended);
    }
    Ok(Head {
        seq: row.try_get::<_, i64>(0)? as u64,
        hash: codec::hash(row.try_get(1)?)?,
    })
}

pub(super) async fn beat(sql: &ClientWrapper, name: &str) -> Result<(), Fault> {
    let beat =
        format!("UPDATE chains SET seen_at = {SERVER_NOW} WHERE chain = $1 AND ended_at IS NULL");
    match execute(sql, &beat, &[&name]).await? {
        1 => Ok(()),
        _ => Err(Fault::Ended),
    }
}

pub(super) async fn end(sql: &ClientWrapper, name: &str) -> Result<(), Fault> {
    let end =
        format!("UPDATE chains SET ended_at = {SERVER_NOW} WHERE chain = $1 AND ended_at IS NULL");
    execute(sql, &end, &[&name]).await?;
    Ok(())
}

/// Writes that change nothing but the heartbeat, to learn whether writes succeed, and go on from where this
/// process left the chain. The inner error leaves the batch as it was.
pub(super) async fn touch(batch: &mut Batch) -> Result<Result<(), StoreError>, Fault> {
    if let Err(fault) = probe::try_writes(batch).await? {
        return Ok(Err(fault.into()));
    }
    beat(batch.sql(), batch.chain()).await?;
    let found = find_head(batch.sql(), batch.chain()).await?;
    if found == batch.before() {
        Ok(Ok(()))
    } else {
        Err(Fault::Moved)
    }
}
