//! Who is signed in to the console.

use async_trait::async_trait;
use provost_core::{
    key::KeyHash,
    ports::{Result, SignIns},
    sign_in::{SignIn, SignInLink},
    time::Time,
};

use super::{PostgresStore, batch::Batch, fault::Fault, locks::Locks};
use crate::codec;

#[async_trait]
impl SignIns for PostgresStore {
    async fn sign_in(&self, new: SignIn) -> Result<()> {
        self.write(Locks::MAINTENANCE, new, |batch, new| {
            Box::pin(add(batch, new))
        })
        .await
    }

    async fn signed_in(&self, secret: &KeyHash) -> Result<Option<SignIn>> {
        let sql = self.read().await?;
        Ok(find(&sql, *secret).await?)
    }

    async fn sign_in_seen(&self, secret: &KeyHash, at: Time) -> Result<()> {
        self.write(Locks::MAINTENANCE, (*secret, at), |batch, (secret, at)| {
            Box::pin(seen(batch, secret, *at))
        })
        .await
    }

    async fn sign_out(&self, secret: &KeyHash) -> Result<()> {
        self.write(Locks::MAINTENANCE, *secret, |batch, secret| {
            Box::pin(remove(batch, secret))
        })
        .await
    }

    async fn add_sign_in_link(&self, link: SignInLink, now: Time) -> Result<()> {
        self.write(Locks::MAINTENANCE, (link, now), |batch, (link, now)| {
            Box::pin(add_link(batch, link, *now))
        })
        .await
    }

    async fn take_sign_in_link(&self, secret: &KeyHash, now: Time) -> Result<Option<KeyHash>> {
        self.write(
            Locks::MAINTENANCE,
            (*secret, now),
            |batch, (secret, now)| Box::pin(take_link(batch, secret, *now)),
        )
        .await
    }
}

async fn add(batch: &Batch, new: &SignIn) -> Result<(), Fault> {
    let over = new.since.minus(SignIn::LONGEST);
    let forget = "DELETE FROM sign_ins WHERE since <= $1";
    batch.execute(forget, &[&over.millis()]).await?;
    let crowd = "DELETE FROM sign_ins WHERE secret IN (SELECT secret FROM sign_ins \
         WHERE key = $1 ORDER BY seen_at DESC OFFSET $2)";
    let most = SignIn::MOST as i64 - 1;
    batch.execute(crowd, &[&&new.key.0[..], &most]).await?;
    let add = "INSERT INTO sign_ins (secret, key, since, seen_at) VALUES ($1, $2, $3, $4)";
    let (since, seen_at) = (new.since.millis(), new.seen_at.millis());
    batch
        .execute(
            add,
            &[&&new.secret.0[..], &&new.key.0[..], &since, &seen_at],
        )
        .await?;
    Ok(())
}

async fn find(
    sql: &deadpool_postgres::ClientWrapper,
    secret: KeyHash,
) -> Result<Option<SignIn>, Fault> {
    let query = "SELECT key, since, seen_at FROM sign_ins WHERE secret = $1";
    let statement = sql.prepare_cached(query).await?;
    let row = sql.query_opt(&statement, &[&&secret.0[..]]).await?;
    row.map(|row| {
        Ok(SignIn {
            secret,
            key: KeyHash(codec::hash(row.try_get(0)?)?),
            since: Time::from_millis(row.try_get(1)?),
            seen_at: Time::from_millis(row.try_get(2)?),
        })
    })
    .transpose()
}

async fn seen(batch: &Batch, secret: &KeyHash, at: Time) -> Result<(), Fault> {
    let seen = "UPDATE sign_ins SET seen_at = greatest(seen_at, $2) WHERE secret = $1";
    batch.execute(seen, &[&&secret.0[..], &at.millis()]).await?;
    Ok(())
}

async fn remove(batch: &Batch, secret: &KeyHash) -> Result<(), Fault> {
    let remove = "DELETE FROM sign_ins WHERE secret = $1";
    batch.execute(remove, &[&&secret.0[..]]).await?;
    Ok(())
}

async fn add_link(batch: &Batch, link: &SignInLink, now: Time) -> Result<(), Fault> {
    let forget = "DELETE FROM sign_in_links WHERE until <= $1";
    batch.execute(forget, &[&now.millis()]).await?;
    let crowd = "DELETE FROM sign_in_links WHERE secret IN (SELECT secret FROM sign_in_links \
         WHERE key = $1 ORDER BY until DESC OFFSET $2)";
    let most = SignInLink::MOST as i64 - 1;
    batch.execute(crowd, &[&&link.key.0[..], &most]).await?;
    let add = "INSERT INTO sign_in_links (secret, key, until) VALUES ($1, $2, $3)";
    let until = link.until.millis();
    batch
        .execute(add, &[&&link.secret.0[..], &&link.key.0[..], &until])
        .await?;
    Ok(())
}

async fn take_link(batch: &Batch, secret: &KeyHash, now: Time) -> Result<Option<KeyHash>, Fault> {
    let take = "DELETE FROM sign_in_links WHERE secret = $1 AND until > $2 RETURNING key";
    let row = batch
        .sql()
        .query_opt(take, &[&&secret.0[..], &now.millis()])
        .await?;
    row.map(|row| Ok(KeyHash(codec::hash(row.try_get(0)?)?)))
        .transpose()
}
