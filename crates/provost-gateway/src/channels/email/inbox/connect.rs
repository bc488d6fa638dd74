//! Connecting to an IMAP server and logging in.

use std::{fmt::Debug, sync::Arc, time::Duration};

use async_imap::{Client, Session};
use rustls::{ClientConfig, RootCertStore, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use super::Trouble;
use crate::channels::email::settings::Imap;

const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Debug + Send + Sync {}
impl<T: AsyncRead + AsyncWrite + Unpin + Debug + Send + Sync> Stream for T {}

pub(super) type ImapSession = Session<Box<dyn Stream>>;

pub(super) struct Connector {
    /// `None` where the connection is plain, which settings allow on loopback only.
    tls: Option<TlsConnector>,
}

impl Connector {
    pub(super) fn new(encrypted: bool) -> Result<Self, String> {
        let tls = encrypted.then(tls).transpose()?;
        Ok(Self { tls })
    }

    pub(super) async fn session(&self, imap: &Imap) -> Result<ImapSession, Trouble> {
        let login = async {
            let stream = self.stream(imap).await?;
            let mut client = Client::new(stream);
            let greeting = client.read_response().await.map_err(server)?;
            greeting
                .ok_or_else(|| Trouble::Server("the mail server closed the connection".into()))?;
            let login = imap.server.login.as_ref();
            let login =
                login.ok_or_else(|| Trouble::Server("there is no user to log in as".into()))?;
            let session = client.login(&login.user, login.password.expose()).await;
            session.map_err(|(error, _)| match error {
                async_imap::error::Error::No(why) | async_imap::error::Error::Bad(why) => {
                    Trouble::Login(why)
                }
                other => Trouble::from(other),
            })
        };
        tokio::time::timeout(TIMEOUT, login)
            .await
            .unwrap_or(Err(Trouble::Slow))
    }

    async fn stream(&self, imap: &Imap) -> Result<Box<dyn Stream>, Trouble> {
        let host = imap.server.host.clone();
        let plain = TcpStream::connect((host.as_str(), imap.server.port))
            .await
            .map_err(server)?;
        let Some(tls) = &self.tls else {
            return Ok(Box::new(plain));
        };
        let name = ServerName::try_from(host).map_err(server)?;
        Ok(Box::new(tls.connect(name, plain).await.map_err(server)?))
    }
}

fn server(error: impl std::fmt::Display) -> Trouble {
    Trouble::Server(error.to_string())
}

fn tls() -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    let (added, _) =
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if added == 0 {
        return Err("cannot load this machine's root certificates".into());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("cannot prepare TLS: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
