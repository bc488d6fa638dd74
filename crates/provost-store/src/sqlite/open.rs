//! Opening the file: take the lock, look before touching, bring the schema up to date, find the head of
//! the chain. Or only look.

use std::{
    cmp::Ordering,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use provost_core::{ports::ChainEnds, time::Time, trace::chain};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, config::DbConfig, params};

use super::{
    CHAIN,
    batch::{Batch, Head},
    behind::Behind,
    checkpoint::LogLength,
    deliveries,
    fault::Fault,
    files::Files,
    leases,
    readers::connect_to_read,
    rows,
    sightings::Sightings,
    writer::Opened,
};
use crate::{OpenError, notes};

/// By number, beginning with 1. A migration that shipped is never edited.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../sql/sqlite/0001.sql"),
    include_str!("../sql/sqlite/0002.sql"),
    include_str!("../sql/sqlite/0003.sql"),
    include_str!("../sql/sqlite/0004.sql"),
    include_str!("../sql/sqlite/0005.sql"),
    include_str!("../sql/sqlite/0006.sql"),
    include_str!("../sql/sqlite/0007.sql"),
];

/// `Prvs`, in the file's header: tells our files from those of other programs.
const APPLICATION_ID: i64 = 0x5072_7673;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) fn open(path: &Path, now: Time) -> Result<Opened, OpenError> {
    check_name(path)?;
    let lock_path = lock_path(path);
    let lock = lock(path, &lock_path)?;
    let is_new = look_at(path)?;
    let mut sql = connect(path).map_err(|fault| explain(path, fault))?;
    if !is_new {
        check_ours(path, &sql)?;
    }
    configure(&sql).map_err(|fault| explain(path, fault))?;
    migrate(path, &sql)?;
    Behind::catch_up(&sql).map_err(|fault| explain(path, fault))?;
    deliveries::reclaim(&sql, now).map_err(|fault| explain(path, fault))?;
    leases::reclaim(&sql).map_err(|fault| explain(path, fault))?;
    let head = find_head(&sql, now).map_err(|fault| explain(path, fault))?;
    let log_length = LogLength::default();
    hand_over(&mut sql, &log_length).map_err(|fault| explain(path, fault))?;
    let page_size = page_size(&sql).map_err(|fault| explain(path, fault))?;
    let files = Files::of(path, &lock_path, page_size).map_err(|why| unusable(path, &why))?;
    Ok(Opened {
        path: path.to_owned(),
        sql,
        head,
        lock,
        log_length,
        files: Arc::new(files),
    })
}

/// Whether the file can be read as it stands. Leaves it as it is, and asks for no lock.
pub(super) fn look(path: &Path) -> Result<(), OpenError> {
    let place = || format!("`{}`", path.display());
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => return Err(OpenError::Missing { place: place() }),
        Err(why) => return Err(unusable(path, &why)),
    }
    if is_empty(path)? {
        return Err(OpenError::Missing { place: place() });
    }
    let sql = connect_to_read(path).map_err(|why| explain(path, why.into()))?;
    check_ours(path, &sql)?;
    let found = schema_version(&sql).map_err(|fault| explain(path, fault))?;
    let known = MIGRATIONS.len() as i64;
    if found == 0 {
        // Not a table was made in it, or none was left.
        return Err(OpenError::Missing { place: place() });
    }
    match found.cmp(&known) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(OpenError::OlderSchema {
            place: place(),
            found,
            known,
        }),
        Ordering::Greater => Err(OpenError::NewerSchema {
            place: place(),
            found,
            known,
        }),
    }
}

/// The lock, the log and its index stand beside one name of the file: by another, a second process would write it
/// unseen.
fn check_name(path: &Path) -> Result<(), OpenError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() || found.nlink() > 1 => Err(OpenError::Linked {
            path: path.to_owned(),
        }),
        // What else is wrong is told where it is opened.
        _ => Ok(()),
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn lock(path: &Path, lock: &Path) -> Result<File, OpenError> {
    let file = private_file().create(true).truncate(false).open(lock);
    let file = file.map_err(|why| unusable(lock, &why))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::Locked {
            path: path.to_owned(),
            lock: lock.to_owned(),
        }),
        Err(TryLockError::Error(why)) => Err(unusable(lock, &why)),
    }
}

fn page_size(sql: &Connection) -> Result<u64, Fault> {
    Ok(sql.query_row("PRAGMA page_size", [], |row| row.get(0))?)
}

/// Makes an empty file of mode 0600 where there is none, and refuses what is no SQLite database, before
/// SQLite itself may write to it. Whether the file is empty.
fn look_at(path: &Path) -> Result<bool, OpenError> {
    match private_file().create_new(true).open(path) {
        Ok(_) => return Ok(true),
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {}
        Err(why) => return Err(unusable(path, &why)),
    }
    is_empty(path)
}

