//! How connections to the gateway are made: none is used before it was proven, where a proof is due.

use std::{
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use provost_gateway::secret::Secret;
use tokio::net::TcpStream;
use tower::{BoxError, Service};

use super::proof::Proof;

const CONNECT_TIME: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub(crate) struct Connector {
    tcp: HttpConnector,
    /// What is asked for on each connection before anything else is sent.
    proof: Option<Arc<Proof>>,
}

impl Connector {
    pub(super) fn new() -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT_TIME));
        Self { tcp, proof: None }
    }

    pub(super) fn proven_by(data: &Path, admin_key: &Secret) -> Self {
        Self {
            proof: Some(Arc::new(Proof::new(data.to_owned(), admin_key.clone()))),
            ..Self::new()
        }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (connecting, proof) = (self.tcp.call(uri.clone()), self.proof.clone());
        Box::pin(async move {
            let stream = connecting.await?;
            match proof {
                Some(proof) => proof.ask(stream, &uri).await,
                None => Ok(stream),
            }
        })
    }
}

#[cfg(test)]
mod tests;
