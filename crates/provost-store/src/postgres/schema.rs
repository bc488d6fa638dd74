//! Bringing the schema up to date, by one replica at a time.

use deadpool_postgres::ClientWrapper;

use super::{
    fault::{Fault, describe},
    locks::{LOCK_SPACE, MIGRATION_LOCK},
};
use crate::OpenError;

/// By number, beginning with 1. A migration that shipped is never edited.
const MIGRATIONS: &[&str] = &[include_str!("../sql/postgres/0001.sql")];

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

/// The version that was found. On an error the caller drops the connection, and with it the transaction.
async fn apply(sql: &ClientWrapper, known: i64) -> Result<i64, Fault> {
    sql.batch_execute(&format!(
        "BEGIN; SELECT pg_advisory_xact_lock({LOCK_SPACE}, {MIGRATION_LOCK});"
    ))
    .await?;
    let exists = sql
        .query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])
        .await?;
    let found: i64 = if exists.try_get(0)? {
        sql.query_one("SELECT coalesce(max(version), 0) FROM schema_version", &[])
            .await?
            .try_get(0)?
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
