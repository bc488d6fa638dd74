//! An answer that is read as it comes: an event stream, which may never end.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use http::{HeaderMap, Request, StatusCode};
use provost_core::ports::ForwardError;

use super::{Connections, Time, Web, line::Line, outlets::Turn, pool::Place};

/// The head of an answer, and its body to be read.
pub struct Streaming {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Streamed,
}

/// The body of an answer. Its connection is used again if it was read to its end.
pub struct Streamed {
    connections: Arc<Connections>,
    place: Place,
    /// `None`: at its end.
    open: Option<(Line, Turn)>,
}

impl Web {
    /// One request, and its answer as soon as its head is there.
    pub async fn open(
        &self,
        request: Request<Bytes>,
        timeout: Duration,
    ) -> Result<Streaming, ForwardError> {
        let place = Place::of(request.uri())?;
        let time = Time::new(timeout);
        let turn = self.0.outlets.turn(time.until).await?;
        let (line, head) = self.0.send(&request, &place, time).await?;
        Ok(Streaming {
            status: head.status,
            headers: head.headers,
            body: Streamed {
                connections: self.0.clone(),
                place,
                open: Some((line, turn)),
            },
        })
    }
}

impl Streamed {
    pub async fn collect(mut self, max: u64) -> Result<Bytes, ForwardError> {
        let mut whole = BytesMut::new();
        while let Some(part) = self.next().await {
            let part = part.map_err(|error| {
                ForwardError::Failed(format!("the backend's answer broke off: {error}"))
            })?;
            if (whole.len() + part.len()) as u64 > max {
                return Err(ForwardError::TooLarge(max));
            }
            whole.extend_from_slice(&part);
        }
        Ok(whole.freeze())
    }
}

impl Stream for Streamed {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((line, _)) = &mut self.open else {
            return Poll::Ready(None);
        };
        let part = ready!(line.poll_next(context));
        match &part {
            Some(Ok(_)) => {}
            Some(Err(_)) => self.open = None,
            None => {
                if let Some((line, _turn)) = self.open.take() {
                    self.connections.outlets.idle().give(&self.place, line);
                }
            }
        }
        Poll::Ready(part)
    }
}
