//! The readers: a few read-only connections, each used by one read at a time, which blocks its thread.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use provost_core::ports::StoreError;
use rusqlite::{Connection, OpenFlags};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use super::{durable::Horizon, fault::Fault, files::Files};

const READERS: u32 = 4;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Arc<Semaphore>,
    /// `None`: nobody here writes.
    written: Option<Written>,
}

/// What this process writes while others read.
pub(super) struct Written {
    horizon: Arc<Horizon>,
    /// Held until the last connection is closed.
    _files: Arc<Files>,
}

impl Written {
    pub(super) fn new(horizon: Arc<Horizon>, files: Arc<Files>) -> Self {
        Self {
            horizon,
            _files: files,
        }
    }
}

impl Readers {
    pub(super) fn new(path: PathBuf, written: Option<Written>) -> Self {
        Self {
            path,
            idle: Mutex::default(),
            free: Arc::new(Semaphore::new(READERS as usize)),
            written,
        }
    }

    pub(super) async fn read<T, W>(self: &Arc<Self>, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let turn = self.turn().await?;
        let readers = self.clone();
        // The turn is given back there, not by the caller: it may be gone while the connection is in use.
        let done = tokio::task::spawn_blocking(move || readers.work(turn, work));
        let made = match done.await {
            Ok(made) => made?,
            Err(_) => return Err(StoreError::Failed("a read was interrupted".into())),
        };
        self.on_disk(made).await
    }

    /// The same on the caller's thread, whose other tasks another thread takes over meanwhile. For a short
    /// read of much: it waits for no thread to wake up, twice, and what it made stays in the same processor.
    pub(super) async fn read_here<T, W>(self: &Arc<Self>, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        // A runtime of one thread has nobody to take over.
        if Handle::current().runtime_flavor() != RuntimeFlavor::MultiThread {
            return self.read(work).await;
        }
        let turn = self.turn().await?;
        let made = tokio::task::block_in_place(|| self.work(turn, work))?;
        self.on_disk(made).await
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = self.free.clone().acquire_owned().await;
        turn.map_err(|_| StoreError::Closed)
    }

    fn work<T>(
        &self,
        turn: OwnedSemaphorePermit,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let made = self.take().and_then(|sql| {
            let made = work(&sql);
            self.idle().push(sql);
            made
        });
        if let (Err(fault), Some(written)) = (&made, &self.written) {
            written.horizon.fail_if_damaged(fault);
        }
        drop(turn);
        made
    }

    /// Nobody is told what a read saw before it is on disk.
    async fn on_disk<T>(&self, made: T) -> Result<T, StoreError> {
        if let Some(written) = &self.written {
            written.horizon.reached().await?;
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
