//! Reading the record: lists, single traces, and chains as they stand.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    ports::{
        Activity, CHAIN_PAGE_BYTES, ChainEnds, ChainRecord, PAGE_BYTES, TraceEntry, TraceFilter,
        TracePage, Unreadable,
    },
    time::Time,
};

use super::{
    batch::SERVER_NOW,
    fault::Fault,
    rows::{self, parameters},
};
use crate::{
    codec::{self, Garbled},
    filter::{self, CLOCK_SLACK, Dialect, Value},
};

const MIN_PREFIX: usize = 8;
/// Places looked at in one query, beyond those the page still needs.
const CHUNK: usize = 1000;

/// A decision with the outcome that followed it.
const ENTRY: &str = "SELECT d.place, d.body, \
     EXISTS (SELECT 1 FROM in_flight f WHERE f.trace_id = d.trace_id), (SELECT o.body FROM traces o \
     WHERE o.trace_id = d.trace_id AND o.kind = 'outcome' AND o.place > d.place \
     ORDER BY o.place LIMIT 1) FROM traces d";

/// Finds the places first, so that a glob which matches little reads no bodies in vain.
pub(super) async fn list(sql: &ClientWrapper, filter: &TraceFilter) -> Result<TracePage, Fault> {
    let places = places(sql, filter).await?;
    let entries = format!("{ENTRY} WHERE d.place = ANY($1) ORDER BY d.place DESC");
    let entries = sql.prepare_cached(&entries).await?;
    let found = sql.query(&entries, &[&places]).await?;
    TracePage::of(filter.limit, found.iter().map(rows::trace_entry))
}

/// As many as fill a page.
async fn places(sql: &ClientWrapper, filter: &TraceFilter) -> Result<Vec<i64>, Fault> {
    let first = match filter.since {
        Some(since) => first_since(sql, since.minus(CLOCK_SLACK)).await?,
        None => 0,
    };
    let mut before = filter.before.map_or(i64::MAX, |place| place as i64);
    let (mut places, mut bytes) = (Vec::new(), 0);
    let is_full = |places: &Vec<i64>, bytes| places.len() >= filter.limit || bytes >= PAGE_BYTES;
    while !is_full(&places, bytes) {
        let (mut conditions, tools) = filter::traces(Dialect::Postgres, filter);
        conditions.and(
            "place >= @ AND place < @",
            [Value::Int(first), Value::Int(before)],
        );
        let wanted = filter.limit - places.len() + CHUNK;
        let find = format!(
            "SELECT place, tool, octet_length(body) FROM traces WHERE {} ORDER BY place DESC LIMIT {wanted}",
            conditions.sql()
        );
        // Not cached: the number of different filters is not bounded.
        let found = sql.query(&find, &parameters(conditions.values())).await?;
        for row in &found {
            before = row.try_get(0)?;
            if !is_full(&places, bytes) && tools.matches(row.try_get(1)?) {
                places.push(before);
                bytes += usize::try_from(row.try_get::<_, i32>(2)?).unwrap_or_default();
            }
        }
        if found.len() < wanted {
            break;
        }
    }
    Ok(places)
}

