//! A connection to a server, driven by whoever uses it.
//!
//! The usual client gives every connection a task of its own and talks to it by channels; a call then wakes other
//! tasks twice, and itself for nothing. Here one exchange after another is written and read by the caller's task,
//! which saves a call a tenth of its instructions.

use std::{
    future::poll_fn,
    io, mem,
    pin::{Pin, pin},
    task::{Context, Poll, Waker, ready},
    time::Instant,
};

use bytes::{Buf as _, Bytes, BytesMut};
use http::{Method, Request};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    task::coop,
    time::{self, Sleep},
};

use super::{
    frame::{Framing, Part},
    head::{self, Head},
    outlets::OpenFiles,
};

/// Longer bodies are written behind their head, not with it.
const SMALL: usize = 16 * 1024;
/// How much is read at a time: most answers at once, and long ones in larger parts.
const READ: usize = 4 * 1024;
const READ_MOST: usize = 64 * 1024;
/// Room for less is not worth reading into.
const READ_LEAST: usize = 1024;

pub(super) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<I: AsyncRead + AsyncWrite + Unpin + Send> Io for I {}

pub(super) struct Line {
    io: Box<dyn Io>,
    /// Where a write fails, some of it may have gone out all the same.
    encrypted: bool,
    outbox: Outbox,
    inbox: BytesMut,
    method: Method,
    /// How often something was said on the way to the answer.
    interim: usize,
    /// What is left of the answer.
    framing: Framing,
    /// Whether another exchange may follow the one that is under way.
    keeps: bool,
    /// When what goes over it must be over. It is kept with the connection: moving a timer on is far cheaper than
    /// making one for every call.
    deadline: Pin<Box<Sleep>>,
    used_at: Instant,
    /// Its file among those that may be open.
    file: Option<OpenFiles>,
}

/// What of a request is not written yet.
#[derive(Default)]
struct Outbox {
    /// The head, and a small body.
    text: Vec<u8>,
    written: usize,
    /// Whether writing was begun, with whatever success.
    tried: bool,
    body: Bytes,
    flushed: bool,
    /// Why it cannot be written to its end. The answer may be there all the same.
    failed: Option<io::Error>,
}

/// Why there is no answer.
pub(super) enum Failure {
    /// The deadline has passed.
    Late,
    /// Nothing of the request was written.
    Unsent(io::Error),
    Broken(io::Error),
}

impl Line {
    pub(super) fn plain(io: impl Io + 'static) -> Self {
        Self::new(Box::new(io), false)
    }

    pub(super) fn encrypted(io: impl Io + 'static) -> Self {
        Self::new(Box::new(io), true)
    }

    /// One on which an exchange has ended.
    #[cfg(test)]
    pub(super) fn used(io: impl Io + 'static) -> Self {
        let mut line = Self::plain(io);
        line.outbox.flushed = true;
        line
    }

    fn new(io: Box<dyn Io>, encrypted: bool) -> Self {
        let used_at = Instant::now();
        Self {
            io,
            encrypted,
            outbox: Outbox::default(),
            inbox: BytesMut::new(),
            method: Method::GET,
            interim: 0,
            framing: Framing::Length(0),
            keeps: true,
            deadline: Box::pin(time::sleep_until(used_at.into())),
            used_at,
            file: None,
        }
    }

    pub(super) fn counted(mut self, file: OpenFiles) -> Self {
        self.file = Some(file);
        self
    }

    /// Whether another exchange can follow the last one: it was read to its end, and the server neither closed
    /// the connection nor said anything since.
    pub(super) fn is_ready(&mut self) -> bool {
        self.keeps
            && self.outbox.is_done()
            && self.framing.is_at_end()
            && self.inbox.is_empty()
            // A task that has done enough for now would be told that nothing is there.
            && coop::has_budget_remaining()
            && self
                .poll_read(&mut Context::from_waker(Waker::noop()))
                .is_pending()
    }

    /// Lets go of what the next exchange will hardly need.
    pub(super) fn rest(&mut self) {
        self.used_at = Instant::now();
        if self.inbox.capacity() > 2 * READ {
            self.inbox = BytesMut::new();
        }
        if self.outbox.text.capacity() > READ {
            self.outbox.text = Vec::new();
        }
    }

