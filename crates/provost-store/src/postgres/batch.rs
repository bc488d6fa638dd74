//! One transaction of the writer. What operations add to the chain, the counts and the events is
//! gathered here and written in a few statements at the end, however many operations there were.
//!
//! Transactions of several replicas must not wait for one another in circles. So locks are taken in
//! one order: first the advisory locks the batch needs (control, approvals, maintenance), then the rows
//! of grants by id, then what the operations touch, and last the rows that everybody writes: counts,
//! sorted, the chains, and the counter of events. What is left is resolved by the server's deadlock
//! detection: the loser's operations run again, each alone.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use futures_util::future::{BoxFuture, try_join_all};
use provost_core::{
    event::Event,
    ids::TraceId,
    ports::ChainEnds,
    time::Time,
    trace::{
        TraceRow,
        chain::{self, Hash},
    },
};
use tokio_postgres::{SimpleQueryMessage, types::ToSql};

use super::{
    fault::Fault,
    grants::Grants,
    locks::Locks,
    pending::{self, Events, Rows},
};
use crate::{
    codec::{self, Garbled},
    tally::Tally,
};

/// Milliseconds by the server's clock, the one all replicas share.
pub(super) const SERVER_NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The last record of the own chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

pub(super) struct Batch {
    sql: Arc<ClientWrapper>,
    chain: Arc<str>,
    before: Head,
    head: Head,
    version: u64,
    grants: Grants,
    rows: Rows,
    events: Events,
    tally: Tally,
    sent: Vec<String>,
    returned: Vec<String>,
    anchors: Vec<ChainEnds>,
}

pub(super) struct Committed {
    pub(super) head: Head,
    pub(super) made_events: bool,
}

