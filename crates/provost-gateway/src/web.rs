//! The pooled HTTP client through which everything that goes out by HTTP goes out.
//!
//! Redirects are not followed, answers are bounded, and the whole exchange has one deadline.

mod flat;
mod line;
mod pool;
mod reach;
mod stream;

use std::{
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, header, uri::Scheme};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use provost_core::ports::ForwardError;
use tokio::time::Instant;
use tower::{BoxError, ServiceExt as _};

pub(crate) use flat::Flat;
pub(crate) use reach::{is_off_limits, literal};
pub use stream::{Streamed, Streaming};

use self::{
    line::{Late, Line},
    pool::{Place, Pool},
    reach::{Reach, Resolver},
};

type Connector = HttpConnector<Resolver>;

/// The time a backend has to answer when its configuration does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// A longer timeout is this one: not every moment that can be written can be waited for.
const FOREVER: Duration = Duration::from_hours(10 * 365 * 24);

#[derive(Clone)]
pub struct Web(Arc<Connections>);

struct Connections {
    idle: Pool,
    reach: Reach,
    plain: Connector,
    /// Reading the machine's root certificates takes milliseconds: only when a backend needs them.
    secure: OnceLock<HttpsConnector<Connector>>,
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
        Self::reaching(Reach::Anywhere, max_answer)
    }

    /// For addresses that strangers name: link-local ones, those where a cloud keeps the secrets of its machines
    /// and the like are not called, whatever name leads there.
    pub fn for_strangers(max_answer: u64) -> Self {
        Self::reaching(Reach::WithinLimits, max_answer)
    }

    fn reaching(reach: Reach, max_answer: u64) -> Self {
        Self(Arc::new(Connections {
            idle: Pool::default(),
            reach,
            plain: connector(reach),
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
            .wrap_connector(connector(self.0.reach));
        self.0.secure.get_or_init(|| tls);
        Ok(())
    }

    /// One request and its answer, whatever the status. A tool's answer may have [`Web::max_answer`] bytes.
    pub async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
        max_answer: u64,
    ) -> Result<Answer, ForwardError> {
        self.0
            .exchange(request, Time::new(timeout), max_answer)
            .await
    }

    pub fn max_answer(&self) -> u64 {
        self.0.max_answer
    }
}

impl Connections {
    async fn exchange(
        &self,
        request: Request<Full<Bytes>>,
        time: Time,
        max_answer: u64,
    ) -> Result<Answer, ForwardError> {
        let place = Place::of(request.uri())?;
        let (mut line, response) = self.send(request, &place, time).await?;
        let answer = read(&mut line, response, time, max_answer).await?;
        self.idle.give(&place, line);
        Ok(answer)
    }

    /// Up to the head of the answer. The line then carries its body.
    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        place: &Place,
        time: Time,
    ) -> Result<(Line, Response<Incoming>), ForwardError> {
        let uri = request.uri().clone();
        let mut request = on_the_wire(request)?;
        loop {
            let idle = self.idle.take(place);
            let fresh = idle.is_none();
            let mut line = match idle {
                Some(line) => line,
                // Boxed: it is large, and few need it.
                None => Box::pin(self.connect(&uri, time)).await?,
            };
            let sent = line.send(request, time.until).await;
            let mut error = match sent.map_err(|Late| time.over())? {
                Ok(response) => return Ok((line, response)),
                Err(error) => error,
            };
            match error.take_message() {
                // It was closed while it rested, and nothing was sent.
                Some(unsent) if !fresh => request = unsent,
                _ => {
                    let (peer, cause) = (peer(&uri), deepest(&error.into_error()));
                    let failed = format!("the exchange with `{peer}` failed: {cause}");
                    return Err(ForwardError::Failed(failed));
                }
            }
        }
    }

    async fn connect(&self, uri: &Uri, time: Time) -> Result<Line, ForwardError> {
        tokio::time::timeout_at(time.until, self.dial(uri))
            .await
            .unwrap_or_else(|_| Err(time.over()))
    }

    async fn dial(&self, uri: &Uri) -> Result<Line, ForwardError> {
        if !self.reach.allows_host_of(uri) {
            let refused = format!("`{}` is off limits", peer(uri));
            return Err(ForwardError::Unreachable(refused));
        }
        let connected = if uri.scheme() == Some(&Scheme::HTTPS) {
            let secure = self.secure.get();
            let secure =
                secure.ok_or_else(|| ForwardError::Unreachable("TLS is not set up".into()))?;
            open(secure.clone().oneshot(uri.clone()).await).await
        } else {
            let plain = self.plain.clone().oneshot(uri.clone()).await;
            open(plain.map_err(Into::into)).await
        };
        connected.map_err(|error| {
            let (peer, cause) = (peer(uri), deepest(&*error));
            ForwardError::Unreachable(format!("`{peer}`: {cause}"))
        })
    }
}

/// The time of a whole exchange.
#[derive(Clone, Copy)]
struct Time {
    whole: Duration,
    until: Instant,
}

impl Time {
    fn new(whole: Duration) -> Self {
        Self {
            whole,
            until: Instant::now() + whole.min(FOREVER),
        }
    }

    fn over(self) -> ForwardError {
        ForwardError::Timeout(format!("{:?}", self.whole))
    }
}

async fn open<I>(connected: Result<I, BoxError>) -> Result<Line, BoxError>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    Ok(Line::open(connected?).await?)
}

/// As it is written to a server: the host in its header, and only the path in the first line.
fn on_the_wire(mut request: Request<Full<Bytes>>) -> Result<Request<Full<Bytes>>, ForwardError> {
    if !request.headers().contains_key(header::HOST) {
        let host = HeaderValue::from_str(&peer(request.uri()))
            .map_err(|error| ForwardError::Failed(error.to_string()))?;
        request.headers_mut().insert(header::HOST, host);
    }
    let path = request.uri().path_and_query().cloned();
    *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Uri::from);
    Ok(request)
}

fn connector(reach: Reach) -> Connector {
    let mut connector = HttpConnector::new_with_resolver(Resolver::new(reach));
    connector.set_nodelay(true);
    connector.enforce_http(false);
    connector
}

async fn read(
    line: &mut Line,
    response: Response<Incoming>,
    time: Time,
    max_answer: u64,
) -> Result<Answer, ForwardError> {
    let (head, mut body) = response.into_parts();
    if body.size_hint().lower() > max_answer {
        return Err(ForwardError::TooLarge(max_answer));
    }
    // Most answers are one frame, which is then passed on without a copy.
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while !body.is_end_stream()
        && let Some(frame) = line
            .during(body.frame())
            .await
            .map_err(|Late| time.over())?
    {
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

fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
