//! The pooled HTTP client through which everything that goes out by HTTP goes out.
//!
//! Redirects are not followed, answers are bounded, and the whole exchange has one deadline.

mod frame;
mod head;
mod line;
mod outlets;
mod pool;
mod reach;
mod stream;

use std::{
    error::Error,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode, Uri, uri::Scheme};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use provost_core::ports::ForwardError;
use tokio::time::Instant;
use tower::{BoxError, ServiceExt as _};

pub(crate) use outlets::Outlets;
pub(crate) use reach::{is_off_limits, is_public, plain_address, port};
pub use stream::{Streamed, Streaming};

use self::{
    head::{Head, peer},
    line::{Failure, Line},
    pool::Place,
    reach::{Reach, Resolver},
};

type Connector = HttpConnector<Resolver>;

/// The time a backend has to answer when its configuration does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Smaller answers are not worth counting.
const UNCOUNTED: u64 = 64 * 1024;
/// A longer timeout is this one: not every moment that can be written can be waited for.
const FOREVER: Duration = Duration::from_hours(10 * 365 * 24);

#[derive(Clone)]
pub struct Web(Arc<Connections>);

struct Connections {
    outlets: Outlets,
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
        Self::through(&Outlets::default(), max_answer)
    }

    /// For what agents call.
    pub(crate) fn through(outlets: &Outlets, max_answer: u64) -> Self {
        Self::reaching(Reach::Anywhere, outlets, max_answer)
    }

    /// For addresses that strangers name: nothing but the public internet is called, whatever name leads there.
    pub fn for_strangers(max_answer: u64) -> Self {
        Self::reaching(Reach::Public, &Outlets::default(), max_answer)
    }

    /// For addresses that strangers choose from a list of the operator's: that may be this machine or its network,
    /// but neither link-local addresses nor those where a cloud keeps the secrets of its machines.
    pub fn for_named(max_answer: u64) -> Self {
        Self::reaching(Reach::WithinLimits, &Outlets::default(), max_answer)
    }

    fn reaching(reach: Reach, outlets: &Outlets, max_answer: u64) -> Self {
        Self(Arc::new(Connections {
            outlets: outlets.clone(),
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
        request: Request<Bytes>,
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
        request: Request<Bytes>,
        time: Time,
        max_answer: u64,
    ) -> Result<Answer, ForwardError> {
        let place = Place::of(request.uri())?;
        let _turn = self.outlets.turn(time.until).await?;
        let (mut line, head) = self.send(&request, &place, time).await?;
        let body = self.read(&mut line, time, max_answer).await?;
        self.outlets.idle().give(&place, line);
        Ok(Answer {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

    /// Up to the head of the answer, for a call that has its turn. The line then carries its body.
    async fn send(
        &self,
        request: &Request<Bytes>,
        place: &Place,
        time: Time,
    ) -> Result<(Line, Head), ForwardError> {
        loop {
            let idle = self.outlets.idle().take(place);
            let fresh = idle.is_none();
            let mut line = match idle {
                Some(line) => line,
                // Boxed: it is large, and few need it.
                None => Box::pin(self.connect(request.uri(), time)).await?,
            };
            let error = match line.send(request, time.until).await {
                Ok(head) => return Ok((line, head)),
                Err(Failure::Late) => return Err(time.over()),
                // It was closed while it rested.
                Err(Failure::Unsent(_)) if !fresh => continue,
                Err(Failure::Unsent(error) | Failure::Broken(error)) => error,
            };
            let peer = peer(request.uri());
            let failed = format!("the exchange with `{peer}` failed: {}", deepest(&error));
            return Err(ForwardError::Failed(failed));
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
        // The connector would take the usual port for one that cannot be read.
        if port(uri).is_none() {
            let refused = format!("`{}` has a port that cannot be read", peer(uri));
            return Err(ForwardError::Unreachable(refused));
        }
        let file = self.outlets.opens(1);
        let connected = if uri.scheme() == Some(&Scheme::HTTPS) {
            let secure = self.secure.get();
            let secure =
                secure.ok_or_else(|| ForwardError::Unreachable("TLS is not set up".into()))?;
            let stream = secure.clone().oneshot(uri.clone()).await;
            stream.map(|stream| Line::encrypted(TokioIo::new(stream)))
        } else {
            let stream = self.plain.clone().oneshot(uri.clone()).await;
            stream
                .map(|stream| Line::plain(stream.into_inner()))
                .map_err(BoxError::from)
        };
        let connected = connected.map(|line| line.counted(file));
        connected.map_err(|error| {
            let (peer, cause) = (peer(uri), deepest(&*error));
            ForwardError::Unreachable(format!("`{peer}`: {cause}"))
        })
    }

    async fn read(
        &self,
        line: &mut Line,
        time: Time,
        max_answer: u64,
    ) -> Result<Bytes, ForwardError> {
        let mut announced = line.least();
        if announced > max_answer {
            return Err(ForwardError::TooLarge(max_answer));
        }
        // Most answers are one part, which is then passed on without a copy.
        let mut first = Bytes::new();
        let mut rest = BytesMut::new();
        let mut held = None;
        loop {
            if announced > UNCOUNTED && held.is_none() {
                let room = self.outlets.hold(announced, time.until).await;
                held = Some(room.ok_or_else(|| time.over())?);
            }
            let next = line.next().await;
            let Some(part) = next.map_err(|failure| broke_off(failure, time))? else {
                break;
            };
            let length = (first.len() + rest.len() + part.len()) as u64;
            if length > max_answer {
                return Err(ForwardError::TooLarge(max_answer));
            }
            // One that does not say how long it is may become as long as any.
            if length > announced.max(UNCOUNTED) {
                announced = max_answer;
                held = None;
            }
            if first.is_empty() {
                first = part;
            } else {
                rest.extend_from_slice(&part);
            }
        }
        Ok(if rest.is_empty() {
            first
        } else {
            [first, rest.freeze()].concat().into()
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

fn connector(reach: Reach) -> Connector {
    let mut connector = HttpConnector::new_with_resolver(Resolver::new(reach));
    connector.set_nodelay(true);
    connector.enforce_http(false);
    connector
}

fn broke_off(failure: Failure, time: Time) -> ForwardError {
    match failure {
        Failure::Late => time.over(),
        Failure::Unsent(error) | Failure::Broken(error) => {
            ForwardError::Failed(format!("the backend's answer broke off: {error}"))
        }
    }
}

fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
