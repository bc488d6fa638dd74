//! Who is signed in to the console.

use async_trait::async_trait;
use provost_core::{
    key::KeyHash,
    ports::{Result, SignIns},
    sign_in::{SignIn, SignInLink},
    time::Time,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{SqliteStore, batch::Batch, fault::Fault};
use crate::codec;

#[async_trait]
impl SignIns for SqliteStore {
    async fn sign_in(&self, new: SignIn) -> Result<()> {
        self.write(move |batch| add(batch, &new)).await
    }

    async fn signed_in(&self, secret: &KeyHash) -> Result<Option<SignIn>> {
        let secret = *secret;
        self.read(move |sql| find(sql, secret)).await
    }

    async fn sign_in_seen(&self, secret: &KeyHash, at: Time) -> Result<()> {
        let secret = *secret;
        self.write(move |batch| {
            let seen = "UPDATE sign_ins SET seen_at = max(seen_at, ?2) WHERE secret = ?1";
            batch.execute(seen, params![&secret.0[..], at.millis()])?;
            Ok(())
        })
        .await
    }

    async fn sign_out(&self, secret: &KeyHash) -> Result<()> {
        let secret = *secret;
        self.write(move |batch| {
            batch.execute("DELETE FROM sign_ins WHERE secret = ?1", [&secret.0[..]])?;
            Ok(())
        })
        .await
    }

    async fn add_sign_in_link(&self, link: SignInLink, now: Time) -> Result<()> {
        self.write(move |batch| add_link(batch, &link, now)).await
    }

    async fn take_sign_in_link(&self, secret: &KeyHash, now: Time) -> Result<Option<KeyHash>> {
        let secret = *secret;
        self.write(move |batch| take_link(batch, secret, now)).await
    }
}

fn add(batch: &Batch<'_>, new: &SignIn) -> Result<(), Fault> {
    batch.execute(
        "DELETE FROM sign_ins WHERE since <= ?1",
        [new.since.minus(SignIn::LONGEST).millis()],
    )?;
    batch.execute(
        "DELETE FROM sign_ins WHERE secret IN (SELECT secret FROM sign_ins WHERE key = ?1 \
         ORDER BY seen_at DESC LIMIT -1 OFFSET ?2)",
        params![&new.key.0[..], SignIn::MOST - 1],
    )?;
    batch.execute(
        "INSERT INTO sign_ins (secret, key, since, seen_at) VALUES (?1, ?2, ?3, ?4)",
        params![
            &new.secret.0[..],
            &new.key.0[..],
            new.since.millis(),
            new.seen_at.millis()
        ],
    )?;
    Ok(())
}

fn find(sql: &Connection, secret: KeyHash) -> Result<Option<SignIn>, Fault> {
    let query = "SELECT key, since, seen_at FROM sign_ins WHERE secret = ?1";
    let row = sql
        .prepare_cached(query)?
        .query_row([&secret.0[..]], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    row.map(|(key, since, seen_at)| {
        Ok(SignIn {
            secret,
            key: KeyHash(codec::hash(&key)?),
            since: Time::from_millis(since),
            seen_at: Time::from_millis(seen_at),
        })
    })
    .transpose()
}

fn add_link(batch: &Batch<'_>, link: &SignInLink, now: Time) -> Result<(), Fault> {
    batch.execute(
        "DELETE FROM sign_in_links WHERE until <= ?1",
        [now.millis()],
    )?;
    batch.execute(
        "DELETE FROM sign_in_links WHERE secret IN (SELECT secret FROM sign_in_links WHERE key = ?1 \
         ORDER BY until DESC LIMIT -1 OFFSET ?2)",
        params![&link.key.0[..], SignInLink::MOST - 1],
    )?;
    batch.execute(
        "INSERT INTO sign_in_links (secret, key, until) VALUES (?1, ?2, ?3)",
        params![&link.secret.0[..], &link.key.0[..], link.until.millis()],
    )?;
    Ok(())
}

fn take_link(batch: &Batch<'_>, secret: KeyHash, now: Time) -> Result<Option<KeyHash>, Fault> {
    let take = "DELETE FROM sign_in_links WHERE secret = ?1 AND until > ?2 RETURNING key";
    let key: Option<Vec<u8>> = batch
        .sql()
        .prepare_cached(take)?
        .query_row(params![&secret.0[..], now.millis()], |row| row.get(0))
        .optional()?;
    let key = key.map(|key| codec::hash(&key)).transpose()?;
    Ok(key.map(KeyHash))
}
