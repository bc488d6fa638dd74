//! Forgetting what is old, in every chain, by one replica at a time. First the anchors move, in one
//! transaction with the notes that say so; then the records before them go, in small pieces.

use deadpool_postgres::{ClientWrapper, Transaction};
use provost_core::{ports::ChainEnds, time::Time};
use tokio_postgres::IsolationLevel;

use super::{batch::Batch, fault::Fault, rows};
use crate::{codec, notes};

/// Rows removed in one transaction.
pub(super) const CHUNK: u64 = 2000;

/// For each chain that has records to lose, its ends with the anchor at the last of them. Read beside the
/// writer, because it may take long; records never change, so what it finds stays true.
pub(super) async fn find_cuts(
    sql: &mut ClientWrapper,
    before: Time,
) -> Result<Vec<ChainEnds>, Fault> {
    // One view for all questions: a record written between them would be taken for an old one.
    let reading = sql
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    reading
        .batch_execute("SET LOCAL statement_timeout = 0")
        .await?;
    let chains = format!(
        "{} WHERE head_seq > anchor_seq ORDER BY chain",
        rows::CHAIN_ENDS
    );
    let mut cuts = Vec::new();
    for row in reading.query(&chains, &[]).await? {
        cuts.extend(find_cut(&reading, rows::chain_ends(&row)?, before).await?);
    }
    reading.commit().await?;
    Ok(cuts)
}

async fn find_cut(
    sql: &Transaction<'_>,
    ends: ChainEnds,
    before: Time,
) -> Result<Option<ChainEnds>, Fault> {
    let first_kept = "SELECT seq FROM traces WHERE chain = $1 AND seq > $2 AND at >= $3 \
         ORDER BY seq LIMIT 1";
    let anchor = ends.anchor_seq as i64;
    let first_kept = sql
        .query_opt(first_kept, &[&ends.chain, &anchor, &before.millis()])
        .await?;
    let first_kept = first_kept.map_or(Ok(i64::MAX), |row| row.try_get(0))?;
    let cut = "SELECT seq, hash FROM traces WHERE chain = $1 AND seq > $2 AND seq < $3 \
         ORDER BY seq DESC LIMIT 1";
    let Some(row) = sql
        .query_opt(cut, &[&ends.chain, &anchor, &first_kept])
        .await?
    else {
        return Ok(None);
    };
    let (anchor_seq, anchor_hash) = (rows::unsigned(&row, 0)?, codec::hash(row.try_get(1)?)?);
    Ok(Some(ChainEnds {
        anchor_seq,
        anchor_hash,
        ..ends
    }))
}

pub(super) async fn move_anchors(
    batch: &mut Batch,
    cuts: &[ChainEnds],
    now: Time,
) -> Result<(), Fault> {
    for cut in cuts {
        let find = "SELECT 1 FROM chains WHERE chain = $1 AND anchor_seq < $2";
        let seq = cut.anchor_seq as i64;
        if batch
            .sql()
            .query_opt(find, &[&cut.chain, &seq])
            .await?
            .is_some()
        {
            batch.move_anchor(cut.clone());
            batch.append(&notes::pruned(
                &cut.chain,
                cut.anchor_seq,
                &cut.anchor_hash,
                now,
            ));
        }
    }
    Ok(())
}

/// How many went. What an interrupted pruning left behind the anchors goes too.
pub(super) async fn remove_records(batch: &mut Batch) -> Result<u64, Fault> {
    batch
        .execute(
            "DELETE FROM traces WHERE place IN (SELECT t.place FROM chains c \
             CROSS JOIN LATERAL (SELECT place FROM traces WHERE chain = c.chain \
             AND seq <= c.anchor_seq ORDER BY seq LIMIT $1) t LIMIT $1)",
            &[&(CHUNK as i64)],
        )
        .await
}

/// Answered approvals, events, idempotency keys, idle sessions and dead grants. Whether there may be
/// more. Events go from their old end only: the rest stays gapless.
pub(super) async fn forget(batch: &mut Batch, before: Time, now: Time) -> Result<bool, Fault> {
    let (before, now, chunk) = (before.millis(), now.millis(), CHUNK as i64);
    let approvals = "DELETE FROM approvals WHERE place IN (SELECT place FROM approvals \
         WHERE status <> 'pending' AND created_at < $1 \
         AND (answered_at IS NOT NULL OR permit_until IS NULL OR permit_until <= $2) LIMIT $3)";
    let mut gone = vec![batch.execute(approvals, &[&before, &now, &chunk]).await?];
    for forget in [
        "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id < coalesce(\
         (SELECT id FROM events WHERE at >= $1 ORDER BY id LIMIT 1), \
         (SELECT last + 1 FROM event_counter)) ORDER BY id LIMIT $2)",
        "DELETE FROM idempotency WHERE (agent, key) IN \
         (SELECT agent, key FROM idempotency WHERE at < $1 LIMIT $2)",
        "DELETE FROM given_trace_ids WHERE id IN \
         (SELECT id FROM given_trace_ids WHERE at < $1 LIMIT $2)",
        "DELETE FROM activity WHERE (agent, session) IN \
         (SELECT agent, session FROM activity WHERE last_at < $1 \
         ORDER BY agent, session LIMIT $2)",
        "DELETE FROM grants WHERE place IN (SELECT place FROM grants \
         WHERE revoked_at < $1 OR expires_at < $1 LIMIT $2)",
    ] {
        gone.push(batch.execute(forget, &[&before, &chunk]).await?);
    }
    Ok(gone.contains(&CHUNK))
}
