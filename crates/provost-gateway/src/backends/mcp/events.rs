//! Server-sent events, read with a limit on the size of each.

use std::collections::VecDeque;

use futures_util::{Stream, StreamExt as _, stream};
use sse_stream::Sse;

use crate::web::Streamed;

/// Why a stream of events cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("an event is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the stream of events broke off: {0}")]
    Lost(#[from] std::io::Error),
}

pub(super) fn events(
    body: Streamed,
    max_event: usize,
) -> impl Stream<Item = Result<Sse, Broken>> + Send {
    let state = (body, Decoder::new(max_event), false);
    stream::unfold(state, |(mut body, mut decoder, broken)| async move {
        if broken {
            return None;
        }
        loop {
            if let Some(event) = decoder.ready.pop_front() {
                return Some((Ok(event), (body, decoder, false)));
            }
            let read = match body.next().await? {
                Ok(bytes) => decoder.push(&bytes),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = read
                && decoder.ready.is_empty()
            {
                return Some((Err(error), (body, decoder, true)));
            }
        }
    })
}

struct Decoder {
    ready: VecDeque<Sse>,
    line: Vec<u8>,
    event: Sse,
    /// Bytes of the event so far.
    size: usize,
    max: usize,
    after_cr: bool,
}

impl Decoder {
    fn new(max: usize) -> Self {
        Self {
            ready: VecDeque::new(),
            line: Vec::new(),
            event: Sse::default(),
            size: 0,
            max,
            after_cr: false,
        }
    }

    fn push(&mut self, mut bytes: &[u8]) -> Result<(), Broken> {
        if self.after_cr && bytes.first() == Some(&b'\n') {
            bytes = bytes.get(1..).unwrap_or_default();
        }
        self.after_cr = self.after_cr && bytes.is_empty();
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (head, rest) = bytes.split_at(end);
            self.take(head)?;
            self.end_line();
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => rest,
            };
            self.after_cr = rest == b"\r";
        }
        self.take(bytes)
    }

    fn take(&mut self, part: &[u8]) -> Result<(), Broken> {
        self.size += part.len();
        if self.size > self.max {
            return Err(Broken::TooLarge(self.max));
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        if line.is_empty() {
            self.size = 0;
            let event = std::mem::take(&mut self.event);
            if event != Sse::default() {
                self.ready.push_back(event);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                none => *none = Some(value.to_owned()),
            },
            "event" => self.event.event = Some(value.to_owned()),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok(),
            // A comment, or a field of a later version: nothing of it is kept.
            _ => self.size = self.size.saturating_sub(line.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(parts: &[&str], max: usize) -> (Vec<Sse>, bool) {
        let mut decoder = Decoder::new(max);
        let whole = parts
            .iter()
            .all(|part| decoder.push(part.as_bytes()).is_ok());
        (decoder.ready.into(), whole)
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let expected = vec![
            Sse::default().event("endpoint").data("/a"),
            Sse::default().data("{\n}").id("7").retry(10),
        ];
        for newline in ["\n", "\r\n", "\r"] {
            let text =
                "event: endpoint\ndata:/a\n\n: ping\n\ndata: {\ndata: }\nid: 7\nretry:10\n\nrest"
                    .replace('\n', newline);
            for cut in 0..text.len() {
                let (head, tail) = text.split_at(cut);
                assert_eq!(
                    decoded(&[head, tail], 100),
                    (expected.clone(), true),
                    "{newline:?} {cut}"
                );
            }
        }
    }

    #[test]
    fn an_event_has_a_limit_and_what_came_before_it_is_kept() {
        let (events, whole) = decoded(&["data: a\n\ndata: ", "0123456789"], 12);
        assert_eq!(events, [Sse::default().data("a")]);
        assert!(!whole);
        let comments = ": ping\n".repeat(100);
        assert_eq!(decoded(&[&comments, "data: a\n\n"], 12).0.len(), 1);
    }
}
