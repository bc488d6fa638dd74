//! One transaction of the writer: what operations write through, so that the chain, the counts and the
//! events of a batch stay together.

use provost_core::{
    event::Event,
    time::Time,
    trace::{
        TraceRow,
        chain::{self, Hash},
    },
};
use rusqlite::{Connection, params};

use super::{CHAIN, fault::Fault, sightings::Sightings};
use crate::{codec, tally::Tally};

/// The last record of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

pub(super) struct Batch<'c> {
    sql: &'c Connection,
    before: Head,
    head: Head,
    version: u64,
    tally: Tally,
    sightings: &'c mut Sightings,
    made_events: bool,
}

pub(super) struct Committed {
    pub(super) head: Head,
    pub(super) made_events: bool,
}

impl<'c> Batch<'c> {
    /// Until [`Self::commit`], the head after the batch is the batch's own: rolling back needs no undo.
    pub(super) fn begin(
        sql: &'c Connection,
        head: Head,
        sightings: &'c mut Sightings,
    ) -> Result<Self, Fault> {
        sql.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let version = sql
            .prepare_cached("SELECT version FROM control")?
            .query_row([], |row| row.get(0))?;
        let tally = Tally::default();
        Ok(Self {
            sql,
            before: head,
            head,
            version,
            tally,
            sightings,
            made_events: false,
        })
    }

    pub(super) fn sql(&self) -> &'c Connection {
        self.sql
    }

    pub(super) fn execute(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, rusqlite::Error> {
        self.sql.prepare_cached(sql)?.execute(values)
    }

    /// Appends a record to the chain.
    pub(super) fn append(&mut self, row: &TraceRow) -> Result<(), Fault> {
        let seq = self.head.seq + 1;
        let hash = chain::next(&self.head.hash, seq, row.kind, &row.body);
        self.execute(
            "INSERT INTO traces (place, trace_id, kind, at, agent, session, tool, verdict, forwarded, \
             hash, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                seq,
                row.trace_id.as_str(),
                row.kind.as_str(),
                row.at.millis(),
                &*row.agent,
                row.session.as_deref(),
                &*row.tool,
                row.verdict,
                row.forwarded,
                &hash[..],
                row.body,
            ],
        )?;
        self.tally.add(row);
        self.sightings.add(self.sql, seq, row)?;
        self.head = Head { seq, hash };
        Ok(())
    }

    pub(super) fn event(&mut self, at: Time, event: &Event) -> Result<(), Fault> {
        let body = codec::to_json(event)?;
        let id: u64 = self
            .sql
            .prepare_cached("UPDATE event_counter SET last = last + 1 RETURNING last")?
            .query_row([], |row| row.get(0))?;
        let insert = "INSERT INTO events (id, at, body) VALUES (?1, ?2, ?3)";
        self.execute(insert, params![id, at.millis(), body])?;
        self.made_events = true;
        Ok(())
    }

    pub(super) fn entered(&self, agent: &str) -> u64 {
        self.tally.entered(agent)
    }

    /// The count of changes to stops, grants and keys, those of this batch included.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) fn bump_version(&mut self) -> Result<(), Fault> {
        self.execute("UPDATE control SET version = version + 1", [])?;
        self.version += 1;
        Ok(())
    }

    /// A write that changes nothing, to learn whether writes succeed.
    pub(super) fn touch(&self) -> Result<(), Fault> {
        self.execute("UPDATE control SET version = version", [])?;
        Ok(())
    }

    pub(super) fn commit(self) -> Result<Committed, Fault> {
        self.write_tally()?;
        if self.head != self.before {
            self.execute(
                "UPDATE chains SET head_seq = ?2, head_hash = ?3 WHERE chain = ?1",
                params![CHAIN, self.head.seq, &self.head.hash[..]],
            )?;
        }
        self.execute("COMMIT", [])?;
        Ok(Committed {
            head: self.head,
            made_events: self.made_events,
        })
    }

    fn write_tally(&self) -> Result<(), Fault> {
        for (agent, session, count) in self.tally.sessions() {
            self.execute(
                "INSERT INTO activity (agent, session, first_at, last_at, calls, denied) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO UPDATE SET \
                 first_at = min(first_at, excluded.first_at), \
                 last_at = max(last_at, excluded.last_at), \
                 calls = calls + excluded.calls, denied = denied + excluded.denied",
                params![
                    agent,
                    session,
                    count.first_at.millis(),
                    count.last_at.millis(),
                    count.calls,
                    count.denied
                ],
            )?;
        }
        for (agent, calls) in self.tally.agents() {
            self.execute(
                "INSERT INTO totals (agent, calls) VALUES (?1, ?2) \
                 ON CONFLICT DO UPDATE SET calls = calls + excluded.calls",
                params![agent, calls],
            )?;
        }
        Ok(())
    }
}
