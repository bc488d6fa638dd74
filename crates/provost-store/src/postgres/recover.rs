//! Calls that another process let through and did not live to see the end of.

use provost_core::{ids::TraceId, time::Time};

use super::{
    batch::{Batch, SERVER_NOW},
    fault::Fault,
};
use crate::notes::{self, Unfinished};

const CHUNK: i64 = 500;
/// A process that was not seen for so long is dead. If it is not, it will find its chain ended and stop.
const SILENCE_MILLIS: i64 = 60_000;

pub(super) struct Step {
    pub(super) recorded: u64,
    pub(super) last: bool,
}

/// Ends the chains of dead processes, and writes an outcome `unknown` for some of their calls. Calls
/// whose decision was pruned are only forgotten.
pub(super) async fn step(batch: &mut Batch, now: Time) -> Result<Step, Fault> {
    let end = format!(
        "UPDATE chains SET ended_at = {SERVER_NOW} WHERE ended_at IS NULL AND chain <> $1 \
         AND seen_at < {SERVER_NOW} - $2"
    );
    batch
        .execute(&end, &[&batch.chain(), &SILENCE_MILLIS])
        .await?;
    let find = "SELECT f.trace_id, d.agent, d.session, d.tool FROM in_flight f \
         JOIN chains c ON c.chain = f.owner AND c.ended_at IS NOT NULL \
         LEFT JOIN LATERAL (SELECT agent, session, tool FROM traces \
         WHERE trace_id = f.trace_id AND kind = 'decision' ORDER BY place DESC LIMIT 1) d ON true \
         LIMIT $1 FOR UPDATE OF f";
    let found = batch.sql().query(find, &[&CHUNK]).await?;
    let mut recorded = 0;
    for row in &found {
        let trace_id = TraceId::from(row.try_get::<_, &str>(0)?);
        batch.has_outcome(&trace_id);
        if let Some(agent) = row.try_get(1)? {
            let (session, tool) = (row.try_get(2)?, row.try_get(3)?);
            let call = Unfinished {
                trace_id,
                agent,
                session,
                tool,
            };
            batch.append(&notes::unknown_outcome(call, now));
            recorded += 1;
        }
    }
    Ok(Step {
        recorded,
        last: (found.len() as i64) < CHUNK,
    })
}
