//! Forgetting what is old. First the anchor moves, in one transaction with the note that says so; then
//! the records before it go, in pieces that do not hold up the writer.

use provost_core::{ports::ChainEnds, time::Time};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{
    CHAIN,
    batch::{Batch, Head},
    fault::Fault,
    rows,
    sightings::BLOCK,
};
use crate::notes;

/// Rows removed in one transaction.
pub(super) const CHUNK: u64 = 2000;

/// The ends of the chain with the anchor at the last record of those that are all older than `before`, if
/// there are any.
pub(super) fn find_cut(sql: &Connection, before: Time) -> Result<Vec<ChainEnds>, Fault> {
    // One view for all questions: a record written between them would be taken for an old one.
    let view = sql.unchecked_transaction()?;
    find_cut_in(&view, before)
}

fn find_cut_in(sql: &Connection, before: Time) -> Result<Vec<ChainEnds>, Fault> {
    let ends = sql
        .prepare_cached(rows::CHAIN_ENDS)?
        .query_row([], |row| Ok(rows::chain_ends(row)))??;
    let anchor = ends.anchor_seq;
    let first_kept: Option<u64> = sql
        .prepare_cached(
            "SELECT place FROM traces WHERE place > ?1 AND at >= ?2 ORDER BY place LIMIT 1",
        )?
        .query_row(params![anchor, before.millis()], |row| row.get(0))
        .optional()?;
    let cut = sql
        .prepare_cached(
            "SELECT place, hash FROM traces WHERE place > ?1 AND place < ?2 \
             ORDER BY place DESC LIMIT 1",
        )?
        .query_row(
            params![anchor, first_kept.unwrap_or(i64::MAX as u64)],
            |row| Ok(rows::head(row)),
        )
        .optional()?
        .transpose()?;
    let with_anchor = |cut: Head| ChainEnds {
        anchor_seq: cut.seq,
        anchor_hash: cut.hash,
        ..ends
    };
    Ok(cut.map(with_anchor).into_iter().collect())
}

pub(super) fn move_anchor(batch: &mut Batch<'_>, cut: &ChainEnds, now: Time) -> Result<(), Fault> {
    let moved = batch.execute(
        "UPDATE chains SET anchor_seq = ?2, anchor_hash = ?3 WHERE chain = ?1 AND anchor_seq < ?2",
        params![CHAIN, cut.anchor_seq, &cut.anchor_hash[..]],
    )?;
    if moved == 1 {
        batch.append(&notes::pruned(CHAIN, cut.anchor_seq, &cut.anchor_hash, now))?;
    }
    Ok(())
}

/// How many went. What an interrupted pruning left behind the anchor goes too.
pub(super) fn remove_records(batch: &mut Batch<'_>) -> Result<u64, Fault> {
    let gone = batch.execute(
        "DELETE FROM traces WHERE place IN (SELECT place FROM traces WHERE place <= \
         (SELECT anchor_seq FROM chains WHERE chain = ?1) ORDER BY place LIMIT ?2)",
        params![CHAIN, CHUNK],
    )?;
    Ok(gone as u64)
}

/// Answered approvals, events, idempotency keys, idle sessions and dead grants. Whether there may be
/// more. Events go from their old end only: the rest stays gapless.
pub(super) fn forget(batch: &mut Batch<'_>, before: Time, now: Time) -> Result<bool, Fault> {
    let (before, now) = (before.millis(), now.millis());
    let gone = [
        batch.execute(
            "DELETE FROM approvals WHERE place IN (SELECT place FROM approvals \
             WHERE status <> 'pending' AND created_at < ?1 \
             AND (answered_at IS NOT NULL OR permit_until IS NULL OR permit_until <= ?2) LIMIT ?3)",
            params![before, now, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id < coalesce(\
             (SELECT id FROM events WHERE at >= ?1 ORDER BY id LIMIT 1), \
             (SELECT last + 1 FROM event_counter)) ORDER BY id LIMIT ?2)",
            params![before, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM sightings WHERE (what, name, block) IN (SELECT what, name, block \
             FROM sightings WHERE block < (SELECT anchor_seq FROM chains) / ?1 LIMIT ?2)",
            params![BLOCK, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM idempotency WHERE (agent, key) IN \
             (SELECT agent, key FROM idempotency WHERE at < ?1 LIMIT ?2)",
            params![before, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM given_trace_ids WHERE id IN \
             (SELECT id FROM given_trace_ids WHERE at < ?1 LIMIT ?2)",
            params![before, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM activity WHERE (agent, session) IN \
             (SELECT agent, session FROM activity WHERE last_at < ?1 LIMIT ?2)",
            params![before, CHUNK],
        )?,
        batch.execute(
            "DELETE FROM grants WHERE place IN (SELECT place FROM grants \
             WHERE revoked_at < ?1 OR expires_at < ?1 LIMIT ?2)",
            params![before, CHUNK],
        )?,
    ];
    Ok(gone.iter().any(|rows| *rows as u64 == CHUNK))
}
