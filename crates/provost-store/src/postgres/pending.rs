//! What a batch has gathered, as columns: one statement writes any number of rows.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    time::Time,
    trace::{TraceRow, chain::Hash},
};

use super::{batch::execute, fault::Fault};
use crate::tally::Tally;

#[derive(Default)]
pub(super) struct Rows {
    seq: Vec<i64>,
    trace_id: Vec<String>,
    kind: Vec<&'static str>,
    at: Vec<i64>,
    agent: Vec<String>,
    session: Vec<Option<String>>,
    tool: Vec<String>,
    verdict: Vec<&'static str>,
    forwarded: Vec<bool>,
    hash: Vec<Vec<u8>>,
    body: Vec<String>,
}

impl Rows {
    pub(super) fn is_empty(&self) -> bool {
        self.seq.is_empty()
    }

    pub(super) fn push(&mut self, seq: u64, hash: &Hash, row: &TraceRow) {
        self.seq.push(seq as i64);
        self.trace_id.push(row.trace_id.to_string());
        self.kind.push(row.kind.as_str());
        self.at.push(row.at.millis());
        self.agent.push(row.agent.to_string());
        self.session.push(row.session.as_deref().map(str::to_owned));
        self.tool.push(row.tool.to_string());
        self.verdict.push(row.verdict);
        self.forwarded.push(row.forwarded);
        self.hash.push(hash.to_vec());
        self.body.push(row.body.clone());
    }

    pub(super) async fn write(&self, sql: &ClientWrapper, chain: &str) -> Result<(), Fault> {
        execute(
            sql,
            "INSERT INTO traces (chain, seq, trace_id, kind, at, agent, session, tool, verdict, \
             forwarded, hash, body) SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], \
             $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bool[], \
             $11::bytea[], $12::text[])",
            &[
                &chain,
                &self.seq,
                &self.trace_id,
                &self.kind,
                &self.at,
                &self.agent,
                &self.session,
                &self.tool,
                &self.verdict,
                &self.forwarded,
                &self.hash,
                &self.body,
            ],
        )
        .await?;
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Events {
    at: Vec<i64>,
    body: Vec<String>,
}

impl Events {
    pub(super) fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    pub(super) fn push(&mut self, at: Time, body: String) {
        self.at.push(at.millis());
        self.body.push(body);
    }

    /// The counter's row stays locked until the commit: events have no gaps, and their order is that of
    /// the commits. Hence it is the last thing a batch does.
    pub(super) async fn write(&self, sql: &ClientWrapper) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        execute(
            sql,
            "WITH counter AS (UPDATE event_counter SET last = last + $3 RETURNING last) \
             INSERT INTO events (id, at, body) SELECT counter.last - $3 + e.n, e.at, e.body \
             FROM counter, unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS e (at, body, n)",
            &[&self.at, &self.body, &(self.at.len() as i64)],
        )
        .await?;
        Ok(())
    }
}

pub(super) async fn write_sessions(sql: &ClientWrapper, tally: &Tally) -> Result<(), Fault> {
    let agent: Vec<&str> = tally.sessions().map(|(agent, _, _)| agent).collect();
    let session: Vec<&str> = tally.sessions().map(|(_, session, _)| session).collect();
    let first_at: Vec<i64> = tally
        .sessions()
        .map(|(_, _, c)| c.first_at.millis())
        .collect();
    let last_at: Vec<i64> = tally
        .sessions()
        .map(|(_, _, c)| c.last_at.millis())
        .collect();
    let calls: Vec<i64> = tally.sessions().map(|(_, _, c)| c.calls).collect();
    let denied: Vec<i64> = tally.sessions().map(|(_, _, c)| c.denied).collect();
    execute(
        sql,
        "INSERT INTO activity AS a (agent, session, first_at, last_at, calls, denied) \
         SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], \
         $6::bigint[]) ON CONFLICT (agent, session) DO UPDATE SET \
         first_at = least(a.first_at, excluded.first_at), \
         last_at = greatest(a.last_at, excluded.last_at), \
         calls = a.calls + excluded.calls, denied = a.denied + excluded.denied",
        &[&agent, &session, &first_at, &last_at, &calls, &denied],
    )
    .await?;
    Ok(())
}

pub(super) async fn write_totals(sql: &ClientWrapper, tally: &Tally) -> Result<(), Fault> {
    let (agent, calls): (Vec<&str>, Vec<i64>) = tally.agents().unzip();
    execute(
        sql,
        "INSERT INTO totals AS t (agent, calls) SELECT * FROM unnest($1::text[], $2::bigint[]) \
         ON CONFLICT (agent) DO UPDATE SET calls = t.calls + excluded.calls",
        &[&agent, &calls],
    )
    .await?;
    Ok(())
}