    pub(super) fn used_at(&self) -> Instant {
        self.used_at
    }

    /// The answer's head. It and its body are awaited until then.
    pub(super) async fn send(
        &mut self,
        request: &Request<Bytes>,
        deadline: time::Instant,
    ) -> Result<Head, Failure> {
        self.deadline.as_mut().reset(deadline);
        self.method = request.method().clone();
        self.interim = 0;
        self.keeps = false;
        self.outbox.put(request);
        poll_fn(|context| {
            if let Poll::Ready(head) = self.poll_head(context) {
                return Poll::Ready(head.map_err(|error| self.failure(error)));
            }
            self.poll_late(context).map(|()| Err(Failure::Late))
        })
        .await
    }

    /// A server that never pauses uses up what a task may do at a time, and then the timer is not asked either: the
    /// clock is.
    fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.is_late() {
            return Poll::Ready(());
        }
        self.deadline.as_mut().poll(context)
    }

    fn is_late(&self) -> bool {
        time::Instant::now() >= self.deadline.deadline()
    }

    fn failure(&self, error: io::Error) -> Failure {
        if self.outbox.written == 0 && !(self.encrypted && self.outbox.tried) {
            Failure::Unsent(error)
        } else {
            Failure::Broken(error)
        }
    }

    /// How much of the answer's body is to come at least.
    pub(super) fn least(&self) -> u64 {
        self.framing.least()
    }

    /// The next part of the answer's body, until the deadline of its request.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        if self.is_late() {
            return Err(Failure::Late);
        }
        poll_fn(|context| {
            if let Poll::Ready(part) = self.poll_next(context) {
                return Poll::Ready(part.transpose().map_err(Failure::Broken));
            }
            self.poll_late(context).map(|()| Err(Failure::Late))
        })
        .await
    }

    pub(super) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            self.outbox.write_to(&mut *self.io, context);
            match self.framing.take(&mut self.inbox) {
                Ok(Part::Data(data)) => return Poll::Ready(Some(Ok(data))),
                Ok(Part::End) => return Poll::Ready(None),
                Ok(Part::More) => {}
                Err(error) => return self.end(error),
            }
            match ready!(self.poll_read(context)) {
                Ok(0) if self.framing.ends_with_connection() => {
                    self.framing = Framing::Length(0);
                    self.keeps = false;
                }
                Ok(0) => return self.end(hung_up()),
                Ok(_) => {}
                Err(error) => return self.end(error),
            }
        }
    }

    fn end(&mut self, error: io::Error) -> Poll<Option<io::Result<Bytes>>> {
        self.keeps = false;
        self.framing = Framing::Length(0);
        Poll::Ready(Some(Err(error)))
    }

    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Head>> {
        loop {
            self.outbox.write_to(&mut *self.io, context);
            if let Some(error) = self.outbox.refused() {
                return Poll::Ready(Err(error));
            }
            match ready!(self.poll_read(context)) {
                Ok(0) => return Poll::Ready(Err(self.outbox.unanswered(hung_up()))),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(self.outbox.unanswered(error))),
            }
            if let Some(mut head) = head::read(&mut self.inbox, &self.method, &mut self.interim)? {
                // A server that has not read the request may close the connection because of it.
                self.keeps = head.keeps && self.outbox.is_done();
                self.framing = mem::replace(&mut head.framing, Framing::Length(0));
                return Poll::Ready(Ok(head));
            }
        }
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.inbox.capacity() - self.inbox.len() < READ_LEAST {
            let wanted = usize::try_from(self.framing.least()).unwrap_or(READ_MOST);
            self.inbox.reserve(wanted.clamp(READ, READ_MOST));
        }
        pin!(self.io.read_buf(&mut self.inbox)).poll(context)
    }
}

impl Outbox {
    fn put(&mut self, request: &Request<Bytes>) {
        self.text.clear();
        head::write(request, &mut self.text);
        self.written = 0;
        self.tried = false;
        self.body = Bytes::new();
        self.flushed = false;
        self.failed = None;
        if request.body().len() <= SMALL {
            self.text.extend_from_slice(request.body());
        } else {
            self.body = request.body().clone();
        }
    }

    /// Everything is written.
    fn is_done(&self) -> bool {
        self.flushed && self.failed.is_none()
    }

