//! The store: SQLite for one process, PostgreSQL for several, behind the core's [`Store`] port.
//!
//! Both keep the same promises, held by one contract suite. Nothing here knows HTTP.

mod codec;
mod error;
mod filter;
mod notes;
mod postgres;
mod sqlite;
mod tally;
mod telemetry;
mod transition;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use provost_core::ports::Store;

pub use error::OpenError;

#[derive(Clone, PartialEq, Eq)]
pub enum StoreConfig {
    /// One file, used by one process.
    Sqlite { path: PathBuf },
    /// `postgres://…`, shared by any number of processes.
    Postgres { url: String },
}

impl StoreConfig {
    /// Names the place, without secrets: the file, or server and database. First where it is, then how it is
    /// configured, if links lead there: they may come to lead elsewhere.
    pub fn places(&self) -> Result<Vec<String>, OpenError> {
        let path = match self {
            Self::Sqlite { path } => path,
            Self::Postgres { url } => {
                return Ok(vec![format!("postgres:{}", postgres::place(url)?)]);
            }
        };
        let configured = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut places = vec![settled(&configured), configured];
        places.dedup();
        let name = |path: PathBuf| format!("sqlite:{}", path.display());
        Ok(places.into_iter().map(name).collect())
    }

    /// The version of the schema that an open store has.
    pub fn schema(&self) -> i64 {
        match self {
            Self::Sqlite { .. } => sqlite::SCHEMA,
            Self::Postgres { .. } => postgres::SCHEMA,
        }
    }
}

/// The same for every way that leads to the file, also while it is not there.
fn settled(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

impl fmt::Debug for StoreConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path } => write!(f, "Sqlite({})", path.display()),
            // The URL holds a password.
            Self::Postgres { .. } => f.write_str("Postgres(…)"),
        }
    }
}

/// Opens the store, and brings its schema up to date.
pub async fn open(config: &StoreConfig) -> Result<Arc<dyn Store>, OpenError> {
    match config {
        StoreConfig::Sqlite { path } => Ok(Arc::new(sqlite::SqliteStore::open(path).await?)),
        StoreConfig::Postgres { url } => Ok(Arc::new(postgres::PostgresStore::open(url).await?)),
    }
}

/// Opens a store that is there already, to read what stands in it: nothing is made, brought up to date or
/// put right, and every write is refused. A gateway may use it meanwhile.
pub async fn open_for_reading(config: &StoreConfig) -> Result<Arc<dyn Store>, OpenError> {
    match config {
        StoreConfig::Sqlite { path } => {
            Ok(Arc::new(sqlite::SqliteStore::open_for_reading(path).await?))
        }
        StoreConfig::Postgres { url } => Ok(Arc::new(
            postgres::PostgresStore::open_for_reading(url).await?,
        )),
    }
}
