//! Bringing the schema up to date, by one replica at a time, or seeing that it is.

use deadpool_postgres::ClientWrapper;

use super::{
    fault::{Fault, describe},
    locks::{LOCK_SPACE, MIGRATION_LOCK},
};
use crate::OpenError;

/// By number, beginning with 1. A migration that shipped is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../sql/postgres/0001.sql"),
    include_str!("../sql/postgres/0002.sql"),
    include_str!("../sql/postgres/0003.sql"),
    include_str!("../sql/postgres/0004.sql"),
    include_str!("../sql/postgres/0005.sql"),
    include_str!("../sql/postgres/0006.sql"),
];

pub(super) async fn migrate(sql: &ClientWrapper, server: &str) -> Result<(), OpenError> {
    let known = MIGRATIONS.len() as i64;
    let found = match apply(sql, known).await {
        Ok(found) => found,
        Err(fault) => {
            let why = match &fault {
                Fault::Sql(error) => describe(error),
                other => other.to_string(),
            };
            return Err(OpenError::Migration {
                place: server.to_owned(),
                why,
            });
        }
    };
    if found > known {
        return Err(OpenError::NewerSchema {
            place: server.to_owned(),
            found,
            known,
        });
    }
    Ok(())
}

/// Changes nothing.
pub(super) async fn check(sql: &ClientWrapper, server: &str) -> Result<(), OpenError> {
    let (place, known) = (server.to_owned(), MIGRATIONS.len() as i64);
    let found = version(sql).await.map_err(|fault| OpenError::Server {
        server: place.clone(),
        why: fault.to_string(),
    })?;
    match found {
        None | Some(0) => Err(OpenError::Missing { place }),
        Some(found) if found < known => Err(OpenError::OlderSchema {
            place,
            found,
            known,
        }),
        Some(found) if found > known => Err(OpenError::NewerSchema {
            place,
            found,
            known,
        }),
        Some(_) => Ok(()),
    }
}

/// `None` where there is no schema of ours.
async fn version(sql: &ClientWrapper) -> Result<Option<i64>, Fault> {
    let exists = sql
        .query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])
        .await?;
    if !exists.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    let found = sql
        .query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[])
        .await?;
    Ok(Some(found.try_get(0)?))
}

/// The version that was found. On an error the caller drops the connection, and with it the transaction.
async fn apply(sql: &ClientWrapper, known: i64) -> Result<i64, Fault> {
    sql.batch_execute(&format!(
        "BEGIN; SELECT pg_advisory_xact_lock({LOCK_SPACE}, {MIGRATION_LOCK});"
    ))
    .await?;
    let found = if let Some(found) = version(sql).await? {
        found
    } else {
        sql.batch_execute("CREATE TABLE schema_version (version BIGINT NOT NULL)")
            .await?;
        0
    };
    if found < known {
        for migration in MIGRATIONS.iter().skip(found as usize) {
            sql.batch_execute(migration).await?;
        }
        sql.execute("DELETE FROM schema_version", &[]).await?;
        sql.execute("INSERT INTO schema_version VALUES ($1)", &[&known])
            .await?;
    }
    sql.batch_execute("COMMIT").await?;
    Ok(found)
}
