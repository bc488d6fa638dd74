//! What is written behind the records: the counts of agents and sessions, and the calls in flight.
//!
//! Writing them with every commit would dirty more pages than the records do, and most calls are over
//! before anybody could look. They are written once a second instead, and before they are read. What a
//! crash leaves unwritten is found in the records at the next start.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use foldhash::HashSet;
use provost_core::{ids::TraceId, time::Time};
use rusqlite::{Connection, Row, params};

use super::fault::Fault;
use crate::tally::Tally;

const EVERY: Duration = Duration::from_secs(1);

/// What the records of a batch add.
#[derive(Default)]
pub(super) struct Added<'r> {
    pub(super) tally: Tally,
    calls: Vec<(Step, Cow<'r, TraceId>)>,
}

enum Step {
    Begun,
    Ended,
}

impl<'r> Added<'r> {
    pub(super) fn begin(&mut self, call: Cow<'r, TraceId>) {
        self.calls.push((Step::Begun, call));
    }

    pub(super) fn end(&mut self, call: Cow<'r, TraceId>) {
        self.calls.push((Step::Ended, call));
    }
}

/// What the records of many batches add.
#[derive(Clone, Default)]
struct Gathered {
    tally: Tally,
    /// Calls on their way.
    begun: HashSet<TraceId>,
    /// Calls that began earlier, and whose outcome is recorded.
    ended: Vec<TraceId>,
}

impl Gathered {
    fn begin(&mut self, call: &TraceId) {
        self.begun.insert(call.clone());
    }

    fn end(&mut self, call: &TraceId) {
        if !self.begun.remove(call) {
            self.ended.push(call.clone());
        }
    }

    fn add(&mut self, batch: &Added<'_>) {
        self.tally.merge(&batch.tally);
        for (step, call) in &batch.calls {
            match step {
                Step::Begun => self.begin(call),
                Step::Ended => self.end(call),
            }
        }
    }

    fn write(&self, sql: &Connection, run: &str) -> Result<(), Fault> {
        write_sessions(sql, &self.tally)?;
        write_totals(sql, &self.tally)?;
        let mut begin = sql
            .prepare_cached("INSERT OR REPLACE INTO in_flight (trace_id, owner) VALUES (?1, ?2)")?;
        for call in &self.begun {
            begin.execute([call.as_str(), run])?;
        }
        let mut end = sql.prepare_cached("DELETE FROM in_flight WHERE trace_id = ?1")?;
        for call in &self.ended {
            end.execute([call.as_str()])?;
        }
        Ok(())
    }
}

/// Of the writer.
pub(super) struct Behind {
    /// Of records that are committed.
    gathered: Gathered,
    /// Names this run of the gateway among those that have calls in flight.
    run: Box<str>,
    written_at: Instant,
}

impl Behind {
    pub(super) fn new(run: &str) -> Self {
        Self {
            gathered: Gathered::default(),
            run: run.into(),
            written_at: Instant::now(),
        }
    }

    /// Writes what an earlier run had no time to write. Its calls get nobody as their owner.
    pub(super) fn catch_up(sql: &Connection) -> Result<(), Fault> {
        let last: u64 = sql.query_row("SELECT coalesce(max(place), 0) FROM traces", [], |row| {
            row.get(0)
        })?;
        let added = find(sql)?;
        sql.execute_batch("BEGIN IMMEDIATE")?;
        let written = added.write(sql, "").and_then(|()| note(sql, last));
        sql.execute_batch(if written.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        })?;
        written
    }

    /// What the total of an agent lacks in the file.
    pub(super) fn entered(&self, agent: &str) -> u64 {
        self.gathered.tally.entered(agent)
    }

    pub(super) fn is_due(&self) -> bool {
        self.written_at.elapsed() >= EVERY
    }

    /// Writes all of it, and what the current batch adds, which reaches up to `place`.
    pub(super) fn write(
        &self,
        sql: &Connection,
        batch: &Added<'_>,
        place: u64,
    ) -> Result<(), Fault> {
        // The batch may fail yet, and then it has added nothing.
        let mut all = self.gathered.clone();
        all.add(batch);
        all.write(sql, &self.run)?;
        note(sql, place)
    }

    /// The batch that called [`Self::write`] is committed.
    pub(super) fn written(&mut self) {
        self.gathered = Gathered::default();
        self.written_at = Instant::now();
    }

    /// A batch that did not is committed.
    pub(super) fn add(&mut self, batch: &Added<'_>) {
        self.gathered.add(batch);
    }
}

fn note(sql: &Connection, place: u64) -> Result<(), Fault> {
    sql.prepare_cached("UPDATE behind SET place = ?1")?
        .execute([place])?;
    Ok(())
}

/// What the records add that were committed after the last writing.
fn find(sql: &Connection) -> Result<Gathered, Fault> {
    // An approved call is on its way when it is taken, not when it is approved. The taking writes
    // `in_flight` itself.
    let mut find = sql.prepare(
        "SELECT kind, trace_id, agent, session, at, verdict, forwarded AND NOT EXISTS \
         (SELECT 1 FROM approvals a WHERE a.trace_id = traces.trace_id) \
         FROM traces WHERE place > (SELECT place FROM behind) ORDER BY place",
    )?;
    let mut rows = find.query([])?;
    let mut added = Gathered::default();
    while let Some(row) = rows.next()? {
        add(&mut added, row)?;
    }
    Ok(added)
}

fn add(added: &mut Gathered, row: &Row<'_>) -> Result<(), Fault> {
    let (kind, call): (String, String) = (row.get(0)?, row.get(1)?);
    let call = TraceId::from(call);
    let (agent, session): (String, Option<String>) = (row.get(2)?, row.get(3)?);
    let (at, verdict): (_, String) = (Time::from_millis(row.get(4)?), row.get(5)?);
    match (&*kind, session) {
        ("decision", session) => {
            let session = session.map(Into::into);
            added
                .tally
                .count(&agent.into(), session.as_ref(), at, &verdict);
            if row.get(6)? {
                added.begin(&call);
            }
        }
        ("outcome", _) => added.end(&call),
        (_, Some(session)) => added.tally.see(&agent.into(), &session.into(), at),
        _ => {}
    }
    Ok(())
}

fn write_sessions(sql: &Connection, tally: &Tally) -> Result<(), Fault> {
    let mut upsert = sql.prepare_cached(
        "INSERT INTO activity (agent, session, first_at, last_at, calls, denied) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET \
         first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at), \
         calls = calls + excluded.calls, denied = denied + excluded.denied",
    )?;
    for (agent, session, count) in tally.sessions() {
        upsert.execute(params![
            agent,
            session,
            count.first_at.millis(),
            count.last_at.millis(),
            count.calls,
            count.denied
        ])?;
    }
    Ok(())
}

fn write_totals(sql: &Connection, tally: &Tally) -> Result<(), Fault> {
    let mut upsert = sql.prepare_cached(
        "INSERT INTO totals (agent, calls) VALUES (?1, ?2) \
         ON CONFLICT DO UPDATE SET calls = calls + excluded.calls",
    )?;
    for (agent, calls) in tally.agents() {
        upsert.execute(params![agent, calls])?;
    }
    Ok(())
}