/// The first place at or after which records of this time may stand, found by halving.
async fn first_since(sql: &ClientWrapper, since: Time) -> Result<i64, Fault> {
    let ends = "SELECT coalesce(min(place), 0), coalesce(max(place), 0) FROM traces";
    let ends = sql.query_one(ends, &[]).await?;
    let at = "SELECT at FROM traces WHERE place >= $1 ORDER BY place LIMIT 1";
    let at = sql.prepare_cached(at).await?;
    let (mut low, mut high): (i64, i64) = (ends.try_get(0)?, ends.try_get(1)?);
    while low < high {
        let middle = low + (high - low) / 2;
        let row = sql.query_opt(&at, &[&middle]).await?;
        match row.map(|row| row.try_get::<_, i64>(0)).transpose()? {
            Some(time) if time < since.millis() => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// By the whole id the newest decision, by a prefix only if no other trace has it.
pub(super) async fn one(sql: &ClientWrapper, id: &str) -> Result<Option<TraceEntry>, Fault> {
    let newest = format!(
        "{ENTRY} WHERE d.trace_id = $1 AND d.kind = 'decision' ORDER BY d.place DESC LIMIT 1"
    );
    let newest = sql.prepare_cached(&newest).await?;
    if let Some(row) = sql.query_opt(&newest, &[&id]).await? {
        return Ok(Some(rows::trace_entry(&row)?));
    }
    let Some(end) = filter::end_of_prefix(id).filter(|_| id.len() >= MIN_PREFIX) else {
        return Ok(None);
    };
    let find = "SELECT DISTINCT trace_id FROM traces WHERE trace_id >= $1 AND trace_id < $2 \
         AND kind = 'decision' LIMIT 2";
    let find = sql.prepare_cached(find).await?;
    let ids = sql.query(&find, &[&id, &end]).await?;
    let [only] = &*ids else { return Ok(None) };
    let only: &str = only.try_get(0)?;
    let row = sql.query_opt(&newest, &[&only]).await?;
    row.as_ref().map(rows::trace_entry).transpose()
}

pub(super) async fn activity(sql: &ClientWrapper, limit: usize) -> Result<Vec<Activity>, Fault> {
    let list = "SELECT agent, session, first_at, last_at, calls, denied FROM activity \
         ORDER BY last_at DESC, agent, session LIMIT $1";
    let list = sql.prepare_cached(list).await?;
    let found = sql.query(&list, &[&(limit as i64)]).await?;
    let activity = |row: &tokio_postgres::Row| {
        Ok(Activity {
            agent_id: row.try_get(0)?,
            session_id: codec::session(row.try_get(1)?),
            first_at: rows::time(row, 2)?,
            last_at: rows::time(row, 3)?,
            calls: rows::unsigned(row, 4)?,
            denied: rows::unsigned(row, 5)?,
        })
    };
    found.iter().map(activity).collect()
}

/// The names in `traces`, one look at the index for each.
const NAMES: &str = "WITH RECURSIVE names AS (SELECT min(chain) AS chain FROM traces UNION ALL \
     SELECT (SELECT min(t.chain) FROM traces t WHERE t.chain > names.chain) FROM names \
     WHERE names.chain IS NOT NULL) SELECT chain FROM names WHERE chain IS NOT NULL";

pub(super) async fn chains(sql: &ClientWrapper) -> Result<Vec<ChainEnds>, Fault> {
    // The names first: a chain that begins in between is known by then.
    let names = sql.query(NAMES, &[]).await?;
    let list = format!("{} ORDER BY chain", rows::CHAIN_ENDS);
    let mut chains: Vec<_> = sql
        .query(&list, &[])
        .await?
        .iter()
        .map(rows::chain_ends)
        .collect::<Result<_, _>>()?;
    for row in &names {
        let name: &str = row.try_get(0)?;
        if chains.iter().all(|ends| ends.chain != name) {
            chains.push(codec::new_chain(name));
        }
    }
    Ok(chains)
}

/// Longer than it takes to look again.
const LATELY: i64 = 60_000;

/// Also those that ended a moment ago, whose last records may not have been seen.
pub(super) async fn live_chains(sql: &ClientWrapper) -> Result<Vec<ChainEnds>, Fault> {
    let list = format!(
        "{} WHERE ended_at IS NULL OR ended_at > {SERVER_NOW} - $1 ORDER BY chain",
        rows::CHAIN_ENDS
    );
    let list = sql.prepare_cached(&list).await?;
    let found = sql.query(&list, &[&LATELY]).await?;
    found.iter().map(rows::chain_ends).collect()
}

pub(super) async fn identity(sql: &ClientWrapper) -> Result<String, Fault> {
    let found = sql.query_opt("SELECT id FROM identity", &[]).await?;
    let found = found.ok_or_else(|| Garbled::new("no identity", "the row is gone"))?;
    Ok(found.try_get(0)?)
}

pub(super) async fn notes(sql: &ClientWrapper, name: &str) -> Result<Vec<String>, Fault> {
    let list = "SELECT body FROM traces WHERE kind = 'note' AND position($1 IN body) > 0";
    let found = sql.query(list, &[&codec::note_named(name)]).await?;
    let bodies = found.iter().map(|row| row.try_get(0));
    Ok(bodies.collect::<Result<_, _>>()?)
}

pub(super) async fn chain_records(
    sql: &ClientWrapper,
    chain: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<Result<ChainRecord, Unreadable>>, Fault> {
    let list = format!(
        "{} WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        rows::CHAIN_RECORD
    );
    let list = rows::of_one_page(&list, "body", "seq", CHAIN_PAGE_BYTES);
    let list = sql.prepare_cached(&list).await?;
    // Before the first there is nothing, unless somebody put it there.
    let after = match after {
        0 => i64::MIN,
        after => i64::try_from(after).unwrap_or(i64::MAX),
    };
    let found = sql.query(&list, &[&chain, &after, &(limit as i64)]).await?;
    found.iter().map(rows::chain_record).collect()
}
