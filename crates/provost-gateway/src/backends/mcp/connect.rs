//! Making a connection, and finding out which generation of the protocol a server speaks.
//!
//! Since 2026-07-28 there is `server/discover` and no `initialize`. Older servers refuse the former, each in
//! its own way: with an error, with silence, or by ending. So it is tried first what worked last.

use std::{sync::Arc, time::Duration};

use futures_util::TryFutureExt as _;
use http::{HeaderMap, Uri};
use rmcp::{
    RoleClient,
    model::ProtocolVersion,
    service::{
        ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle,
    },
    transport::{
        IntoTransport, StreamableHttpClientTransport,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::time::timeout;

use super::{
    Upstream,
    handler::Handler,
    http::HttpClient,
    sse::SseTransport,
    stdio::{Ended, Launch, Stdio},
    trouble,
    upstream::Reach,
};

/// How long a server may take to begin.
const BEGINNING: Duration = Duration::from_mins(1);
/// How long a program may take: `npx` and `uvx` download a package first, and npm needs 70 seconds to find out
/// and to say that it cannot.
const PROGRAM_BEGINNING: Duration = Duration::from_mins(2);
const ENDED: &str = "the connection ended at once";
/// Calls at a time over HTTP.
const AT_ONCE: usize = 256;
/// How much longer than a call an HTTP request may take: whoever waits gives up first.
const SLACK: Duration = Duration::from_secs(5);

pub(super) type Running = RunningService<RoleClient, Handler>;

/// What a server is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Speaks {
    #[default]
    Unknown,
    Initialize,
    Discover,
    /// A program that ended at once, whichever way it was begun: from then on it is started once an attempt.
    Ended {
        begun_with_initialize: bool,
    },
}

impl Speaks {
    /// After a program ended before it had begun.
    pub(super) fn ended(self) -> Self {
        Self::Ended {
            begun_with_initialize: match self {
                Self::Ended {
                    begun_with_initialize,
                } => !begun_with_initialize,
                Self::Unknown | Self::Initialize | Self::Discover => false,
            },
        }
    }
}

/// Where it can be told how a connection ended.
pub(super) struct Connection {
    pub(super) running: Running,
    pub(super) handler: Handler,
    pub(super) ended: Option<Ended>,
    pub(super) speaks: Speaks,
}

pub(super) async fn connect(upstream: &Upstream, taken_for: Speaks) -> Result<Connection, String> {
    let attempts = match (&upstream.reach, taken_for) {
        (Reach::Sse { .. }, _) => vec![initialize()],
        (_, Speaks::Initialize) => vec![initialize(), either()],
        (
            _,
            Speaks::Ended {
                begun_with_initialize,
            },
        ) => {
            vec![if begun_with_initialize {
                either()
            } else {
                initialize()
            }]
        }
        _ => vec![either(), initialize()],
    };
    let mut first = None;
    for lifecycle in attempts {
        let error = match attempt(upstream, lifecycle).await {
            Ok(connection) => return Ok(connection),
            Err(Refused::Always(error)) => return Err(error),
            Err(Refused::Perhaps(error)) => error,
        };
        first.get_or_insert(error);
    }
    Err(first.unwrap_or_default())
}

enum Refused {
    /// Another lifecycle would change nothing.
    Always(String),
    Perhaps(String),
}

async fn attempt(
    upstream: &Upstream,
    lifecycle: ClientLifecycleMode,
) -> Result<Connection, Refused> {
    match &upstream.reach {
        Reach::Stdio(launch) => attempt_program(upstream, launch, lifecycle).await,
        Reach::Http { uri, headers } => {
            let transport = http_transport(upstream, uri, headers);
            let begun = begin(handler(upstream), transport, lifecycle);
            in_time(begun.map_err(Refused::Perhaps)).await
        }
        Reach::Sse { uri, headers } => {
            let (web, headers) = (upstream.web.clone(), headers.clone());
            let attempt = async {
                let opened = SseTransport::open(web, uri, headers, Arc::default()).await;
                let transport = opened.map_err(|error| Refused::Always(error.to_string()))?;
                let begun = begin(handler(upstream), transport, lifecycle);
                begun.await.map_err(Refused::Perhaps)
            };
            in_time(attempt).await
        }
    }
}

async fn in_time(
    attempt: impl Future<Output = Result<Connection, Refused>>,
) -> Result<Connection, Refused> {
    let attempt = timeout(BEGINNING, attempt).await;
    attempt.unwrap_or_else(|_| Err(Refused::Always(not_begun(BEGINNING))))
}

fn not_begun(limit: Duration) -> String {
    format!("it did not begin within {} seconds", limit.as_secs())
}

fn handler(upstream: &Upstream) -> Handler {
    Handler {
        server: upstream.name.clone(),
        notices: upstream.notices.clone(),
        changed: upstream.changed.clone(),
    }
}

async fn attempt_program(
    upstream: &Upstream,
    launch: &Launch,
    lifecycle: ClientLifecycleMode,
) -> Result<Connection, Refused> {
    let max = usize::try_from(upstream.web.max_answer()).unwrap_or(usize::MAX);
    let stdio = Stdio::start(launch, Arc::default(), max).map_err(Refused::Always)?;
    let ended = stdio.ended();
    let begun = begin(handler(upstream), stdio, lifecycle);
    match timeout(PROGRAM_BEGINNING, begun).await {
        Ok(Ok(connection)) => Ok(Connection {
            ended: Some(ended),
            ..connection
        }),
        // The program knows better why it ended, if it did.
        Ok(Err(error)) if error == ENDED => {
            Err(Refused::Perhaps(ended.how().await.unwrap_or(error)))
        }
        Ok(Err(error)) => Err(Refused::Perhaps(error)),
        Err(_) => {
            let so_far = ended.so_far(not_begun(PROGRAM_BEGINNING));
            Err(Refused::Always(launch.with_network_hint(so_far)))
        }
    }
}

fn http_transport(
    upstream: &Upstream,
    uri: &Uri,
    headers: &Arc<HeaderMap>,
) -> StreamableHttpClientTransport<HttpClient> {
    let client = HttpClient {
        web: upstream.web.clone(),
        headers: headers.clone(),
        tap: Arc::default(),
        timeout: upstream.timeout + SLACK,
        doubted: upstream.doubted.clone(),
    };
    let config = StreamableHttpClientTransportConfig::with_uri(uri.to_string())
        .max_concurrent_requests(AT_ONCE)
        // It would send again what was sent already.
        .reinit_on_expired_session(false);
    StreamableHttpClientTransport::with_client(client, config)
}

async fn begin<T, E, A>(
    handler: Handler,
    transport: T,
    lifecycle: ClientLifecycleMode,
) -> Result<Connection, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let begun = serve_client_with_lifecycle(handler.clone(), transport, lifecycle).await;
    let running = begun.map_err(|error| told(&error))?;
    let info = running.peer().peer_info();
    let modern = info.is_some_and(|info| !info.protocol_version.has_initialize());
    Ok(Connection {
        running,
        handler,
        ended: None,
        speaks: if modern {
            Speaks::Discover
        } else {
            Speaks::Initialize
        },
    })
}

fn told(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => ENDED.to_owned(),
        ClientInitializeError::TransportError { error, .. } => trouble::transport(&*error.error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => told(fallback),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "its answer to the beginning is not what the protocol says".to_owned()
        }
        other => other.to_string(),
    }
}

fn initialize() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

fn either() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p18_a_program_that_ends_at_once_is_begun_in_turns() {
        let ways: Vec<_> =
            std::iter::successors(Some(Speaks::Initialize.ended()), |last| Some(last.ended()))
                .take(3)
                .collect();
        let ended = |begun_with_initialize| Speaks::Ended {
            begun_with_initialize,
        };
        assert_eq!(ways, [ended(false), ended(true), ended(false)]);
    }
}
