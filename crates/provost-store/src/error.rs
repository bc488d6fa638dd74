//! Why a store cannot be opened, and what to do about it.

use std::path::PathBuf;

/// What a store that was opened for reading answers to every write.
pub(crate) const READ_ONLY: &str = "it was opened for reading only";

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("`{path}` is not a SQLite database")]
    NotADatabase { path: PathBuf },
    #[error("`{path}` is a SQLite database, but not one of provost")]
    Foreign { path: PathBuf },
    #[error("`{path}` is damaged: {why}")]
    Corrupt { path: PathBuf, why: String },
    #[error("another process uses `{path}` (it holds `{lock}`)")]
    Locked { path: PathBuf, lock: PathBuf },
    #[error("`{path}` is a link, or the database has a second name")]
    Linked { path: PathBuf },
    #[error("cannot open `{path}`: {why}")]
    Unusable { path: PathBuf, why: String },
    #[error("{place} has schema {found}, made by a newer provost; this one knows up to {known}")]
    NewerSchema {
        place: String,
        found: i64,
        known: i64,
    },
    /// Only where the store is opened for reading.
    #[error("{place} has schema {found}, made by an older provost; this one reads {known}")]
    OlderSchema {
        place: String,
        found: i64,
        known: i64,
    },
    /// Only where the store is opened for reading.
    #[error("there is no record at {place}")]
    Missing { place: String },
    #[error("cannot bring the schema of {place} up to date: {why}")]
    Migration { place: String, why: String },
    #[error("the database URL cannot be read: {why}")]
    BadUrl { why: String },
    /// `server` names host, port and database, never the password.
    #[error("cannot connect to PostgreSQL at {server}: {why}")]
    Connect { server: String, why: String },
    #[error("PostgreSQL at {server} cannot be used: {why}")]
    Server { server: String, why: String },
}

impl OpenError {
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotADatabase { .. } | Self::Foreign { .. } => {
                "point `data` at another folder, or move the file away; it was not changed"
            }
            Self::Corrupt { .. } => {
                "restore the file from a backup, or move it away together with its `-wal` and \
                 `-shm` files to start anew; it was not changed"
            }
            Self::Linked { .. } => {
                "point `data` at the folder of the database itself, and remove its other names (hard links): \
                 two gateways could write it at once; it was not changed"
            }
            Self::Locked { .. } => {
                "stop the other process or use another data folder; for several processes use \
                 PostgreSQL (`database: postgres://…`)"
            }
            Self::Unusable { .. } => "check that the folder exists and may be written by this user",
            Self::NewerSchema { .. } => {
                "run the newer provost, or restore a backup of before the upgrade"
            }
            Self::OlderSchema { .. } => {
                "start the gateway once, which brings the schema up to date, or use the older provost"
            }
            Self::Missing { .. } => "check that `data` or `database` names the gateway's own",
            Self::Migration { .. } => "nothing was changed; back up the database and report this",
            Self::BadUrl { .. } => {
                "write it as postgres://user:password@host:5432/database, with ?sslmode=require \
                 where the server wants TLS"
            }
            Self::Connect { .. } => {
                "check that the server runs, the address, the user and the password"
            }
            Self::Server { .. } => {
                "check that the user may create and change tables in this database"
            }
        }
    }
}
