//! Reading the record: lists, single traces, and chains as they stand.

use provost_core::{
    ports::{
        Activity, CHAIN_PAGE_BYTES, ChainEnds, ChainRecord, TraceEntry, TraceFilter, TracePage,
        Unreadable,
    },
    time::Time,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

use super::{
    CHAIN,
    fault::Fault,
    rows,
    sightings::{BLOCK, What},
};
use crate::{
    codec,
    filter::{self, CLOCK_SLACK, Dialect, Value},
};

const MIN_PREFIX: usize = 8;

/// A decision with the outcome that followed it.
const ENTRY: &str = "SELECT d.place, d.body, \
     EXISTS (SELECT 1 FROM in_flight f WHERE f.trace_id = d.trace_id), (SELECT o.body FROM traces o \
     WHERE o.trace_id = d.trace_id AND o.kind = 'outcome' AND o.place > d.place \
     ORDER BY o.place LIMIT 1) FROM traces d";

/// The records of the blocks that hold a name. The order of the join and the `+` that hides a column from
/// the planner see to it that each block is read once, from its end, and no more than the page needs.
const IN_BLOCKS: &str = "sightings CROSS JOIN traces WHERE place >= block * 4096 \
     AND place < (block + 1) * 4096 AND";

/// Finds the places first, so that a glob which matches little reads no bodies in vain.
pub(super) fn list(sql: &Connection, filter: &TraceFilter) -> Result<TracePage, Fault> {
    let (mut conditions, tools) = filter::traces(Dialect::Sqlite, filter);
    let since = filter
        .since
        .map(|since| first_since(sql, since.minus(CLOCK_SLACK)))
        .transpose()?;
    let (first, last) = (
        since.unwrap_or(0),
        filter.before.map_or(i64::MAX, |place| place as i64 - 1),
    );
    let from = match known_name(filter) {
        None => {
            conditions.and(
                "place BETWEEN @ AND @",
                [Value::Int(first), Value::Int(last)],
            );
            "traces WHERE"
        }
        Some((what, name)) => {
            conditions.and(
                "what = @ AND name = @",
                [Value::Int(what as i64), Value::Text(name)],
            );
            let blocks = [first, last].map(|place| Value::Int(place / BLOCK as i64));
            conditions.and("block BETWEEN @ AND @", blocks);
            conditions.and(
                "+place BETWEEN @ AND @",
                [Value::Int(first), Value::Int(last)],
            );
            IN_BLOCKS
        }
    };
    let order = if from == IN_BLOCKS {
        "block DESC, place DESC"
    } else {
        "place DESC"
    };
    let mut find = sql.prepare_cached(&format!(
        "SELECT place, tool FROM {from} {} ORDER BY {order}",
        conditions.sql()
    ))?;
    let mut entry = sql.prepare_cached(&format!("{ENTRY} WHERE d.place = ?1"))?;
    let mut found = find.query(params_from_iter(conditions.values()))?;
    let mut next = || loop {
        let Some(row) = found.next()? else {
            return Ok(None);
        };
        if tools.matches(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?) {
            let place: i64 = row.get(0)?;
            return Ok(Some(entry.query_row([place], trace_entry)?));
        }
    };
    TracePage::of(filter.limit, std::iter::from_fn(|| next().transpose()))
}

/// The rarest thing the filter names exactly.
fn known_name(filter: &TraceFilter) -> Option<(What, String)> {
    let session = filter.session.clone().map(|name| (What::Session, name));
    let agent = || filter.agent.clone().map(|name| (What::Agent, name));
    let tool = || {
        filter
            .tool
            .as_ref()
            .and_then(filter::only_name)
            .map(|name| (What::Tool, name))
    };
    session.or_else(agent).or_else(tool)
}

/// The first place at or after which records of this time may stand, found by halving.
fn first_since(sql: &Connection, since: Time) -> Result<i64, Fault> {
    let ends = sql
        .prepare_cached("SELECT coalesce(min(place), 0), coalesce(max(place), 0) FROM traces")?
        .query_row([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))?;
    let mut at =
        sql.prepare_cached("SELECT at FROM traces WHERE place >= ?1 ORDER BY place LIMIT 1")?;
    let (mut low, mut high) = ends;
    while low < high {
        let middle = low + (high - low) / 2;
        let time: i64 = at.query_row([middle], |row| row.get(0))?;
        if time < since.millis() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

/// By the whole id the newest decision, by a prefix only if no other trace has it.
pub(super) fn one(sql: &Connection, id: &str) -> Result<Option<TraceEntry>, Fault> {
    let exact = sql
        .prepare_cached(&format!(
            "{ENTRY} WHERE d.trace_id = ?1 AND d.kind = 'decision' ORDER BY d.place DESC LIMIT 1"
        ))?
        .query_row([id], trace_entry)
        .optional()?;
    if exact.is_some() || id.len() < MIN_PREFIX {
        return Ok(exact);
    }
    let Some(end) = filter::end_of_prefix(id) else {
        return Ok(None);
    };
    let mut find = sql.prepare_cached(
        "SELECT DISTINCT trace_id FROM traces WHERE trace_id >= ?1 AND trace_id < ?2 \
         AND kind = 'decision' LIMIT 2",
    )?;
    let ids: Vec<String> = find
        .query_map([id, &end], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    match &*ids {
        [only] => one(sql, only),
        _ => Ok(None),
    }
}

fn trace_entry(row: &Row<'_>) -> rusqlite::Result<TraceEntry> {
    Ok(TraceEntry {
        place: row.get(0)?,
        decision: row.get(1)?,
        in_flight: row.get(2)?,
        outcome: row.get(3)?,
    })
}

pub(super) fn activity(sql: &Connection, limit: usize) -> Result<Vec<Activity>, Fault> {
    let mut list = sql.prepare_cached(
        "SELECT agent, session, first_at, last_at, calls, denied FROM activity \
         ORDER BY last_at DESC, agent, session LIMIT ?1",
    )?;
    let found = list.query_and_then([limit], |row| {
        Ok(Activity {
            agent_id: row.get(0)?,
            session_id: codec::session(row.get(1)?),
            first_at: Time::from_millis(row.get(2)?),
            last_at: Time::from_millis(row.get(3)?),
            calls: row.get(4)?,
            denied: row.get(5)?,
        })
    })?;
    found.collect()
}

pub(super) fn chains(sql: &Connection) -> Result<Vec<ChainEnds>, Fault> {
    let mut chains: Vec<_> = sql
        .prepare_cached(rows::CHAIN_ENDS)?
        .query_and_then([], rows::chain_ends)?
        .collect::<Result<_, _>>()?;
    let mut any = sql.prepare_cached("SELECT 1 FROM traces LIMIT 1")?;
    if chains.iter().all(|ends| ends.chain != CHAIN) && any.exists([])? {
        chains.push(codec::new_chain(CHAIN));
    }
    Ok(chains)
}

pub(super) fn identity(sql: &Connection) -> Result<String, Fault> {
    Ok(sql
        .prepare_cached("SELECT id FROM identity")?
        .query_row([], |row| row.get(0))?)
}

pub(super) fn notes(sql: &Connection, name: &str) -> Result<Vec<String>, Fault> {
    let bodies = sql
        .prepare("SELECT body FROM traces WHERE kind = 'note' AND instr(body, ?1) > 0")?
        .query_map([codec::note_named(name)], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(bodies)
}

/// What decisions read.
const LOOKED_AT: [&str; 9] = [
    "SELECT 1 FROM identity LIMIT 1",
    "SELECT 1 FROM chains LIMIT 1",
    "SELECT body FROM traces ORDER BY place DESC LIMIT 1",
    "SELECT 1 FROM approvals LIMIT 1",
    "SELECT 1 FROM grants LIMIT 1",
    "SELECT 1 FROM stops LIMIT 1",
    "SELECT 1 FROM keys LIMIT 1",
    "SELECT 1 FROM control LIMIT 1",
    "SELECT 1 FROM idempotency LIMIT 1",
];

/// Whether the tables can be read at all.
pub(super) fn look(sql: &Connection) -> Result<(), Fault> {
    for look in LOOKED_AT {
        sql.prepare_cached(look)?.exists([])?;
    }
    Ok(())
}

pub(super) fn chain_records(
    sql: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<Result<ChainRecord, Unreadable>>, Fault> {
    let list = format!(
        "{} WHERE place > ?1 ORDER BY place LIMIT ?2",
        rows::CHAIN_RECORD
    );
    // Before the first there is nothing, unless somebody put it there.
    let after = match after {
        0 => i64::MIN,
        after => i64::try_from(after).unwrap_or(i64::MAX),
    };
    let mut list = sql.prepare_cached(&list)?;
    let mut found = list.query(params![after, limit])?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while bytes < CHAIN_PAGE_BYTES
        && let Some(row) = found.next()?
    {
        let record = rows::chain_record(row)?;
        bytes += record.as_ref().map_or(0, |record| record.body.len());
        records.push(record);
    }
    Ok(records)
}
