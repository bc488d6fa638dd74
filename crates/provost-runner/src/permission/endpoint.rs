//! An address at which whoever received a question may answer it: signed as our reports are, each answer once.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde_json::json;
use sha2::Sha256;
use tokio::net::TcpListener;

use super::{Callbacks, Given, Taken};
use crate::{config::Secret, report::Clock};

/// How far the clocks may be apart.
const WINDOW: i64 = 5 * 60 * 1000;
const LARGEST: usize = 64 * 1024;
const SLOWEST: Duration = Duration::from_secs(10);
/// Nonces within the window; an answer beyond is refused rather than one forgotten.
const MOST_NONCES: usize = 100_000;

pub const PATH: &str = "/permissions";

pub struct Endpoint {
    answers: Callbacks,
    token: Secret,
    clock: Clock,
    /// When each was used.
    nonces: Mutex<HashMap<String, i64>>,
}

/// An answer as receivers put it into the answers to reports, or without its wrapping.
#[derive(Deserialize)]
#[serde(untagged)]
enum Posted {
    Wrapped { permission: Given },
    Bare(Given),
}

impl Endpoint {
    pub fn new(answers: Callbacks, token: Secret, clock: Clock) -> Self {
        Self {
            answers,
            token,
            clock,
            nonces: Mutex::default(),
        }
    }

    /// Listens, and answers for as long as the run lasts.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Too many connections: those that are there will end.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let endpoint = Arc::clone(&self);
            tokio::spawn(async move {
                let service = service_fn(move |request| {
                    let endpoint = Arc::clone(&endpoint);
                    async move { Ok::<_, std::convert::Infallible>(endpoint.answer(request).await) }
                });
                let connection = hyper::server::conn::http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(SLOWEST)
                    .serve_connection(TokioIo::new(stream), service);
                // Whoever breaks off has answered nothing.
                let _ = connection.await;
            });
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::POST || request.uri().path() != PATH {
            return told(StatusCode::NOT_FOUND, "answers are posted to /permissions");
        }
        let (head, body) = request.into_parts();
        let read = tokio::time::timeout(SLOWEST, Limited::new(body, LARGEST).collect()).await;
        let Ok(Ok(body)) = read else {
            return told(StatusCode::BAD_REQUEST, "the body cannot be read");
        };
        let body = body.to_bytes();
        if let Err(problem) = self.verify(&head.headers, &body) {
            return told(StatusCode::UNAUTHORIZED, problem);
        }
        let Ok(Posted::Wrapped { permission: given } | Posted::Bare(given)) =
            serde_json::from_slice(&body)
        else {
            let problem = "an answer is `{\"permission\": {\"permissionId\": …, \"kind\": …}}`, or with an `optionId`";
            return told(StatusCode::UNPROCESSABLE_ENTITY, problem);
        };
        match self.answers.answer(given) {
            Taken::Yes => told(StatusCode::OK, "taken"),
            Taken::NotWaiting => told(StatusCode::CONFLICT, "nobody waits for this answer"),
            Taken::Empty => told(
                StatusCode::UNPROCESSABLE_ENTITY,
                "an answer has an `optionId` or a `kind`",
            ),
        }
    }

    fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<(), &'static str> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let (Some(stamp), Some(nonce), Some(signature)) = (
            header("x-supervisor-timestamp"),
            header("x-supervisor-nonce"),
            header("x-supervisor-signature"),
        ) else {
            return Err("a timestamp, a nonce and a signature are needed");
        };
        let signature = signature.strip_prefix("sha256=").and_then(unhex);
        let signature = signature.ok_or("the signature cannot be read")?;
        let mut mac = Hmac::<Sha256>::new_from_slice(self.token.reveal().as_bytes())
            .map_err(|_| "the signature cannot be made")?;
        for part in [stamp.as_bytes(), b".", nonce.as_bytes(), b".", body] {
            mac.update(part);
        }
        mac.verify_slice(&signature)
            .map_err(|_| "the signature does not fit")?;
        let now = self.clock.millis();
        let stamp: i64 = stamp.parse().map_err(|_| "the timestamp cannot be read")?;
        if now.abs_diff(stamp) > WINDOW.unsigned_abs() {
            return Err("the timestamp is more than five minutes off");
        }
        self.used_once(nonce, now)
    }

    fn used_once(&self, nonce: &str, now: i64) -> Result<(), &'static str> {
        let mut nonces = self.nonces.lock().unwrap_or_else(PoisonError::into_inner);
        if nonces.len() >= MOST_NONCES {
            nonces.retain(|_, used| now - *used <= 2 * WINDOW);
        }
        if nonces.len() >= MOST_NONCES || nonces.contains_key(nonce) {
            return Err("the nonce was used before");
        }
        nonces.insert(nonce.to_owned(), now);
        Ok(())
    }
}

/// Where it can be reached, once it listens.
pub fn address(listening: SocketAddr) -> String {
    format!("http://{listening}{PATH}")
}

fn told(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let body = json!({ "message": message }).to_string();
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    response
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        })
        .collect()
}
