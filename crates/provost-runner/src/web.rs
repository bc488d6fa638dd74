//! Small exchanges over HTTP and HTTPS: one request, one bounded answer, one deadline for both. Redirects are
//! answers like any other: a signed request or a bearer token must not wander to another host.

use std::{
    error::Error as _,
    fmt::{self, Write as _},
    sync::OnceLock,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Pool, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout_at},
};
use tower::{BoxError, ServiceExt as _, util::BoxCloneSyncService};

/// No exchange is waited for longer, whatever was asked: a point in time must be one that can be named.
const LONGEST: Duration = Duration::from_hours(24);
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// How far one exchange may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of the connection to the last byte of the answer.
    pub deadline: Duration,
    /// Bytes of an answer's body.
    pub largest: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            largest: 1024 * 1024,
        }
    }
}

/// What the other side answered, whatever the status.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("a url starts with http:// or https://, has a host and no user")]
    BadUrl,
    #[error("no certificates to trust: {0}")]
    NoCertificates(String),
    #[error("no answer within {0:?}")]
    Slow(Duration),
    #[error("not reached: {0}")]
    Unanswered(String),
    /// The status is known, the body is not.
    #[error("the answer ({0}) broke off")]
    BrokeOff(StatusCode),
    #[error("the answer ({0}) is too large")]
    TooLarge(StatusCode),
}

impl Error {
    /// What the other side said before the exchange failed.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::BrokeOff(status) | Self::TooLarge(status) => Some(*status),
            _ => None,
        }
    }
}

/// How a connection is made, below TLS.
pub type Connector = BoxCloneSyncService<Uri, TokioIo<TcpStream>, BoxError>;

type Secure = Pool<HttpsConnector<Connector>, Full<Bytes>>;

/// Connections that are kept and used again.
pub struct Web {
    limits: Limits,
    connector: Connector,
    plain: Pool<Connector, Full<Bytes>>,
    /// Made when first needed: reading the system's certificates takes time.
    secure: OnceLock<Result<Secure, String>>,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Web {
    pub fn new(limits: Limits) -> Self {
        Self::over(connector(), limits)
    }

    pub fn over(connector: Connector, limits: Limits) -> Self {
        Self {
            limits,
            plain: Pool::builder(TokioExecutor::new()).build(connector.clone()),
            connector,
            secure: OnceLock::new(),
        }
    }

    pub async fn get(&self, url: &Uri, headers: HeaderMap) -> Result<Answer, Error> {
        self.exchange(Method::GET, url, headers, Bytes::new()).await
    }

    pub async fn post(&self, url: &Uri, headers: HeaderMap, body: Bytes) -> Result<Answer, Error> {
        self.exchange(Method::POST, url, headers, body).await
    }

    pub async fn delete(&self, url: &Uri, headers: HeaderMap) -> Result<Answer, Error> {
        self.exchange(Method::DELETE, url, headers, Bytes::new())
            .await
    }

    async fn exchange(
        &self,
        method: Method,
        url: &Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, Error> {
        let until = Instant::now() + self.limits.deadline.min(LONGEST);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = url.clone();
        *request.headers_mut() = headers;
        let response = timeout_at(until, self.send(request))
            .await
            .map_err(|_| Error::Slow(self.limits.deadline))??;
        let (head, body) = response.into_parts();
        let body = timeout_at(until, Limited::new(body, self.limits.largest).collect())
            .await
            .map_err(|_| Error::BrokeOff(head.status))?
            .map_err(|error| unread(head.status, &*error))?;
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body: body.to_bytes(),
        })
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        let answered = if request.uri().scheme_str() == Some("https") {
            let pool = self.secure.get_or_init(|| secure(self.connector.clone()));
            let pool = pool
                .as_ref()
                .map_err(|error| Error::NoCertificates(error.clone()))?;
            pool.request(request).await
        } else {
            self.plain.request(request).await
        };
        answered.map_err(|error| Error::Unanswered(reason(&error)))
    }
}

/// A URL that requests may go to. User and password in it would be sent to nobody and shown to everybody.
pub fn url(text: &str) -> Result<Uri, Error> {
    let url: Uri = text.parse().map_err(|_| Error::BadUrl)?;
    let known = matches!(url.scheme_str(), Some("http" | "https"));
    let host = url
        .authority()
        .is_some_and(|host| !host.host().is_empty() && !host.as_str().contains('@'));
    if known && host {
        Ok(url)
    } else {
        Err(Error::BadUrl)
    }
}

/// Percent-encoded, but for the bytes that may stand as they are.
pub(crate) fn quoted(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let mut quoted = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) {
            quoted.push(char::from(byte));
        } else {
            // Writing to a text cannot fail.
            let _ = write!(quoted, "%{byte:02X}");
        }
    }
    quoted
}

/// The innermost cause says what happened; what wraps it only says where.
fn reason(error: &hyper_util::client::legacy::Error) -> String {
    let mut cause = error.source();
    let mut told = error.to_string();
    while let Some(inner) = cause {
        told = inner.to_string();
        cause = inner.source();
    }
    told
}

fn unread(status: StatusCode, error: &(dyn std::error::Error + 'static)) -> Error {
    if error.is::<LengthLimitError>() {
        Error::TooLarge(status)
    } else {
        Error::BrokeOff(status)
    }
}

fn connector() -> Connector {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIME));
    Connector::new(connector.map_err(Into::into))
}

fn secure(connector: Connector) -> Result<Secure, String> {
    let provider = rustls::crypto::ring::default_provider();
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(provider)
        .map_err(|error| error.to_string())?
        .https_only()
        .enable_http1()
        .wrap_connector(connector);
    Ok(Pool::builder(TokioExecutor::new()).build(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_urls_are_taken() {
        for (text, good) in [
            ("http://127.0.0.1:9090/callback?run=1", true),
            ("https://factory.example.com", true),
            ("127.0.0.1:9090", false),
            ("/callback", false),
            ("ftp://host/", false),
            ("http://user:secret@host/", false),
            ("", false),
        ] {
            assert_eq!(url(text).is_ok(), good, "{text}");
        }
    }

    #[tokio::test]
    async fn nobody_listening_is_told_without_the_headers() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let url = url(&format!("http://{address}/")).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("authorization", "Bearer hidden".parse().unwrap());
        let error = Web::new(Limits::default())
            .get(&url, headers)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Unanswered(_)), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }
}