impl Batch {
    pub(super) async fn begin(
        sql: Arc<ClientWrapper>,
        chain: Arc<str>,
        head: Head,
        locks: Locks,
        grants: Vec<&str>,
    ) -> Result<Self, Fault> {
        // One round trip. Each statement sees what was committed before it began, so the version is
        // read after the lock that keeps it.
        let begin = format!("BEGIN; {} SELECT version FROM control", locks.sql());
        let answers = sql.simple_query(&begin).await?;
        let version = answers.iter().rev().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
            _ => None,
        });
        let version = version.ok_or_else(|| Garbled::new("a control version", "none"))?;
        let grants = Grants::lock(&sql, grants).await?;
        Ok(Self {
            sql,
            chain,
            before: head,
            head,
            version,
            grants,
            rows: Rows::default(),
            events: Events::default(),
            tally: Tally::default(),
            sent: Vec::new(),
            returned: Vec::new(),
            anchors: Vec::new(),
        })
    }

    pub(super) fn sql(&self) -> &ClientWrapper {
        &self.sql
    }

    pub(super) fn chain(&self) -> &str {
        &self.chain
    }

    /// Where the chain stood when this began.
    pub(super) fn before(&self) -> Head {
        self.before
    }

    /// Where this moves it.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    pub(super) async fn execute(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, Fault> {
        execute(&self.sql, sql, values).await
    }

    /// Appends a record to the chain of this process.
    pub(super) fn append(&mut self, row: &TraceRow) {
        let seq = self.head.seq + 1;
        let hash = chain::next(&self.head.hash, seq, row.kind, &row.body);
        self.rows.push(seq, &hash, row);
        self.tally.add(row);
        self.head = Head { seq, hash };
    }

    pub(super) fn event(&mut self, at: Time, event: &Event) -> Result<(), Fault> {
        self.events.push(at, codec::to_json(event)?);
        Ok(())
    }

    pub(super) fn entered(&self, agent: &str) -> u64 {
        self.tally.entered(agent)
    }

    /// The count of changes to stops, grants and keys, those of this batch included.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    pub(super) async fn bump_version(&mut self) -> Result<(), Fault> {
        self.execute("UPDATE control SET version = version + 1", &[])
            .await?;
        self.version += 1;
        Ok(())
    }

    pub(super) fn grants(&mut self) -> &mut Grants {
        &mut self.grants
    }

    /// A call is on its way: until its outcome is recorded, [`super::recover`] knows of it.
    pub(super) fn await_outcome(&mut self, trace_id: &TraceId) {
        self.sent.push(trace_id.to_string());
    }

    pub(super) fn has_outcome(&mut self, trace_id: &TraceId) {
        self.returned.push(trace_id.to_string());
    }

    pub(super) fn move_anchor(&mut self, ends: ChainEnds) {
        self.anchors.push(ends);
    }

    pub(super) async fn commit(self) -> Result<Committed, Fault> {
        self.write_gathered().await?;
        self.events.write(&self.sql).await?;
        self.sql.batch_execute("COMMIT").await?;
        Ok(Committed {
            head: self.head,
            made_events: !self.events.is_empty(),
        })
    }

    /// In one round trip, and in the order they stand here.
    async fn write_gathered(&self) -> Result<(), Fault> {
        let mut writes: Vec<BoxFuture<'_, Result<(), Fault>>> = Vec::new();
        if !self.rows.is_empty() {
            writes.push(Box::pin(self.rows.write(&self.sql, &self.chain)));
        }
        if !self.sent.is_empty() {
            writes.push(Box::pin(self.write_sent()));
        }
        if !self.returned.is_empty() {
            writes.push(Box::pin(self.write_returned()));
        }
        if self.grants.were_used() {
            writes.push(Box::pin(self.grants.write(&self.sql)));
        }
        if !self.tally.is_empty() {
            writes.push(Box::pin(pending::write_sessions(&self.sql, &self.tally)));
            writes.push(Box::pin(pending::write_totals(&self.sql, &self.tally)));
        }
        if !self.anchors.is_empty() {
            writes.push(Box::pin(self.write_anchors()));
        }
        if self.head != self.before {
            writes.push(Box::pin(self.move_head()));
        }
        try_join_all(writes).await?;
        Ok(())
    }

    async fn write_sent(&self) -> Result<(), Fault> {
        self.execute(
            "INSERT INTO in_flight (trace_id, owner) SELECT trace_id, $2 FROM unnest($1::text[]) \
             AS t (trace_id) ON CONFLICT (trace_id) DO UPDATE SET owner = excluded.owner",
            &[&self.sent, &&*self.chain],
        )
        .await?;
        Ok(())
    }

    async fn write_returned(&self) -> Result<(), Fault> {
        let delete = "DELETE FROM in_flight WHERE trace_id = ANY($1)";
        self.execute(delete, &[&self.returned]).await?;
        Ok(())
    }

    async fn write_anchors(&self) -> Result<(), Fault> {
        let chain: Vec<&str> = self.anchors.iter().map(|ends| &*ends.chain).collect();
        let seq: Vec<i64> = self
            .anchors
            .iter()
            .map(|ends| ends.anchor_seq as i64)
            .collect();
        let hash: Vec<&[u8]> = self
            .anchors
            .iter()
            .map(|ends| &ends.anchor_hash[..])
            .collect();
        self.execute(
            "UPDATE chains SET anchor_seq = a.seq, anchor_hash = a.hash \
             FROM unnest($1::text[], $2::bigint[], $3::bytea[]) AS a (chain, seq, hash) \
             WHERE chains.chain = a.chain AND chains.anchor_seq < a.seq",
            &[&chain, &seq, &hash],
        )
        .await?;
        Ok(())
    }

    /// Names the head it starts from: if the row says otherwise, this process does not know its own
    /// chain, and must not write to it.
    async fn move_head(&self) -> Result<(), Fault> {
        let update = format!(
            "UPDATE chains SET head_seq = $2, head_hash = $3, seen_at = {SERVER_NOW} \
             WHERE chain = $1 AND head_seq = $4 AND ended_at IS NULL"
        );
        let (after, before) = (self.head.seq as i64, self.before.seq as i64);
        let moved = self
            .execute(
                &update,
                &[&&*self.chain, &after, &&self.head.hash[..], &before],
            )
            .await?;
        if moved == 1 {
            Ok(())
        } else {
            Err(Fault::Moved)
        }
    }
}

pub(super) async fn execute(
    sql: &ClientWrapper,
    statement: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, Fault> {
    let statement = sql.prepare_cached(statement).await?;
    Ok(sql.execute(&statement, values).await?)
}
