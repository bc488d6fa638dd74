//! A connection on which a small message is one plain write. Its head and its body come as a list of two, and for
//! the system a list costs more than copying a few hundred bytes. A client that takes nothing of its answer for
//! long is cut off: the answer would be kept for it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use hyper::rt::{Read, ReadBufCursor, Write};

/// Longer ones are written as the list that they are.
const SMALL: usize = 2048;

/// How long a client may take nothing of what is written to it.
const TAKES_NOTHING: Duration = Duration::from_secs(30);

pub(super) struct Flat<I> {
    io: I,
    patience: Duration,
    /// Since the client took something last, where it does not take everything.
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<I> Flat<I> {
    pub(super) fn new(io: I) -> Self {
        Self {
            io,
            patience: TAKES_NOTHING,
            stalled: None,
        }
    }

    fn watch<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let (stalled, patience) = (&mut self.stalled, self.patience);
        let stalled = stalled.get_or_insert_with(|| Box::pin(sleep(patience)));
        let is_late = stalled.as_mut().poll(context);
        is_late.map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<I: Write + Unpin> Write for Flat<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut whole = [0; SMALL];
        let io = Pin::new(&mut self.io);
        let written = match flatten(parts, &mut whole) {
            Some(small) => io.poll_write(context, small),
            None => io.poll_write_vectored(context, parts),
        };
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

impl<I: Read + Unpin> Read for Flat<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, into)
    }
}

/// The parts, one after another. `None`: they are too long.
fn flatten<'w>(parts: &[IoSlice<'_>], whole: &'w mut [u8; SMALL]) -> Option<&'w [u8]> {
    let mut length = 0;
    for part in parts {
        whole
            .get_mut(length..length + part.len())?
            .copy_from_slice(part);
        length += part.len();
    }
    whole.get(..length)
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use hyper_util::rt::TokioIo;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn write(to: &mut Flat<TokioIo<tokio::io::DuplexStream>>) -> io::Result<usize> {
        poll_fn(|context| Pin::new(&mut *to).poll_write(context, b"0123456789")).await
    }

    #[tokio::test]
    async fn p10_a_client_that_takes_nothing_is_cut_off_and_a_slow_one_is_not() {
        let (ours, mut theirs) = tokio::io::duplex(10);
        let mut flat = Flat::new(TokioIo::new(ours));
        assert_eq!(write(&mut flat).await.unwrap(), 10);
        for _ in 0..3 {
            let (written, taken) = tokio::join!(write(&mut flat), theirs.read_u8());
            assert_eq!((written.unwrap(), taken.is_ok()), (1, true));
            assert!(flat.stalled.is_none(), "its time begins anew");
        }
        flat.patience = Duration::from_millis(10);
        let cut_off = write(&mut flat).await.unwrap_err();
        assert_eq!(cut_off.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn small_lists_become_one_text() {
        let long = vec![b'x'; SMALL];
        for (parts, expected) in [
            (vec![&b"head"[..], b"", b"body"], Some(b"headbody".to_vec())),
            (vec![], Some(Vec::new())),
            (vec![&long], Some(long.clone())),
            (vec![&long, b"!"], None),
        ] {
            let parts: Vec<IoSlice<'_>> = parts.into_iter().map(IoSlice::new).collect();
            let mut whole = [0; SMALL];
            let flat = flatten(&parts, &mut whole).map(<[u8]>::to_vec);
            assert_eq!(flat, expected);
        }
    }
}