/// Fails where the file is neither empty nor a SQLite database.
fn is_empty(path: &Path) -> Result<bool, OpenError> {
    let length = fs::metadata(path)
        .map_err(|why| unusable(path, &why))?
        .len();
    if length == 0 {
        return Ok(true);
    }
    let mut start = [0_u8; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Ok(()) if start == *MAGIC => Ok(false),
        Err(why) if why.kind() != io::ErrorKind::UnexpectedEof => Err(unusable(path, &why)),
        _ => Err(OpenError::NotADatabase {
            path: path.to_owned(),
        }),
    }
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

pub(super) fn connect(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = Connection::open_with_flags(path, flags)?;
    // Until the file has been looked at: closing would otherwise write a left-over log into it.
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    sql.busy_timeout(Duration::from_secs(5))?;
    sql.set_prepared_statement_cache_capacity(64);
    Ok(sql)
}

fn check_ours(path: &Path, sql: &Connection) -> Result<(), OpenError> {
    let read = |pragma: &str| sql.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let tables =
        read("SELECT count(*) FROM sqlite_schema").map_err(|why| explain(path, why.into()))?;
    let application = read("PRAGMA application_id").map_err(|why| explain(path, why.into()))?;
    if application != APPLICATION_ID && tables > 0 {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
        });
    }
    Ok(())
}

fn configure(sql: &Connection) -> Result<(), Fault> {
    // A record is under a kilobyte: in larger pages, fewer of them are written for many records.
    // The log is cut to 64 MB when it begins anew, so that a burst does not keep its size for ever.
    sql.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -8000; \
         PRAGMA temp_store = MEMORY;",
    )?;
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(())
}

/// From here on SQLite neither syncs a commit nor writes the log back by itself: [`super::durable`] and
/// [`super::checkpoint`] do. `NORMAL` still syncs around every writing back, so the file is never torn.
fn hand_over(sql: &mut Connection, log_length: &LogLength) -> Result<(), Fault> {
    sql.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;")?;
    Ok(log_length.watch(sql)?)
}

fn migrate(path: &Path, sql: &Connection) -> Result<(), OpenError> {
    let place = format!("`{}`", path.display());
    let failed = |why: rusqlite::Error| OpenError::Migration {
        place: place.clone(),
        why: why.to_string(),
    };
    let found = schema_version(sql).map_err(|fault| explain(path, fault))?;
    let known = MIGRATIONS.len() as i64;
    if found > known {
        return Err(OpenError::NewerSchema {
            place,
            found,
            known,
        });
    }
    if found == known {
        return Ok(());
    }
    let apply = || {
        sql.execute_batch("BEGIN IMMEDIATE")?;
        sql.execute_batch(
            "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT",
        )?;
        for migration in MIGRATIONS.iter().skip(found as usize) {
            sql.execute_batch(migration)?;
        }
        sql.execute("DELETE FROM schema_version", [])?;
        sql.execute("INSERT INTO schema_version VALUES (?1)", [known])?;
        sql.pragma_update(None, "application_id", APPLICATION_ID)?;
        sql.execute_batch("COMMIT")
    };
    apply().map_err(failed)
}

fn schema_version(sql: &Connection) -> Result<i64, Fault> {
    let known = "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'";
    if sql.query_row(known, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(0);
    }
    Ok(sql.query_row(
        "SELECT coalesce(max(version), 0) FROM schema_version",
        [],
        |row| row.get(0),
    )?)
}

/// Where the chain goes on. The head is noted beside the records; if the two disagree, somebody changed
/// one of them. Then the chain goes on from the further one, so that the break stays visible, and says
/// so in a record of its own.
fn find_head(sql: &Connection, now: Time) -> Result<Head, Fault> {
    let Some(noted) = noted_ends(sql)? else {
        return begin_chain(sql);
    };
    let found = last_record(sql)?.unwrap_or(Head {
        seq: noted.anchor_seq,
        hash: noted.anchor_hash,
    });
    let head = Head {
        seq: noted.head_seq,
        hash: noted.head_hash,
    };
    if head == found {
        return Ok(head);
    }
    tracing::error!(
        chain.noted = head.seq,
        chain.found = found.seq,
        "the chain of traces was changed while it was closed; verifying it shows where"
    );
    let further = if found.seq > head.seq { found } else { head };
    let (mut sightings, mut behind) = (Sightings::default(), Behind::new(""));
    let mut batch = Batch::begin(sql, further, &mut sightings, &mut behind)?;
    batch.append(&notes::head_differs(
        (head.seq, &head.hash),
        (found.seq, &found.hash),
        now,
    ))?;
    Ok(batch.commit()?.head)
}

fn noted_ends(sql: &Connection) -> Result<Option<ChainEnds>, Fault> {
    sql.query_row(rows::CHAIN_ENDS, [], |row| Ok(rows::chain_ends(row)))
        .optional()?
        .transpose()
}

fn last_record(sql: &Connection) -> Result<Option<Head>, Fault> {
    let last = "SELECT place, hash FROM traces ORDER BY place DESC LIMIT 1";
    sql.query_row(last, [], |row| Ok(rows::head(row)))
        .optional()?
        .transpose()
}

fn begin_chain(sql: &Connection) -> Result<Head, Fault> {
    let hash = chain::genesis(CHAIN);
    sql.execute(
        "INSERT INTO chains VALUES (?1, 0, ?2, 0, ?2)",
        params![CHAIN, &hash[..]],
    )?;
    Ok(Head { seq: 0, hash })
}

fn explain(path: &Path, fault: Fault) -> OpenError {
    let (path, why) = (path.to_owned(), fault.to_string());
    if fault.is_corruption() {
        OpenError::Corrupt { path, why }
    } else {
        OpenError::Unusable { path, why }
    }
}

fn unusable(path: &Path, why: &io::Error) -> OpenError {
    OpenError::Unusable {
        path: path.to_owned(),
        why: why.to_string(),
    }
}
