//! The readers: a few read-only connections, each used by one blocking task at a time.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use provost_core::ports::StoreError;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::Semaphore;

use super::{durable::Horizon, fault::Fault};

const READERS: u32 = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
    /// `None`: nobody here writes.
    horizon: Option<Arc<Horizon>>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, horizon: Option<Arc<Horizon>>) -> Self {
        Self {
            path,
            idle: Mutex::default(),
            free: Arc::new(Semaphore::new(READERS as usize)),
            horizon,
        }
    }

    pub(super) async fn read<T, W>(self: &Arc<Self>, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let turn = self
            .free
            .clone()
            .acquire_owned()
            .await
            .map_err(|_| StoreError::Closed)?;
        let readers = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let sql = readers.take()?;
            let made = work(&sql);
            readers.idle().push(sql);
            // Given back here, not by the caller: it may be gone while the connection is in use.
            drop(turn);
            made
        });
        let made = match done.await {
            Ok(made) => made?,
            Err(_) => return Err(StoreError::Failed("a read was interrupted".into())),
        };
        if let Some(horizon) = &self.horizon {
            horizon.reached().await?;
        }
        Ok(made)
    }

    /// Waits for the reads that run, and refuses more.
    pub(super) async fn close(&self) {
        let all = self.free.acquire_many(READERS).await;
        self.free.close();
        drop(all);
        self.idle().clear();
    }

    fn take(&self) -> Result<Connection, Fault> {
        if let Some(sql) = self.idle().pop() {
            return Ok(sql);
        }
        Ok(connect_to_read(&self.path)?)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = Connection::open_with_flags(path, flags)?;
    sql.busy_timeout(Duration::from_secs(5))?;
    sql.set_prepared_statement_cache_capacity(32);
    Ok(sql)
}
