//! Where a store of a test lives, and the back door through which a test plays the intruder.

use std::{path::PathBuf, sync::Arc};

use provost_core::{
    ids::{hex, random_bytes},
    ports::Store,
};
use provost_store::{OpenError, StoreConfig, open, open_for_reading};
use tempfile::TempDir;

pub(crate) enum Place {
    Sqlite(TempDir),
    Postgres { server: String, database: String },
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(TempDir::new().unwrap())
    }

    pub(crate) async fn postgres() -> Self {
        let server = std::env::var("PROVOST_TEST_POSTGRES").expect(
            "PROVOST_TEST_POSTGRES is not set: it names a PostgreSQL server where tests may create \
             databases, as postgres://user@host:port/postgres. Run ./test.sh, which starts one",
        );
        let database = format!("provost_test_{}", hex(&random_bytes::<6>()));
        let place = Self::Postgres { server, database };
        place.on_server("CREATE DATABASE").await;
        place
    }

    pub(crate) async fn remove(self) {
        self.on_server("DROP DATABASE").await;
    }

    async fn on_server(&self, what: &str) {
        let Self::Postgres { server, database } = self else {
            return;
        };
        let force = if what.starts_with("DROP") {
            " WITH (FORCE)"
        } else {
            ""
        };
        run(server, &format!("{what} {database}{force}")).await;
    }

    pub(crate) fn config(&self) -> StoreConfig {
        match self {
            Self::Sqlite(_) => StoreConfig::Sqlite { path: self.file() },
            Self::Postgres { server, database } => {
                let (before, query) = server.split_once('?').unwrap_or((server, ""));
                let (before, _) = before.rsplit_once('/').expect("the URL names a database");
                StoreConfig::Postgres {
                    url: format!("{before}/{database}?{query}"),
                }
            }
        }
    }

    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite(folder) => folder.path().join("provost.db"),
            Self::Postgres { .. } => panic!("PostgreSQL has no file"),
        }
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        self.try_open()
            .await
            .unwrap_or_else(|error| panic!("{error}: {}", error.help()))
    }

    pub(crate) async fn try_open(&self) -> Result<Arc<dyn Store>, OpenError> {
        open(&self.config()).await
    }

    pub(crate) async fn open_for_reading(&self) -> Arc<dyn Store> {
        open_for_reading(&self.config())
            .await
            .unwrap_or_else(|error| panic!("{error}: {}", error.help()))
    }

    /// Runs SQL behind the store's back.
    pub(crate) async fn intrude(&self, sql: &str) {
        match self.config() {
            StoreConfig::Sqlite { path } => {
                rusqlite::Connection::open(path)
                    .unwrap()
                    .execute_batch(sql)
                    .unwrap();
            }
            StoreConfig::Postgres { url } => run(&url, sql).await,
        }
    }
}

impl Place {
    /// A session of its own on PostgreSQL, for what must be held open.
    pub(crate) async fn session(&self) -> tokio_postgres::Client {
        let StoreConfig::Postgres { url } = self.config() else {
            panic!("SQLite has no sessions");
        };
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        client
    }
}

async fn run(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    let driver = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    driver.await.unwrap().unwrap();
}
