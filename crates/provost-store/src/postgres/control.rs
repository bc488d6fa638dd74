//! Stops, grants and keys. Every change counts up the version that decisions are checked against.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    control::{ControlRows, Scope, Stop},
    event::Event,
    grant::Grant,
    ids::GrantId,
    key::{Key, KeyHash},
    time::Time,
    trace::TraceRow,
};

use super::{batch::Batch, fault::Fault, rows};
use crate::codec;

pub(super) async fn version(sql: &ClientWrapper) -> Result<u64, Fault> {
    let version = sql.query_one("SELECT version FROM control", &[]).await?;
    rows::unsigned(&version, 0)
}

/// One consistent snapshot.
pub(super) async fn rows(sql: &mut ClientWrapper) -> Result<ControlRows, Fault> {
    let snapshot = sql
        .build_transaction()
        .isolation_level(tokio_postgres::IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await?;
    let version = snapshot
        .query_one("SELECT version FROM control", &[])
        .await?;
    let stops = snapshot
        .query("SELECT body FROM stops ORDER BY scope", &[])
        .await?;
    let grants = "SELECT body, uses FROM grants WHERE revoked_at IS NULL ORDER BY place";
    let grants = snapshot.query(grants, &[]).await?;
    let keys = snapshot
        .query("SELECT body, hash FROM keys ORDER BY name", &[])
        .await?;
    snapshot.commit().await?;
    let stop = |row: &tokio_postgres::Row| Ok(codec::from_json("a stop", row.try_get(0)?)?);
    let grant = |row: &tokio_postgres::Row| {
        let grant: Grant = codec::from_json("a grant", row.try_get(0)?)?;
        Ok(Grant {
            uses: rows::unsigned(row, 1)?,
            ..grant
        })
    };
    let key = |row: &tokio_postgres::Row| {
        let key: Key = codec::from_json("a key", row.try_get(0)?)?;
        Ok(Key {
            hash: KeyHash(codec::hash(row.try_get(1)?)?),
            ..key
        })
    };
    Ok(ControlRows {
        version: rows::unsigned(&version, 0)?,
        stops: stops.iter().map(stop).collect::<Result<_, Fault>>()?,
        grants: grants.iter().map(grant).collect::<Result<_, Fault>>()?,
        keys: keys.iter().map(key).collect::<Result<_, Fault>>()?,
    })
}

pub(super) async fn add_grant(
    batch: &mut Batch,
    grant: &Grant,
    note: &TraceRow,
) -> Result<(), Fault> {
    batch
        .execute(
            "INSERT INTO grants (id, uses, max_uses, expires_at, revoked_at, body) \
             VALUES ($1, $2, $3, $4, $5, $6)",
            &[
                &grant.id.as_str(),
                &(grant.uses as i64),
                &grant.max_uses.map(|max| max as i64),
                &grant.expires_at.map(Time::millis),
                &grant.revoked_at.map(Time::millis),
                &codec::to_json(grant)?,
            ],
        )
        .await?;
    let event = Event::GrantCreated {
        grant_id: grant.id.clone(),
        by: grant.granted_by.clone(),
    };
    changed(batch, grant.created_at, &event, note).await
}

pub(super) async fn revoke_grant(
    batch: &mut Batch,
    id: &GrantId,
    by: &str,
    now: Time,
    note: &TraceRow,
) -> Result<bool, Fault> {
    let revoke = "UPDATE grants SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    if batch
        .execute(revoke, &[&id.as_str(), &now.millis()])
        .await?
        == 0
    {
        return Ok(false);
    }
    batch.grants().revoke(id, now);
    let event = Event::GrantRevoked {
        grant_id: id.clone(),
        by: by.to_owned(),
    };
    changed(batch, now, &event, note).await?;
    Ok(true)
}

pub(super) async fn add_stop(batch: &mut Batch, stop: &Stop, note: &TraceRow) -> Result<(), Fault> {
    let scope = stop.scope.to_string();
    let add = "INSERT INTO stops (scope, body) VALUES ($1, $2) \
         ON CONFLICT (scope) DO UPDATE SET body = excluded.body";
    batch
        .execute(add, &[&scope, &codec::to_json(stop)?])
        .await?;
    changed(
        batch,
        stop.at,
        &Event::Stopped {
            scope,
            by: stop.by.clone(),
        },
        note,
    )
    .await
}

pub(super) async fn remove_stop(
    batch: &mut Batch,
    scope: &Scope,
    by: &str,
    note: &TraceRow,
) -> Result<bool, Fault> {
    let scope = scope.to_string();
    if batch
        .execute("DELETE FROM stops WHERE scope = $1", &[&scope])
        .await?
        == 0
    {
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
    )
    .await?;
    Ok(true)
}

pub(super) async fn add_key(batch: &mut Batch, key: &Key, note: &TraceRow) -> Result<bool, Fault> {
    let add = "INSERT INTO keys (name, hash, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let values = (&*key.name, &key.hash.0[..], codec::to_json(key)?);
    if batch
        .execute(add, &[&values.0, &values.1, &values.2])
        .await?
        == 0
    {
        return Ok(false);
    }
    changed(
        batch,
        note.at,
        &Event::KeysChanged {
            name: key.name.to_string(),
        },
        note,
    )
    .await?;
    Ok(true)
}

pub(super) async fn remove_key(
    batch: &mut Batch,
    name: &str,
    note: &TraceRow,
) -> Result<bool, Fault> {
    if batch
        .execute("DELETE FROM keys WHERE name = $1", &[&name])
        .await?
        == 0
    {
        return Ok(false);
    }
    changed(
        batch,
        note.at,
        &Event::KeysChanged {
            name: name.to_owned(),
        },
        note,
    )
    .await?;
    Ok(true)
}

async fn changed(batch: &mut Batch, at: Time, event: &Event, note: &TraceRow) -> Result<(), Fault> {
    batch.bump_version().await?;
    batch.append(note);
    batch.event(at, event)
}
