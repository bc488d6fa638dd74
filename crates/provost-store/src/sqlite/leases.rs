//! What one replica does at a time. A file has one process, so what another left behind is nobody's.

use async_trait::async_trait;
use provost_core::{
    ports::{Leases, Result},
    time::Time,
};
use rusqlite::{Connection, params};

use super::{SqliteStore, fault::Fault};

#[async_trait]
impl Leases for SqliteStore {
    async fn lease(&self, name: &str, holder: &str, now: Time, until: Time) -> Result<bool> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |batch| {
            let taken = batch.execute(
                "INSERT INTO leases (name, holder, until) VALUES (?1, ?2, ?4) \
                 ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until \
                 WHERE leases.holder = excluded.holder OR leases.until <= ?3",
                params![name, holder, now.millis(), until.millis()],
            )?;
            Ok(taken > 0)
        })
        .await
    }

    async fn release(&self, name: &str, holder: &str) -> Result<()> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |batch| {
            let release = "DELETE FROM leases WHERE name = ?1 AND holder = ?2";
            batch.execute(release, [&name, &holder])?;
            Ok(())
        })
        .await
    }
}

pub(super) fn reclaim(sql: &Connection) -> Result<(), Fault> {
    sql.execute("DELETE FROM leases", [])?;
    Ok(())
}