    /// Why nothing at all could be written.
    fn refused(&mut self) -> Option<io::Error> {
        self.failed.take_if(|_| self.written == 0)
    }

    /// Why there is no answer: what failed first.
    fn unanswered(&mut self, error: io::Error) -> io::Error {
        self.failed.take().unwrap_or(error)
    }

    /// Writes what can be written now.
    fn write_to(&mut self, io: &mut dyn Io, context: &mut Context<'_>) {
        if self.flushed || self.failed.is_some() {
            return;
        }
        self.tried = true;
        match self.poll_write(Pin::new(io), context) {
            Poll::Ready(Ok(())) => self.flushed = true,
            Poll::Ready(Err(error)) => self.failed = Some(error),
            Poll::Pending => return,
        }
        // An empty rest of it would keep it whole.
        self.body = Bytes::new();
    }

    fn poll_write(
        &mut self,
        mut io: Pin<&mut dyn Io>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(text) = self
            .text
            .get(self.written..)
            .filter(|text| !text.is_empty())
        {
            self.written += some(ready!(io.as_mut().poll_write(context, text))?)?;
        }
        while !self.body.is_empty() {
            let written = some(ready!(io.as_mut().poll_write(context, &self.body))?)?;
            self.body.advance(written);
        }
        io.poll_flush(context)
    }
}

