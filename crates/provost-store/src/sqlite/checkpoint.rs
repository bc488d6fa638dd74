//! Writing the log back into the database file, beside the writer.
//!
//! SQLite would do it in the writer's thread, where it holds up every caller while megabytes are copied
//! and synced. Here a thread of its own copies what there is, and the writer only the little that was
//! committed meanwhile; after that the log begins at its start again.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use rusqlite::Connection;

use super::{fault::Fault, open::connect};

/// Pages in the log from which on they are written back: 16 MB.
const LONG_LOG: usize = 2000;
/// Where the log could not begin anew (a reader still needed it), it is tried again after so many more.
const LONGER_BY: usize = 500;

/// Pages in the log after the last commit.
#[derive(Clone, Default)]
pub(super) struct LogLength(Arc<AtomicUsize>);

impl LogLength {
    pub(super) fn watch(&self, sql: &mut Connection) -> rusqlite::Result<()> {
        let length = self.0.clone();
        sql.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            length.store(
                usize::try_from(pages).unwrap_or_default(),
                Ordering::Relaxed,
            );
            Ok(())
        }))
    }

    pub(super) fn pages(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Of the writer, who calls [`Self::after_commit`].
pub(super) struct Checkpointer {
    length: LogLength,
    /// The length at which to begin.
    next: usize,
    running: bool,
    copied: Arc<AtomicBool>,
    begin: Option<SyncSender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Checkpointer {
    pub(super) fn start(path: PathBuf, length: LogLength) -> io::Result<Self> {
        let (begin, begun) = sync_channel(1);
        let copied = Arc::new(AtomicBool::new(false));
        let done = copied.clone();
        let thread = thread::Builder::new()
            .name("provost-log".to_owned())
            .spawn(move || copy(&path, &begun, &done))?;
        Ok(Self {
            length,
            next: LONG_LOG,
            running: false,
            copied,
            begin: Some(begin),
            thread: Some(thread),
        })
    }

    /// Begins, or ends, what is due. A checkpoint that fails loses nothing: the log keeps what it has.
    pub(super) fn after_commit(&mut self, sql: &Connection) {
        let pages = self.length.pages();
        if self.running {
            if self.copied.swap(false, Ordering::AcqRel) {
                self.running = false;
                report(write_back(sql));
                self.next = pages + LONGER_BY;
            }
        } else if pages < LONG_LOG {
            self.next = LONG_LOG;
        } else if pages >= self.next
            && let Some(begin) = &self.begin
        {
            self.running = begin.try_send(()).is_ok();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.begin = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn copy(path: &Path, begun: &Receiver<()>, done: &AtomicBool) {
    let mut connection = None;
    while begun.recv().is_ok() {
        let sql = match connection.take() {
            Some(sql) => Ok(sql),
            None => connect(path),
        };
        match sql {
            Ok(sql) => {
                report(write_back(&sql));
                connection = Some(sql);
            }
            Err(error) => report(Err(error)),
        }
        done.store(true, Ordering::Release);
    }
}

/// As much as can be written back without anybody waiting.
fn write_back(sql: &Connection) -> Result<(), Fault> {
    sql.prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?
        .query_row([], |_| Ok(()))?;
    Ok(())
}

/// Pages that SQLite finds in the log by its index.
pub(super) fn pages_in_log(sql: &Connection) -> Result<usize, Fault> {
    let pages = sql
        .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")?
        .query_row([], |row| row.get::<_, i64>(1))?;
    Ok(usize::try_from(pages).unwrap_or(usize::MAX))
}

fn report(written_back: Result<(), Fault>) {
    if let Err(error) = written_back {
        tracing::warn!(%error, "the log could not be written back into the database; it grows");
    }
}
