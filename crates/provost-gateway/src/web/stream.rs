//! An answer that is read as it comes: an event stream, which may never end.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use provost_core::ports::ForwardError;

use super::{Connections, Time, Web, line::Line, pool::Place};

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
    open: Option<(Line, Incoming)>,
}

impl Web {
    /// One request, and its answer as soon as its head is there.
    pub async fn open(
        &self,
        request: Request<Full<Bytes>>,
        timeout: Duration,
    ) -> Result<Streaming, ForwardError> {
        let place = Place::of(request.uri())?;
        let (line, response) = self.0.send(request, &place, Time::new(timeout)).await?;
        let (head, body) = response.into_parts();
        Ok(Streaming {
            status: head.status,
            headers: head.headers,
            body: Streamed {
                connections: self.0.clone(),
                place,
                open: Some((line, body)),
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
    type Item = hyper::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some((line, body)) = &mut self.open else {
                return Poll::Ready(None);
            };
            line.drive(context);
            match ready!(Pin::new(body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Some(Err(error)) => {
                    self.open = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    if let Some((line, _)) = self.open.take() {
                        self.connections.idle.give(&self.place, line);
                    }
                }
            }
        }
    }
}
