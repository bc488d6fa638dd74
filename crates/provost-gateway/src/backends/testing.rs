//! A loopback HTTP server for the tests of backends: it counts connections and remembers requests.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use provost_core::ids::TraceId;
use serde_json::{Map, Value};
use tokio::{net::TcpListener, task::JoinHandle};

pub(super) const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

/// What the server does with a request; `None` never answers.
pub(super) type Behaviour = fn(&Seen) -> Option<Response<Full<Bytes>>>;

#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) line: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

pub(super) struct Loopback {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
    accepting: JoinHandle<()>,
}

impl Loopback {
    pub(super) async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, seen) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(Mutex::new(Vec::new())),
        );
        let (counter, log) = (accepted.clone(), seen.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let log = log.clone();
                let service = service_fn(move |request| handle(request, log.clone(), behaviour));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self {
            address,
            accepted,
            seen,
            accepting,
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn connections(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(super) fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }

    pub(super) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn handle(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<Seen>>>,
    behaviour: Behaviour,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let seen = Seen {
        line: format!("{} {}", head.method, head.uri),
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    };
    let answer = behaviour(&seen);
    log.lock().unwrap().push(seen);
    match answer {
        Some(answer) => Ok(answer),
        None => std::future::pending().await,
    }
}

pub(super) fn answer(
    status: u16,
    content_type: &str,
    body: impl Into<Bytes>,
) -> Option<Response<Full<Bytes>>> {
    let response = Response::builder()
        .status(status)
        .header("content-type", content_type);
    response.body(Full::new(body.into())).ok()
}

/// Answers `{"ok":true}`.
pub(super) fn ok(_: &Seen) -> Option<Response<Full<Bytes>>> {
    answer(200, "application/json", r#"{"ok":true}"#)
}

pub(super) fn params(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

pub(super) fn trace() -> TraceId {
    TraceId::from(TRACE)
}
