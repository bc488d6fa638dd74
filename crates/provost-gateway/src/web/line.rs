//! A connection to a server, driven by whoever uses it.
//!
//! The usual client gives every connection a task of its own and talks to it by channels. Here the caller's
//! task drives it: a call costs no other task to be woken, twice, which is most of what the client costs.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Instant,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{SendRequest, handshake},
    },
    rt::{Read, Write},
};
use tokio::time::{self, Sleep};

use super::flat::Flat;

type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

pub(super) struct Line {
    requests: SendRequest<Full<Bytes>>,
    /// `None`: the connection has ended.
    driver: Option<Driver>,
    /// When what goes over it must be over. It is kept with the connection: moving a timer on is far cheaper than
    /// making one for every call.
    deadline: Pin<Box<Sleep>>,
    used_at: Instant,
}

/// The deadline has passed.
pub(super) struct Late;

impl Line {
    pub(super) async fn open(
        io: impl Read + Write + Unpin + Send + 'static,
    ) -> hyper::Result<Self> {
        let (requests, driver) = handshake(Flat(io)).await?;
        let used_at = Instant::now();
        Ok(Self {
            requests,
            driver: Some(Box::pin(driver)),
            deadline: Box::pin(time::sleep_until(used_at.into())),
            used_at,
        })
    }

    /// Ends an exchange: whether another one can follow.
    pub(super) fn settle(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.is_ready()
    }

    /// Whether it could take a request when it was last driven. Where the server has closed it meanwhile,
    /// sending gives the request back.
    pub(super) fn is_ready(&self) -> bool {
        self.driver.is_some() && self.requests.is_ready()
    }

    pub(super) fn used_at(&self) -> Instant {
        self.used_at
    }

    /// The answer's head and its body are awaited until then. An error holds the request, where nothing of it was
    /// sent.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
        deadline: time::Instant,
    ) -> Result<Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>>, Late> {
        self.used_at = Instant::now();
        self.deadline.as_mut().reset(deadline);
        let answer = self.requests.try_send_request(request);
        self.during(answer).await
    }

    /// Awaits something that needs the connection to go on: an answer, or a part of its body.
    pub(super) async fn during<T>(&mut self, what: impl Future<Output = T>) -> Result<T, Late> {
        let mut what = pin!(what);
        poll_fn(|context| {
            self.drive(context);
            if let Poll::Ready(done) = what.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            self.deadline.as_mut().poll(context).map(|()| Err(Late))
        })
        .await
    }

    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        let ended = |driver: &mut Driver| driver.as_mut().poll(context).is_ready();
        if self.driver.as_mut().is_some_and(ended) {
            self.driver = None;
        }
    }
}
