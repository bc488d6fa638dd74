//! Where in the record a name occurs: a coarse index by agent, session and tool.
//!
//! An index with an entry for every record would rewrite a page for every name of every batch, and cost
//! half the throughput. Here a name has one entry for each block of records it occurs in, and a list
//! reads those blocks only.

use std::sync::Arc;

use foldhash::HashSet;
use provost_core::trace::{RecordKind, TraceRow};
use rusqlite::{Connection, params};

use super::fault::Fault;

/// Records in a block.
pub(super) const BLOCK: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Agent = 1,
    Session = 2,
    Tool = 3,
}

/// The names that the current block is known to hold.
#[derive(Default)]
pub(super) struct Sightings {
    block: u64,
    agents: HashSet<Arc<str>>,
    sessions: HashSet<Arc<str>>,
    tools: HashSet<Arc<str>>,
}

impl Sightings {
    /// Notes what the record at `place` names. After a rollback, begin anew with `default()`.
    pub(super) fn add(
        &mut self,
        sql: &Connection,
        place: u64,
        row: &TraceRow,
    ) -> Result<(), Fault> {
        if row.kind != RecordKind::Decision {
            return Ok(());
        }
        let block = place / BLOCK;
        if block != self.block {
            *self = Self {
                block,
                ..Self::default()
            };
        }
        let names = [
            (What::Agent, Some(&row.agent), &mut self.agents),
            (What::Session, row.session.as_ref(), &mut self.sessions),
            (What::Tool, Some(&row.tool), &mut self.tools),
        ];
        for (what, name, known) in names {
            if let Some(name) = name
                && !known.contains(name)
            {
                sql.prepare_cached("INSERT OR IGNORE INTO sightings VALUES (?1, ?2, ?3)")?
                    .execute(params![what as i64, &**name, block])?;
                known.insert(name.clone());
            }
        }
        Ok(())
    }
}
