//! A connection to a server, driven by whoever uses it.
//!
//! The usual client gives every connection a task of its own and talks to it by channels. Here the caller's
//! task drives it: a call costs no other task to be woken, twice, which is most of what the client costs.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Waker},
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

type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

pub(super) struct Line {
    requests: SendRequest<Full<Bytes>>,
    /// `None`: the connection has ended.
    driver: Option<Driver>,
    used_at: Instant,
}

impl Line {
    pub(super) async fn open(
        io: impl Read + Write + Unpin + Send + 'static,
    ) -> hyper::Result<Self> {
        let (requests, driver) = handshake(io).await?;
        Ok(Self {
            requests,
            driver: Some(Box::pin(driver)),
            used_at: Instant::now(),
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

    /// An error holds the request, where nothing of it was sent.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        self.used_at = Instant::now();
        let answer = self.requests.try_send_request(request);
        self.during(answer).await
    }

    /// Awaits something that needs the connection to go on: an answer, or a part of its body.
    pub(super) async fn during<T>(&mut self, what: impl Future<Output = T>) -> T {
        let mut what = pin!(what);
        poll_fn(|context| {
            self.drive(context);
            what.as_mut().poll(context)
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
