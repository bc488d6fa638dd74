//! Calls that an earlier run of the gateway let through and did not live to see the end of.

use provost_core::{ids::TraceId, time::Time};
use rusqlite::params;

use super::{batch::Batch, fault::Fault};
use crate::notes::{self, Unfinished};

const CHUNK: usize = 500;

pub(super) struct Step {
    pub(super) recorded: u64,
    pub(super) last: bool,
}

/// Writes an outcome `unknown` for some of them. Those whose decision was pruned are only forgotten.
pub(super) fn step(batch: &mut Batch<'_>, run: &str, now: Time) -> Result<Step, Fault> {
    let ids: Vec<String> = batch
        .sql()
        .prepare_cached("SELECT trace_id FROM in_flight WHERE owner <> ?1 LIMIT ?2")?
        .query_map(params![run, CHUNK], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut recorded = 0;
    for id in &ids {
        batch.execute("DELETE FROM in_flight WHERE trace_id = ?1", [id])?;
        if let Some(call) = find(batch, id)? {
            batch.append(&notes::unknown_outcome(call, now))?;
            recorded += 1;
        }
    }
    Ok(Step {
        recorded,
        last: ids.len() < CHUNK,
    })
}

fn find(batch: &Batch<'_>, id: &str) -> Result<Option<Unfinished>, Fault> {
    let mut find = batch.sql().prepare_cached(
        "SELECT agent, session, tool FROM traces WHERE trace_id = ?1 AND kind = 'decision' \
         ORDER BY place DESC LIMIT 1",
    )?;
    let mut found = find.query_map([id], |row| {
        Ok(Unfinished {
            trace_id: TraceId::from(id),
            agent: row.get(0)?,
            session: row.get(1)?,
            tool: row.get(2)?,
        })
    })?;
    Ok(found.next().transpose()?)
}
