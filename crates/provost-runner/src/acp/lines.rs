//! Lines of bytes, however long and however broken, up to a bound.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// A tool call with a large file in it is some megabytes long; more than this is no message.
const LONGEST: usize = 64 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
#[error("the agent wrote a line of more than {LONGEST} bytes")]
pub struct TooLong;

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// It was not UTF-8. What is not stands as U+FFFD, as a decoder in an editor would have it.
    pub mended: bool,
    /// How long it was on the wire.
    pub size: u64,
}

pub struct Lines<R> {
    from: R,
    longest: usize,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub fn new(from: R) -> Self {
        Self {
            from,
            longest: LONGEST,
        }
    }

    /// `None` at the end. What stands there without an end of line is a line, too: a process that died in
    /// the middle of one did not finish it, and whoever reads it finds out.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut bytes = Vec::new();
        loop {
            let part = self.from.fill_buf().await?;
            if part.is_empty() {
                return Ok((!bytes.is_empty()).then(|| line(bytes)));
            }
            let end = part.iter().position(|byte| *byte == b'\n');
            let (taken, used) = match end {
                Some(end) => (part.get(..end), end + 1),
                None => (Some(part), part.len()),
            };
            bytes.extend_from_slice(taken.unwrap_or_default());
            self.from.consume(used);
            if bytes.len() > self.longest {
                return Err(io::Error::other(TooLong));
            }
            if end.is_some() {
                return Ok(Some(line(bytes)));
            }
        }
    }
}

fn line(mut bytes: Vec<u8>) -> Line {
    let size = bytes.len() as u64 + 1;
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    match String::from_utf8(bytes) {
        Ok(text) => Line {
            text,
            mended: false,
            size,
        },
        Err(broken) => Line {
            text: String::from_utf8_lossy(broken.as_bytes()).into_owned(),
            mended: true,
            size,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::BufReader;

    use super::*;

    async fn all(bytes: &[u8], buffer: usize) -> Vec<Line> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, bytes));
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        read
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_lines_are_the_same(
            lines in prop::collection::vec("[^\n\r]{0,40}", 0..20),
            buffer in 1_usize..64,
        ) {
            let bytes = lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let read = runtime.block_on(all(bytes.as_bytes(), buffer));
            let texts: Vec<_> = read.into_iter().map(|line| line.text).collect();
            prop_assert_eq!(texts, lines);
        }
    }

    #[tokio::test]
    async fn broken_lines_are_lines() {
        let read = all(b"a\xff\r\n\nhalf", 4).await;
        let texts: Vec<_> = read
            .iter()
            .map(|line| (&*line.text, line.mended, line.size))
            .collect();
        assert_eq!(
            texts,
            [("a\u{fffd}", true, 4), ("", false, 1), ("half", false, 5)]
        );
    }

    #[tokio::test]
    async fn an_endless_line_is_an_error() {
        let mut lines = Lines::new(BufReader::new(tokio::io::repeat(b'x')));
        lines.longest = 100_000;
        let error = lines.next().await.unwrap_err();
        assert!(error.get_ref().unwrap().is::<TooLong>());
    }
}
