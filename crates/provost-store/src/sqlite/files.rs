//! The files of an open database. Their names must lead to them as long as this process has them open.
//!
//! A file that was deleted or replaced under the gateway still takes writes, which nobody would ever find
//! again. So every sync looks at the names of the database and its log, and once a second at everything else.
//! What is lost stays lost until a restart: nobody can know what stands in the files that came instead.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use provost_core::ports::StoreError;

use super::durable::{Medium, sync_failed};

/// The longest time in which a lost index, lock or database header goes unnoticed.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

/// A frame of the log is a page and this much.
const FRAME_HEADER: u64 = 24;
const LOG_HEADER: u64 = 32;
const DATABASE_HEADER: usize = 100;
const DATABASE_MAGIC: &[u8] = b"SQLite format 3\0";
/// The first four bytes of a log, for either order of bytes in its checksums.
const LOG_MAGIC: [[u8; 4]; 2] = [[0x37, 0x7f, 0x06, 0x82], [0x37, 0x7f, 0x06, 0x83]];

pub(super) struct Files {
    /// Of the database and its log.
    written: [Name; 2],
    /// Of the index of the log and the lock.
    beside: [Name; 2],
    log: File,
    /// POSIX drops the locks of SQLite when any descriptor of this file is closed: this one must be closed
    /// after the last connection. Whoever has a connection holds these files, too.
    database: File,
    /// Bytes of a page with its header in the log.
    frame: u64,
    newest: Mutex<Header>,
}

struct Name {
    what: &'static str,
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// What only ever grows in the database file.
#[derive(Clone, Copy, Default)]
struct Header {
    length: u64,
    changes: u32,
}

impl Files {
    /// Of the database at `path`, which is in use.
    pub(super) fn of(path: &Path, lock: &Path, page_size: u64) -> io::Result<Self> {
        // A relative path would still lead to the files after a folder above them was moved.
        let path = std::path::absolute(path)?;
        let log_path = beside(&path, "-wal");
        let log = File::open(&log_path)?;
        // The log may be new, and its name in the folder not yet on disk.
        if let Some(folder) = log_path.parent() {
            File::open(folder)?.sync_all()?;
        }
        let database = File::open(&path)?;
        let newest = Header::of(&database)?.unwrap_or_default();
        Ok(Self {
            beside: [
                Name::of("index of the log", beside(&path, "-shm"))?,
                Name::of("lock", std::path::absolute(lock)?)?,
            ],
            written: [Name::of("database", path)?, Name::of("log", log_path)?],
            log,
            database,
            frame: page_size + FRAME_HEADER,
            newest: Mutex::new(newest),
        })
    }

    /// Whether the log holds this many pages.
    pub(super) fn log_holds(&self, pages: usize) -> io::Result<bool> {
        let length = self.log.metadata()?.len();
        Ok(pages == 0 || length >= LOG_HEADER + pages as u64 * self.frame)
    }

    /// What was committed and synced just now can be found by the names of the files.
    fn hold_the_commit(&self) -> Result<(), StoreError> {
        self.written.iter().try_for_each(Name::leads_there)?;
        let mut magic = [0; 4];
        let read = self.log.read_exact_at(&mut magic, 0);
        if read.is_err() || !LOG_MAGIC.contains(&magic) {
            return Err(lost("log", "emptied"));
        }
        Ok(())
    }

    fn are_whole(&self) -> Result<(), StoreError> {
        let mut names = self.written.iter().chain(&self.beside);
        names.try_for_each(Name::leads_there)?;
        let found = Header::of(&self.database).map_err(|_| lost("database", "overwritten"))?;
        let Some(found) = found else {
            return Ok(());
        };
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if found.length < newest.length || found.changes < newest.changes {
            return Err(lost("database", "overwritten with an older one"));
        }
        *newest = found;
        Ok(())
    }
}

impl Name {
    fn of(what: &'static str, path: PathBuf) -> io::Result<Self> {
        let found = fs::metadata(&path)?;
        Ok(Self {
            what,
            path,
            device: found.dev(),
            inode: found.ino(),
        })
    }

    fn leads_there(&self) -> Result<(), StoreError> {
        let how = match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => return Ok(()),
            Ok(_) => "replaced",
            Err(why) if why.kind() == io::ErrorKind::NotFound => "deleted or moved away",
            Err(_) => "made unreadable",
        };
        tracing::error!(file = %self.path.display(), "a file of the database was {how}");
        Err(lost(self.what, how))
    }
}

impl Header {
    /// `None` while it cannot be judged: the file is new, or is being written.
    fn of(database: &File) -> io::Result<Option<Self>> {
        let length = database.metadata()?.len();
        let mut header = [0; DATABASE_HEADER];
        match database.read_exact_at(&mut header, 0) {
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => {
                // Shorter than any database: the length tells.
                return Ok(Some(Self { length, changes: 0 }));
            }
            read => read?,
        }
        if !header.starts_with(DATABASE_MAGIC) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let number = |at: usize| {
            let bytes = header.get(at..at + 4).and_then(|it| it.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        // SQLite writes the count of changes twice.
        let (changes, again) = (number(24), number(92));
        Ok((changes == again).then_some(Self { length, changes }))
    }
}

/// The log of [`Files`], on its way to disk.
pub(super) struct Log {
    files: std::sync::Arc<Files>,
    looked: Instant,
}

impl Log {
    pub(super) fn of(files: std::sync::Arc<Files>) -> Self {
        Self {
            files,
            looked: Instant::now(),
        }
    }
}

impl Medium for Log {
    fn sync(&mut self) -> Result<(), StoreError> {
        if let Err(error) = self.files.log.sync_data() {
            tracing::error!(%error, "the log could not be synced to disk; everything is refused");
            return Err(sync_failed());
        }
        self.files.hold_the_commit()?;
        if self.looked.elapsed() >= BETWEEN_LOOKS {
            self.look()?;
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), StoreError> {
        self.looked = Instant::now();
        self.files.are_whole()
    }
}

pub(super) fn lost(what: &str, how: &str) -> StoreError {
    StoreError::Lost(
        format!(
            "the {what} file was {how} while the gateway ran, so nothing is decided: stop the gateway, \
             put the data folder back, start it again"
        )
        .into(),
    )
}

/// The file of SQLite's that stands beside the database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
