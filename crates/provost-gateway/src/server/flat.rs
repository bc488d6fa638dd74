//! A connection on which a small message is one plain write. Its head and its body come as a list of two, and for
//! the system a list costs more than copying a few hundred bytes.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use hyper::rt::{Read, ReadBufCursor, Write};

/// Longer ones are written as the list that they are.
const SMALL: usize = 2048;

pub(super) struct Flat<I>(pub(super) I);

impl<I: Write + Unpin> Write for Flat<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut whole = [0; SMALL];
        match flatten(parts, &mut whole) {
            Some(small) => Pin::new(&mut self.0).poll_write(context, small),
            None => Pin::new(&mut self.0).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

impl<I: Read + Unpin> Read for Flat<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
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
    use super::*;

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
