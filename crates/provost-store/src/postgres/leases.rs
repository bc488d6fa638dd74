//! What one replica does at a time.

use async_trait::async_trait;
use provost_core::{
    ports::{Leases, Result},
    time::Time,
};

use super::{PostgresStore, batch::Batch, fault::Fault, locks::Locks};

struct Taking {
    name: String,
    holder: String,
    now: Time,
    until: Time,
}

#[async_trait]
impl Leases for PostgresStore {
    async fn lease(&self, name: &str, holder: &str, now: Time, until: Time) -> Result<bool> {
        let taking = Taking {
            name: name.to_owned(),
            holder: holder.to_owned(),
            now,
            until,
        };
        self.write(Locks::MAINTENANCE, taking, |batch, taking| {
            Box::pin(take(batch, taking))
        })
        .await
    }

    async fn release(&self, name: &str, holder: &str) -> Result<()> {
        let data = (name.to_owned(), holder.to_owned());
        self.write(Locks::MAINTENANCE, data, |batch, (name, holder)| {
            Box::pin(give_back(batch, name, holder))
        })
        .await
    }
}

async fn take(batch: &Batch, taking: &Taking) -> Result<bool, Fault> {
    let take = "INSERT INTO leases (name, holder, until) VALUES ($1, $2, $4) \
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
         WHERE leases.holder = excluded.holder OR leases.until <= $3";
    let Taking {
        name,
        holder,
        now,
        until,
    } = taking;
    let taken = batch
        .execute(take, &[name, holder, &now.millis(), &until.millis()])
        .await?;
    Ok(taken > 0)
}

async fn give_back(batch: &Batch, name: &str, holder: &str) -> Result<(), Fault> {
    let release = "DELETE FROM leases WHERE name = $1 AND holder = $2";
    batch.execute(release, &[&name, &holder]).await?;
    Ok(())
}
