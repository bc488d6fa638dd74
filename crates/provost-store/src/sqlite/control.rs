//! Stops, grants and keys. Every change counts up the version that decisions are checked against.

use provost_core::{
    control::{ControlRows, Scope, Stop},
    event::Event,
    grant::Grant,
    ids::GrantId,
    key::{Key, KeyHash},
    time::Time,
    trace::TraceRow,
};
use rusqlite::{Connection, Row, params};

use super::{batch::Batch, fault::Fault};
use crate::codec;

pub(super) fn version(sql: &Connection) -> Result<u64, Fault> {
    Ok(sql
        .prepare_cached("SELECT version FROM control")?
        .query_row([], |row| row.get(0))?)
}

/// One consistent snapshot.
pub(super) fn rows(sql: &Connection) -> Result<ControlRows, Fault> {
    let snapshot = sql.unchecked_transaction()?;
    let rows = ControlRows {
        version: version(sql)?,
        stops: all(sql, "SELECT body FROM stops ORDER BY scope", |row| {
            Ok(codec::from_json("a stop", &row.get::<_, String>(0)?)?)
        })?,
        grants: all(
            sql,
            "SELECT body, uses FROM grants WHERE revoked_at IS NULL ORDER BY place",
            |row| {
                let grant: Grant = codec::from_json("a grant", &row.get::<_, String>(0)?)?;
                Ok(Grant {
                    uses: row.get(1)?,
                    ..grant
                })
            },
        )?,
        keys: all(sql, "SELECT body, hash FROM keys ORDER BY name", |row| {
            let key: Key = codec::from_json("a key", &row.get::<_, String>(0)?)?;
            Ok(Key {
                hash: KeyHash(codec::hash(&row.get::<_, Vec<u8>>(1)?)?),
                ..key
            })
        })?,
    };
    snapshot.finish()?;
    Ok(rows)
}

fn all<T>(
    sql: &Connection,
    query: &str,
    read: fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    sql.prepare_cached(query)?
        .query_and_then([], read)?
        .collect()
}

pub(super) fn add_grant(
    batch: &mut Batch<'_>,
    grant: &Grant,
    note: &TraceRow,
) -> Result<(), Fault> {
    batch.execute(
        "INSERT INTO grants (id, uses, max_uses, expires_at, revoked_at, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            grant.id.as_str(),
            grant.uses,
            grant.max_uses,
            grant.expires_at.map(Time::millis),
            grant.revoked_at.map(Time::millis),
            codec::to_json(grant)?,
        ],
    )?;
    let event = Event::GrantCreated {
        grant_id: grant.id.clone(),
        by: grant.granted_by.clone(),
    };
    changed(batch, grant.created_at, &event, note)
}

pub(super) fn revoke_grant(
    batch: &mut Batch<'_>,
    id: &GrantId,
    by: &str,
    now: Time,
    note: &TraceRow,
) -> Result<bool, Fault> {
    let revoke = "UPDATE grants SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
    if batch.execute(revoke, params![id.as_str(), now.millis()])? == 0 {
        return Ok(false);
    }
    let event = Event::GrantRevoked {
        grant_id: id.clone(),
        by: by.to_owned(),
    };
    changed(batch, now, &event, note)?;
    Ok(true)
}

pub(super) fn add_stop(batch: &mut Batch<'_>, stop: &Stop, note: &TraceRow) -> Result<(), Fault> {
    let scope = stop.scope.to_string();
    batch.execute(
        "INSERT OR REPLACE INTO stops (scope, body) VALUES (?1, ?2)",
        params![scope, codec::to_json(stop)?],
    )?;
    changed(
        batch,
        stop.at,
        &Event::Stopped {
            scope,
            by: stop.by.clone(),
        },
        note,
    )
}

pub(super) fn remove_stop(
    batch: &mut Batch<'_>,
    scope: &Scope,
    by: &str,
    note: &TraceRow,
) -> Result<bool, Fault> {
    let scope = scope.to_string();
    if batch.execute("DELETE FROM stops WHERE scope = ?1", [&scope])? == 0 {
        return Ok(false);
    }
    changed(
        batch,
        note.at,
        &Event::Resumed {
            scope,
            by: by.to_owned(),
        },
        note,
    )?;
    Ok(true)
}

pub(super) fn add_key(batch: &mut Batch<'_>, key: &Key, note: &TraceRow) -> Result<bool, Fault> {
    let added = batch.execute(
        "INSERT INTO keys (name, hash, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        params![&*key.name, &key.hash.0[..], codec::to_json(key)?],
    )?;
    if added == 0 {
        return Ok(false);
    }
    changed(
        batch,
        note.at,
        &Event::KeysChanged {
            name: key.name.to_string(),
        },
        note,
    )?;
    Ok(true)
}

pub(super) fn remove_key(
    batch: &mut Batch<'_>,
    name: &str,
    note: &TraceRow,
) -> Result<bool, Fault> {
    if batch.execute("DELETE FROM keys WHERE name = ?1", [name])? == 0 {
        return Ok(false);
    }
    changed(
        batch,
        note.at,
        &Event::KeysChanged {
            name: name.to_owned(),
        },
        note,
    )?;
    Ok(true)
}

fn changed(batch: &mut Batch<'_>, at: Time, event: &Event, note: &TraceRow) -> Result<(), Fault> {
    batch.bump_version()?;
    batch.append(note)?;
    batch.event(at, event)
}
