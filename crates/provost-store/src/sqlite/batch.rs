//! One transaction of the writer: what operations write through, so that the chain, the counts and the
//! events of a batch stay together.

use std::{borrow::Cow, mem};

use provost_core::{
    event::Event,
    ids::TraceId,
    time::Time,
    trace::{
        TraceRow,
        chain::{self, Hash},
    },
};
use rusqlite::{Connection, params};

use super::{
    CHAIN,
    behind::{Added, Behind},
    fault::Fault,
    insert::{Linked, insert, insert_at},
    sightings::Sightings,
};
use crate::codec;

/// The last record of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

pub(super) struct Batch<'c> {
    sql: &'c Connection,
    /// Records in the chain that are not in the table yet.
    waiting: Vec<Linked<'c>>,
    /// Whether the last record in the table is the last one of the chain.
    ends_at_head: bool,
    before: Head,
    head: Head,
    version: u64,
    added: Added<'c>,
    sightings: &'c mut Sightings,
    behind: &'c mut Behind,
    writes_behind: bool,
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
        behind: &'c mut Behind,
    ) -> Result<Self, Fault> {
        sql.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let (version, last) = sql
            .prepare_cached("SELECT version, (SELECT max(place) FROM traces) FROM control")?
            .query_row([], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))?;
        Ok(Self {
            sql,
            waiting: Vec::new(),
            ends_at_head: last.unwrap_or_default() == head.seq as i64,
            before: head,
            head,
            version,
            added: Added::default(),
            sightings,
            writes_behind: behind.is_due(),
            behind,
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
        self.flush()?;
        let link = self.link(row)?;
        self.insert(&[Linked { link, row }])
    }

    /// As [`Self::append`], but the record may come into the table with others, after [`Self::flush`].
    pub(super) fn append_soon(&mut self, row: &'c TraceRow) -> Result<(), Fault> {
        let link = self.link(row)?;
        self.waiting.push(Linked { link, row });
        Ok(())
    }

    /// From here on, the records appended so far can be read.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        let waiting = mem::take(&mut self.waiting);
        self.insert(&waiting)
    }

    fn insert(&self, records: &[Linked<'_>]) -> Result<(), Fault> {
        if self.ends_at_head {
            insert(self.sql, records)
        } else {
            insert_at(self.sql, records)
        }
    }

    fn link(&mut self, row: &TraceRow) -> Result<Head, Fault> {
        let seq = self.head.seq + 1;
        let hash = chain::next(&self.head.hash, seq, row.kind, &row.body);
        self.added.tally.add(row);
        self.sightings.add(self.sql, seq, row)?;
        self.head = Head { seq, hash };
        Ok(self.head)
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

    /// The calls of an agent that are not counted in the file.
    pub(super) fn entered(&self, agent: &str) -> u64 {
        self.behind.entered(agent) + self.added.tally.entered(agent)
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

    /// A call is on its way: until its outcome is recorded, [`super::recover`] knows of it.
    pub(super) fn begin_call(&mut self, id: Cow<'c, TraceId>) {
        self.added.begin(id);
    }

    pub(super) fn end_call(&mut self, id: Cow<'c, TraceId>) {
        self.added.end(id);
    }

    /// With this commit, [`Behind`] is written: it will be read.
    pub(super) fn write_behind(&mut self) {
        self.writes_behind = true;
    }

    pub(super) fn commit(mut self) -> Result<Committed, Fault> {
        self.flush()?;
        if self.writes_behind {
            self.behind.write(self.sql, &self.added, self.head.seq)?;
        }
        if self.head != self.before {
            self.execute(
                "UPDATE chains SET head_seq = ?2, head_hash = ?3 WHERE chain = ?1",
                params![CHAIN, self.head.seq, &self.head.hash[..]],
            )?;
        }
        self.execute("COMMIT", [])?;
        if self.writes_behind {
            self.behind.written();
        } else {
            self.behind.add(&self.added);
        }
        Ok(Committed {
            head: self.head,
            made_events: self.made_events,
        })
    }
}
