//! Connections: the URL, TLS, and how every session is set up.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{
    ClientWrapper, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod,
};
use rustls::ClientConfig;
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    fault::{Fault, describe},
    tls,
};
use crate::OpenError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const READERS: usize = 8;

/// A statement that takes longer is given up, and so is a transaction whose process went silent: its
/// locks would hold up every replica. Commits wait for the disk, whatever the server's default says.
pub(super) const SESSION: &str = "SET statement_timeout = 10000; SET lock_timeout = 8000; \
     SET idle_in_transaction_session_timeout = 10000; \
     SET default_transaction_isolation = 'read committed'; \
     SELECT set_config('synchronous_commit', 'on', false) \
     WHERE current_setting('synchronous_commit') = 'off'";

#[derive(Clone)]
pub(super) struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    /// Host, port and database, to name it in messages.
    pub(super) server: Arc<str>,
}

impl Connector {
    pub(super) fn new(url: &str) -> Result<Self, OpenError> {
        // The driver knows no `verify-…`; here `require` verifies too.
        let url = url.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url.parse().map_err(|why| OpenError::BadUrl {
            why: describe(&why),
        })?;
        config
            .connect_timeout(CONNECT_TIMEOUT)
            .keepalives_idle(Duration::from_secs(30));
        config
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(3);
        if config.get_application_name().is_none() {
            config.application_name("provost");
        }
        let server = server(&config);
        let tls = tls_config(&config).map_err(|why| OpenError::Connect {
            server: server.clone(),
            why: why.to_string(),
        })?;
        Ok(Self {
            config,
            tls: MakeRustlsConnect::new(tls),
            server: server.into(),
        })
    }

    /// Host, port and database, and the options that may choose a schema.
    pub(super) fn place(&self) -> String {
        match self.config.get_options() {
            Some(options) => format!("{} {options}", self.server),
            None => self.server.to_string(),
        }
    }

    /// `session` sets up every connection.
    pub(super) fn pool(&self, session: &str) -> Result<Pool, OpenError> {
        let how = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_config(self.config.clone(), self.tls.clone(), how);
        let session: Arc<str> = session.into();
        let set_up = Hook::async_fn(move |client: &mut ClientWrapper, _| {
            let session = session.clone();
            Box::pin(async move {
                client
                    .batch_execute(&session)
                    .await
                    .map_err(HookError::Backend)
            })
        });
        Pool::builder(manager)
            .max_size(READERS)
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(CONNECT_TIMEOUT))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .post_create(set_up)
            .build()
            .map_err(|why| OpenError::Server {
                server: self.server.to_string(),
                why: why.to_string(),
            })
    }

    /// A connection of its own, driven in the background.
    pub(super) async fn connect(&self) -> Result<ClientWrapper, Fault> {
        let connecting = async {
            let (client, connection) = self.config.connect(self.tls.clone()).await?;
            // It ends when the client is dropped; its errors reach whoever uses the client.
            let driver = tokio::spawn(async move {
                let _ = connection.await;
            });
            client.batch_execute(SESSION).await?;
            Ok::<_, tokio_postgres::Error>(ClientWrapper::new(client, driver))
        };
        match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(why)) => Err(Fault::Connect(describe(&why))),
            Err(_) => Err(Fault::Connect("no answer in time".to_owned())),
        }
    }

    /// As [`Self::connect`], but the caller drives the connection and sees its notifications.
    pub(super) async fn connect_to_listen(&self) -> Result<Listening, Fault> {
        let connecting = self.config.connect(self.tls.clone());
        match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(done) => Ok(done?),
            Err(_) => Err(Fault::Silent),
        }
    }
}

pub(super) type Listening = (
    tokio_postgres::Client,
    tokio_postgres::Connection<
        tokio_postgres::Socket,
        <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<tokio_postgres::Socket>>::Stream,
    >,
);

fn tls_config(config: &Config) -> Result<ClientConfig, rustls::Error> {
    match config.get_ssl_mode() {
        SslMode::Require => tls::verifying(),
        _ => tls::opportunistic(),
    }
}

fn server(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config
        .get_dbname()
        .or(config.get_user())
        .unwrap_or("postgres");
    format!("{host}:{port}/{database}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_never_hold_the_password() {
        let connector = Connector::new("postgres://bob:s3cret@db.example:6432/provost").unwrap();
        assert_eq!(&*connector.server, "db.example:6432/provost");
        for url in [
            "postgres://bob:s3cret@db:notaport/x",
            "postgres://bob:s3cret@db/x?sslmode=nonsense",
        ] {
            let Err(error) = Connector::new(url) else {
                panic!("{url} was accepted")
            };
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
    }
}
