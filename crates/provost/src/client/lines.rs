//! An answer that arrives line by line. A line that never ends is cut off.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::ClientError;

const LONGEST: usize = 64 * 1024 * 1024;
/// The gateway says something at least every fifteen seconds while it streams events.
const SILENCE: Duration = Duration::from_mins(1);

pub(crate) struct Lines {
    body: Incoming,
    split: Split,
}

impl Lines {
    pub(super) fn new(body: Incoming) -> Self {
        Self {
            body,
            split: Split::default(),
        }
    }

    /// The next line without its end, or `None` when all were read.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            if let Some(line) = self.split.line() {
                return Ok(Some(line));
            }
            if self.split.buffer.len() > LONGEST {
                return Err(ClientError::BrokeOff);
            }
            let frame = tokio::time::timeout(SILENCE, self.body.frame())
                .await
                .map_err(|_| ClientError::BrokeOff)?;
            match frame {
                None => return Ok(self.split.rest()),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.split.buffer.extend_from_slice(&data);
                    }
                }
                Some(Err(_)) => return Err(ClientError::BrokeOff),
            }
        }
    }
}

#[derive(Default)]
struct Split {
    buffer: BytesMut,
    /// What was looked through already.
    seen: usize,
}

impl Split {
    fn line(&mut self) -> Option<Bytes> {
        let fresh = self.buffer.get(self.seen..)?;
        let Some(at) = fresh.iter().position(|byte| *byte == b'\n') else {
            self.seen = self.buffer.len();
            return None;
        };
        let mut line = self.buffer.split_to(self.seen + at + 1);
        self.seen = 0;
        line.truncate(line.len() - 1);
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Some(line.freeze())
    }

    fn rest(&mut self) -> Option<Bytes> {
        (!self.buffer.is_empty()).then(|| self.buffer.split().freeze())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_across_frames() {
        let mut split = Split::default();
        let mut found = Vec::new();
        for frame in ["ab", "c\r\n\nd", "e\nrest"] {
            split.buffer.extend_from_slice(frame.as_bytes());
            while let Some(line) = split.line() {
                found.push(line);
            }
        }
        found.extend(split.rest());
        assert_eq!(found, ["abc", "", "de", "rest"]);
    }
}