fn some(written: usize) -> io::Result<usize> {
    if written == 0 {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(written)
}

fn hung_up() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;

    const ROOM: usize = 1024;

    fn line() -> (Line, DuplexStream) {
        let (ours, theirs) = duplex(ROOM);
        (Line::plain(ours), theirs)
    }

    fn post(length: usize) -> Request<Bytes> {
        let request = Request::post("http://peer/");
        request.body(Bytes::from(vec![b'x'; length])).unwrap()
    }

    async fn exchange(line: &mut Line, request: &Request<Bytes>) -> Result<Vec<u8>, Failure> {
        let deadline = time::Instant::now() + Duration::from_secs(30);
        line.send(request, deadline).await?;
        let mut body = Vec::new();
        while let Some(part) = line.next().await? {
            body.extend_from_slice(&part);
        }
        Ok(body)
    }

    async fn read_head(peer: &mut DuplexStream) {
        let mut read = Vec::new();
        while !read.ends_with(b"\r\n\r\n") {
            read.push(peer.read_u8().await.unwrap());
        }
    }

    #[tokio::test]
    async fn one_exchange_follows_another_on_the_same_connection() {
        let (mut line, mut peer) = line();
        let served = tokio::spawn(async move {
            for answer in [
                "content-length: 2\r\n\r\nab",
                "transfer-encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n",
            ] {
                read_head(&mut peer).await;
                peer.read_exact(&mut [0; 3]).await.unwrap();
                let answer = format!("HTTP/1.1 200 OK\r\n{answer}");
                peer.write_all(answer.as_bytes()).await.unwrap();
            }
            peer
        });
        assert_eq!(
            exchange(&mut line, &post(3)).await.ok(),
            Some(b"ab".to_vec())
        );
        assert!(line.is_ready());
        assert_eq!(
            exchange(&mut line, &post(3)).await.ok(),
            Some(b"c".to_vec())
        );
        assert!(line.is_ready());
        drop(served.await.unwrap());
        assert!(!line.is_ready(), "the peer has closed it");
    }

    #[tokio::test]
    async fn a_server_that_answers_while_it_reads_does_not_wait_for_us_for_ever() {
        let (mut line, peer) = line();
        let length = 300 * ROOM;
        let served = tokio::spawn(async move {
            let (mut read, mut write) = tokio::io::split(peer);
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(read.read_u8().await.unwrap());
            }
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
            write.write_all(head.as_bytes()).await.unwrap();
            tokio::io::copy(&mut read.take(length as u64), &mut write)
                .await
                .unwrap();
        });
        let body = exchange(&mut line, &post(length)).await;
        assert_eq!(body.map(|body| body.len()).ok(), Some(length));
        served.await.unwrap();
    }

    #[tokio::test]
    async fn an_answer_that_comes_before_the_request_is_read_counts_and_ends_the_connection() {
        let (mut line, mut peer) = line();
        let served = tokio::spawn(async move {
            read_head(&mut peer).await;
            let answer = "HTTP/1.1 413 No\r\ncontent-length: 3\r\n\r\nbig";
            peer.write_all(answer.as_bytes()).await.unwrap();
        });
        assert_eq!(
            exchange(&mut line, &post(300 * ROOM)).await.ok(),
            Some(b"big".to_vec())
        );
        assert!(!line.is_ready());
        served.await.unwrap();
    }

    #[tokio::test]
    async fn only_what_was_never_written_may_be_sent_again() {
        let (mut line, peer) = line();
        drop(peer);
        let unsent = exchange(&mut line, &post(3)).await;
        assert!(matches!(unsent, Err(Failure::Unsent(_))));

        let (mut line, mut peer) = self::line();
        let served = tokio::spawn(async move { read_head(&mut peer).await });
        let broken = exchange(&mut line, &post(3)).await;
        assert!(matches!(broken, Err(Failure::Broken(_))));
        served.await.unwrap();
    }

    #[tokio::test]
    async fn what_may_have_gone_out_encrypted_is_not_sent_again() {
        let (ours, theirs) = duplex(ROOM);
        drop(theirs);
        let broken = exchange(&mut Line::encrypted(ours), &post(3)).await;
        assert!(matches!(broken, Err(Failure::Broken(_))));
    }

    /// It is always ready, so that a task does as much as it may at a time, over and over.
    struct Flood(&'static [u8]);

    impl AsyncRead for Flood {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            into: &mut tokio::io::ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let budget = ready!(coop::poll_proceed(context));
            budget.made_progress();
            into.put_slice(self.0);
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Flood {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    #[tokio::test]
    async fn a_flood_ends_at_the_deadline() {
        let soon = || time::Instant::now() + Duration::from_millis(50);
        let mut line = Line::plain(Flood(b"HTTP/1.1 102 Processing\r\n\r\n"));
        assert!(matches!(
            line.send(&post(3), soon()).await,
            Err(Failure::Broken(_))
        ));
        let mut line = Line::plain(Flood(b"HTTP/1.1 200 OK\r\n\r\n"));
        assert!(line.send(&post(3), soon()).await.is_ok());
        let ended = loop {
            match line.next().await {
                Ok(part) => assert!(part.is_some()),
                Err(failure) => break failure,
            }
        };
        assert!(matches!(ended, Failure::Late));
    }

    #[tokio::test]
    async fn a_connection_at_rest_keeps_nothing_large() {
        let (mut line, mut peer) = line();
        let served = tokio::spawn(async move {
            read_head(&mut peer).await;
            let mut body = vec![0; 300 * ROOM];
            peer.read_exact(&mut body).await.unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            peer.write_all(answer.as_bytes()).await.unwrap();
            peer.write_all(&body).await.unwrap();
            peer
        });
        let request = post(300 * ROOM);
        assert!(exchange(&mut line, &request).await.is_ok());
        assert!(line.is_ready());
        line.rest();
        assert!(line.inbox.capacity() <= 2 * READ && line.outbox.text.capacity() <= READ);
        assert!(request.into_body().is_unique(), "nobody else holds it");
        drop(served.await.unwrap());
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_is_no_body() {
        for answer in [
            "content-length: 5\r\n\r\nab",
            "transfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
        ] {
            let (mut line, mut peer) = line();
            let served = tokio::spawn(async move {
                read_head(&mut peer).await;
                peer.read_exact(&mut [0; 3]).await.unwrap();
                let answer = format!("HTTP/1.1 200 OK\r\n{answer}");
                peer.write_all(answer.as_bytes()).await.unwrap();
            });
            let broken = exchange(&mut line, &post(3)).await;
            assert!(matches!(broken, Err(Failure::Broken(_))), "{answer}");
            served.await.unwrap();
        }
        let (mut line, mut peer) = line();
        let served = tokio::spawn(async move {
            read_head(&mut peer).await;
            peer.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil closed")
                .await
                .unwrap();
        });
        let body = exchange(&mut line, &post(0)).await;
        assert_eq!(body.ok(), Some(b"until closed".to_vec()));
        assert!(!line.is_ready());
        served.await.unwrap();
    }
}
