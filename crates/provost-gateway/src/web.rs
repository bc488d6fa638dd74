//! The pooled HTTP client through which everything that goes out by HTTP goes out.
//!
//! Redirects are not followed, answers are bounded, and the whole exchange has one deadline.

use std::{
    error::Error as _,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, Response, StatusCode, Uri, uri::Scheme};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, Error as ClientError, ResponseFuture, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use provost_core::ports::ForwardError;

/// The time a backend has to answer when its configuration does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

#[derive(Clone)]
pub struct Web(Arc<Clients>);

struct Clients {
    plain: Client<HttpConnector, Full<Bytes>>,
    /// Reading the machine's root certificates takes milliseconds: only when a backend needs them.
    secure: OnceLock<Client<HttpsConnector<HttpConnector>, Full<Bytes>>>,
    max_answer: u64,
}

/// An answer as it came, within the limits.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Web {
    pub fn new(max_answer: u64) -> Self {
        let plain = pooled().build(connector());
        Self(Arc::new(Clients {
            plain,
            secure: OnceLock::new(),
            max_answer,
        }))
    }

    /// Makes ready for the scheme of a URL that a tool will call.
    pub fn prepare(&self, uri: &Uri) -> Result<(), String> {
        if uri.scheme() != Some(&Scheme::HTTPS) || self.0.secure.get().is_some() {
            return Ok(());
        }
        let provider = rustls::crypto::ring::default_provider();
        let tls = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)
            .map_err(|error| format!("cannot load this machine's root certificates: {error}"))?
            .https_only()
            .enable_http1()
            .wrap_connector(connector());
        self.0.secure.get_or_init(|| pooled().build(tls));
        Ok(())
    }

    /// One request and its answer, whatever the status. A tool's answer may have [`Web::max_answer`] bytes.
    pub async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
        max_answer: u64,
    ) -> Result<Answer, ForwardError> {
        let uri = request.uri().clone();
        let exchange = async {
            let response = self
                .request(request)?
                .await
                .map_err(|error| unreachable(&uri, &error))?;
            read(response, max_answer).await
        };
        tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or_else(|_| Err(ForwardError::Timeout(format!("{timeout:?}"))))
    }

    pub fn max_answer(&self) -> u64 {
        self.0.max_answer
    }

    fn request(&self, request: Request<Full<Bytes>>) -> Result<ResponseFuture, ForwardError> {
        if request.uri().scheme() != Some(&Scheme::HTTPS) {
            return Ok(self.0.plain.request(request));
        }
        let secure = self.0.secure.get();
        let secure = secure.ok_or_else(|| ForwardError::Unreachable("TLS is not set up".into()))?;
        Ok(secure.request(request))
    }
}

fn pooled() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT);
    builder
}

fn connector() -> HttpConnector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    connector
}

async fn read(response: Response<Incoming>, max_answer: u64) -> Result<Answer, ForwardError> {
    let (head, mut body) = response.into_parts();
    if body.size_hint().lower() > max_answer {
        return Err(ForwardError::TooLarge(max_answer));
    }
    // Most answers are one frame, which is then passed on without a copy.
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ForwardError::Failed(format!("the backend's answer broke off: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if (first.len() + rest.len() + data.len()) as u64 > max_answer {
            return Err(ForwardError::TooLarge(max_answer));
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    let body = if rest.is_empty() {
        first
    } else {
        [first, rest.freeze()].concat().into()
    };
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body,
    })
}

/// Host and port: the rest of a URL may hold what must not be repeated.
fn peer(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    uri.port_u16()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn unreachable(uri: &Uri, error: &ClientError) -> ForwardError {
    let peer = peer(uri);
    let mut cause = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        cause = deeper.to_string();
        source = deeper.source();
    }
    if error.is_connect() {
        ForwardError::Unreachable(format!("`{peer}`: {cause}"))
    } else {
        ForwardError::Failed(format!("the exchange with `{peer}` failed: {cause}"))
    }
}
