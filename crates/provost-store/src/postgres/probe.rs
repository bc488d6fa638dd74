//! Whether the database takes what decisions, answers and stops write. Nothing of it stays.

use super::{batch::Batch, fault::Fault};

/// Shorter than whoever asks is willing to wait, so that the reason is known in time.
const PATIENCE: &str = "SET LOCAL lock_timeout = 1000; SET LOCAL statement_timeout = 1200;";
/// A write of no row needs the same locks and rights as any other.
const WRITES: &str = "\
    INSERT INTO in_flight SELECT * FROM in_flight WHERE false; \
    DELETE FROM in_flight WHERE false; \
    INSERT INTO activity SELECT * FROM activity WHERE false; \
    UPDATE activity SET calls = calls WHERE false; \
    INSERT INTO totals SELECT * FROM totals WHERE false; \
    UPDATE totals SET calls = calls WHERE false; \
    INSERT INTO idempotency SELECT * FROM idempotency WHERE false; \
    UPDATE idempotency SET answer = answer WHERE false; \
    INSERT INTO approvals SELECT * FROM approvals WHERE false; \
    UPDATE approvals SET status = status WHERE false; \
    INSERT INTO deliveries SELECT * FROM deliveries WHERE false; \
    UPDATE deliveries SET due_at = due_at WHERE false; \
    UPDATE grants SET uses = uses WHERE false; \
    INSERT INTO stops SELECT * FROM stops WHERE false; \
    UPDATE control SET version = version WHERE false; \
    UPDATE event_counter SET last = last WHERE false; \
    INSERT INTO events SELECT * FROM events WHERE false;";
const UNDO: &str = "ROLLBACK TO SAVEPOINT probe; RELEASE SAVEPOINT probe";

/// The inner error is of the probe alone: other operations of the batch go on, with the time that they have.
pub(super) async fn try_writes(batch: &Batch) -> Result<Result<(), Fault>, Fault> {
    let trace = format!(
        "INSERT INTO traces (chain, seq, trace_id, kind, at, agent, tool, verdict, forwarded, hash, body) \
         VALUES ('{}', -1, '', 'probe', 0, '', '', '', false, '', '');",
        batch.chain()
    );
    let sql = batch.sql();
    sql.batch_execute("SAVEPOINT probe").await?;
    let writes = format!("{PATIENCE} {WRITES} {trace}");
    match sql.batch_execute(&writes).await.map_err(Fault::from) {
        Err(fault) if fault.broke_the_link() => Err(fault),
        tried => {
            sql.batch_execute(UNDO).await?;
            Ok(tried)
        }
    }
}
