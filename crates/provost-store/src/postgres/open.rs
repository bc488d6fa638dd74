//! Opening: connect, bring the schema up to date, begin a chain, start the tasks. Or only connect.

use std::sync::Arc;

use deadpool_postgres::ClientWrapper;
use futures_util::future::{AbortHandle, Abortable};
use provost_core::ports::{Clock as _, SystemClock};
use tokio::sync::{Notify, broadcast};

use super::{
    PostgresStore, chain,
    connect::{Connector, SESSION},
    fault::Fault,
    listen, schema,
    worker::Start,
    writer::Writer,
};
use crate::OpenError;

impl PostgresStore {
    pub(crate) async fn open(url: &str) -> Result<Self, OpenError> {
        let connector = Connector::new(url)?;
        let server = connector.server.to_string();
        let sql = connect(&connector).await?;
        schema::migrate(&sql, &server).await?;
        let (sql, chain, head) =
            chain::begin(sql, SystemClock.now())
                .await
                .map_err(|why| OpenError::Server {
                    server,
                    why: why.to_string(),
                })?;
        let pool = connector.pool(SESSION)?;
        let (wake, _) = broadcast::channel(16);
        let news = Arc::new(Notify::new());
        let companions = vec![
            companion(listen::notify_others(pool.clone(), news.clone())),
            companion(listen::hear_others(connector.clone(), wake.clone())),
        ];
        let lost = Arc::default();
        let writer = Writer::start(Start {
            lost: Arc::clone(&lost),
            connector,
            sql,
            chain,
            head,
            wake: wake.clone(),
            news,
        });
        Ok(Self {
            writer: Some(writer),
            pool,
            wake,
            companions,
            lost,
        })
    }

    pub(crate) async fn open_for_reading(url: &str) -> Result<Self, OpenError> {
        let connector = Connector::new(url)?;
        schema::check(&connect(&connector).await?, &connector.server).await?;
        let (wake, _) = broadcast::channel(16);
        Ok(Self {
            writer: None,
            pool: connector.pool(&format!(
                "{SESSION}; SET default_transaction_read_only = on"
            ))?,
            wake,
            companions: Vec::new(),
            lost: Arc::default(),
        })
    }
}

async fn connect(connector: &Connector) -> Result<ClientWrapper, OpenError> {
    connector
        .connect()
        .await
        .map_err(|fault| OpenError::Connect {
            server: connector.server.to_string(),
            why: match fault {
                Fault::Connect(why) => why,
                other => other.to_string(),
            },
        })
}

fn companion(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    let (handle, registration) = AbortHandle::new_pair();
    tokio::spawn(Abortable::new(task, registration));
    handle
}
