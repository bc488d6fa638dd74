//! Where an answer's body ends.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use httparse::Status;

use super::head::broken;

/// The line before a chunk, with what may stand on it, and all lines after the last one.
const MAX_LINE: usize = 256;
const MAX_TRAILERS: usize = 16 * 1024;

/// What is left of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked(Chunk),
    /// It ends with the connection.
    UntilClosed,
}

/// What comes next in a body of chunks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    Size,
    Data(u64),
    /// The end of the line behind a chunk.
    DataEnd,
    /// Lines behind the last chunk, of which so many bytes were read.
    Trailers(usize),
    End,
}

/// What could be taken of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Data(Bytes),
    /// Nothing, until more was read.
    More,
    End,
}

impl Framing {
    pub(super) fn chunked() -> Self {
        Self::Chunked(Chunk::Size)
    }

    pub(super) fn is_at_end(&self) -> bool {
        matches!(self, Self::Length(0) | Self::Chunked(Chunk::End))
    }

    /// How much is left at least, where that is known.
    pub(super) fn least(&self) -> u64 {
        match self {
            Self::Length(left) | Self::Chunked(Chunk::Data(left)) => *left,
            _ => 0,
        }
    }

    /// The next part of the body that has been read, whole or not.
    pub(super) fn take(&mut self, inbox: &mut BytesMut) -> io::Result<Part> {
        match self {
            Self::Length(left) => Ok(take(left, inbox)),
            Self::UntilClosed if inbox.is_empty() => Ok(Part::More),
            Self::UntilClosed => Ok(Part::Data(inbox.split().freeze())),
            Self::Chunked(chunk) => chunk.take(inbox),
        }
    }

    /// The connection has ended: whether the body has, too.
    pub(super) fn ends_with_connection(&self) -> bool {
        matches!(self, Self::UntilClosed) || self.is_at_end()
    }
}

impl Chunk {
    fn take(&mut self, inbox: &mut BytesMut) -> io::Result<Part> {
        loop {
            let next = match self {
                Self::End => return Ok(Part::End),
                Self::Size => size(inbox)?,
                Self::Data(left) => match take(left, inbox) {
                    Part::End => Some(Self::DataEnd),
                    part => return Ok(part),
                },
                Self::DataEnd => data_end(inbox)?,
                Self::Trailers(read) => trailer(*read, inbox)?,
            };
            match next {
                Some(next) => *self = next,
                None => return Ok(Part::More),
            }
        }
    }
}

fn take(left: &mut u64, inbox: &mut BytesMut) -> Part {
    if *left == 0 {
        return Part::End;
    }
    if inbox.is_empty() {
        return Part::More;
    }
    let most = usize::try_from(*left).unwrap_or(usize::MAX);
    let data = inbox.split_to(most.min(inbox.len())).freeze();
    *left -= data.len() as u64;
    Part::Data(data)
}

fn size(inbox: &mut BytesMut) -> io::Result<Option<Chunk>> {
    // The parser takes no digits at all for the end.
    if inbox.first().is_some_and(|byte| !byte.is_ascii_hexdigit()) {
        return Err(broken("a chunk has no size"));
    }
    match httparse::parse_chunk_size(inbox) {
        Ok(Status::Complete((length, size))) if length <= MAX_LINE => {
            inbox.advance(length);
            Ok(Some(if size == 0 {
                Chunk::Trailers(0)
            } else {
                Chunk::Data(size)
            }))
        }
        Ok(Status::Partial) if inbox.len() <= MAX_LINE => Ok(None),
        _ => Err(broken("the size of a chunk is not one")),
    }
}

fn data_end(inbox: &mut BytesMut) -> io::Result<Option<Chunk>> {
    match inbox.get(..2) {
        None => Ok(None),
        Some(b"\r\n") => {
            inbox.advance(2);
            Ok(Some(Chunk::Size))
        }
        Some(_) => Err(broken("a chunk is longer than its size")),
    }
}

/// Passes over one line. An empty one ends the body.
fn trailer(read: usize, inbox: &mut BytesMut) -> io::Result<Option<Chunk>> {
    let end = inbox.iter().position(|byte| *byte == b'\n');
    let read = read + end.map_or(inbox.len(), |end| end + 1);
    if read > MAX_TRAILERS {
        return Err(broken("the lines after its answer are too long"));
    }
    let Some(end) = end else {
        return Ok(None);
    };
    let line = inbox.split_to(end + 1);
    Ok(Some(if line.trim_ascii().is_empty() {
        Chunk::End
    } else {
        Chunk::Trailers(read)
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a body that comes in pieces: what it holds, and what is left behind it.
    fn whole(mut framing: Framing, pieces: &[&[u8]]) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
        let (mut inbox, mut body) = (BytesMut::new(), Vec::new());
        for piece in pieces {
            inbox.extend_from_slice(piece);
            while let Part::Data(data) = framing.take(&mut inbox)? {
                body.extend_from_slice(&data);
            }
        }
        Ok(framing.is_at_end().then(|| (body, inbox.to_vec())))
    }

    #[test]
    fn broken_chunks_are_refused() {
        let long = format!("1;{}", "x".repeat(MAX_LINE));
        let trailing = format!("0\r\n{}", "a: b\r\n".repeat(MAX_TRAILERS));
        for body in [
            "x\r\n",
            "-1\r\n",
            "\r\n",
            "1\r\nab\r\n",
            "10000000000000000\r\n",
            "1 1\r\n",
            &long,
            &trailing,
        ] {
            let read = whole(Framing::chunked(), &[body.as_bytes()]);
            assert!(read.is_err(), "{read:?} of {:?}", body.get(..20));
        }
    }

    #[test]
    fn a_body_that_is_not_over_is_not_at_its_end() {
        for body in [
            "",
            "5\r\nab",
            "2\r\nab\r\n",
            "2\r\nab\r\n0\r\n",
            "0\r\nx: y\r\n",
        ] {
            let read = whole(Framing::chunked(), &[body.as_bytes()]).unwrap();
            assert_eq!(read, None, "{body:?}");
        }
        assert_eq!(whole(Framing::Length(3), &[b"ab"]).unwrap(), None);
        assert!(Framing::UntilClosed.ends_with_connection());
        assert!(!Framing::Length(1).ends_with_connection());
    }

    fn chunks(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut text = Vec::new();
        for part in parts.iter().filter(|part| !part.is_empty()) {
            text.extend_from_slice(format!("{:X};a=b\r\n", part.len()).as_bytes());
            text.extend_from_slice(part);
            text.extend_from_slice(b"\r\n");
        }
        text.extend_from_slice(b"0\r\nx: y\r\n\r\n");
        text
    }

    proptest! {
        #[test]
        fn bodies_are_the_same_however_they_are_cut(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
            behind in prop::collection::vec(any::<u8>(), 0..8),
            cut in 1..20_usize,
        ) {
            let body = parts.concat();
            let expected = Some((body.clone(), behind.clone()));
            let sized = [body.clone(), behind.clone()].concat();
            let pieces: Vec<_> = sized.chunks(cut).collect();
            let length = Framing::Length(body.len() as u64);
            prop_assert_eq!(whole(length, &pieces).unwrap(), expected.clone());
            let chunked = [chunks(&parts), behind].concat();
            let pieces: Vec<_> = chunked.chunks(cut).collect();
            prop_assert_eq!(whole(Framing::chunked(), &pieces).unwrap(), expected);
        }

        #[test]
        fn nothing_that_comes_makes_it_fall_over(noise in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = whole(Framing::chunked(), &[&noise]);
        }
    }
}
