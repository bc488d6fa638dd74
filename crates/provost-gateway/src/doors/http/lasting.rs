//! Answers that are in progress until they are taken: streams, and whatever is too large to be sent at once. What
//! they hold is counted for their request.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::StatusCode;
use hyper::body::{Body, Frame, SizeHint};

use super::error::ApiError;
use crate::admission::{Full, Occupied, OfProgram};

/// The system takes as much at once, whether or not the client reads it.
const SMALL: usize = 16 * 1024;

/// The request stays in progress until the client has taken its answer, where that is large or a stream. If nobody
/// counts it, only its bytes are held for so long.
pub(super) fn lasting(response: Response, occupied: impl Into<Arc<Occupied>>) -> Response {
    let length = response.body().size_hint().exact();
    let length = length.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
    if length.is_some_and(|length| length <= SMALL) {
        return response;
    }
    let occupied = occupied.into();
    occupied.answered();
    let is_of_program = response.extensions().get::<OfProgram>().is_some();
    if let Some(length) = length.filter(|_| !is_of_program)
        && let Err(full) = occupied.hold(length - SMALL)
    {
        return dropped(&response, length, full);
    }
    response.map(|body| {
        axum::body::Body::new(Lasting {
            body,
            occupied: Some(occupied),
            is_counted: length.is_some(),
        })
    })
}

/// What was asked for is done: this is told, and not that it may be tried again.
fn dropped(response: &Response, length: usize, full: Full) -> Response {
    let (why, help) = match full {
        Full::Bytes(most) if length - SMALL > most => (
            format!("all answers to you together may hold {most} bytes"),
            "ask for less, or raise `limits.held_bytes`; a call that was made is in the traces",
        ),
        full => (
            ApiError::from(full).words(),
            "read the answers of earlier requests first; a call that was made is in the traces",
        ),
    };
    let error = ApiError::new(
        StatusCode::INSUFFICIENT_STORAGE,
        "answer_dropped",
        format!("the request was carried out, but its answer of {length} bytes was dropped: {why}"),
    )
    .help(help);
    let mut told = error.into_response();
    let trace_id = response.headers().get("x-trace-id").cloned();
    told.headers_mut()
        .extend(trace_id.map(|id| (http::HeaderName::from_static("x-trace-id"), id)));
    told
}

struct Lasting {
    body: axum::body::Body,
    occupied: Option<Arc<Occupied>>,
    /// All of it, when it was made.
    is_counted: bool,
}

impl Lasting {
    /// A part that keeps the request in progress until it is written.
    fn part(&self, bytes: Bytes) -> Result<Bytes, axum::Error> {
        let Some(occupied) = self.occupied.clone().filter(|_| bytes.len() > SMALL) else {
            return Ok(bytes);
        };
        let counted = if self.is_counted { 0 } else { bytes.len() };
        if counted > 0 && occupied.hold(counted).is_err() {
            let why = "the answers that are not read yet hold too much";
            return Err(axum::Error::new(why));
        }
        Ok(Bytes::from_owner(Part {
            bytes,
            counted,
            occupied,
        }))
    }
}

impl Body for Lasting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() {
            self.occupied = None;
        }
        Poll::Ready(frame.map(|frame| match frame?.into_data() {
            Ok(bytes) => self.part(bytes).map(Frame::data),
            Err(other) => Ok(other),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes on their way, and the request that they answer.
struct Part {
    bytes: Bytes,
    counted: usize,
    occupied: Arc<Occupied>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.occupied.release(self.counted);
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body as AxumBody;
    use futures_util::stream;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::admission::{Admission, Limits, Room, Seat, Who};

    fn admission(held_bytes: usize) -> Arc<Admission> {
        let limits = Limits {
            held_bytes: Some(held_bytes),
            requests_per_agent: Some(1),
            ..Limits::default()
        };
        Arc::new(Admission::with_room(Room::of(1024, limits)))
    }

    fn enter(admission: &Arc<Admission>) -> Result<Occupied, Full> {
        let who = Who::Agent("a".into());
        Arc::new(Seat::new(admission.clone())).enter(&who)
    }

    #[tokio::test]
    async fn p10_a_large_answer_is_in_progress_until_its_last_byte_is_written() {
        let admission = admission(128 << 20);
        let small = Response::new(AxumBody::from(vec![0; SMALL]));
        let _small = lasting(small, enter(&admission).unwrap());
        let large = Response::new(AxumBody::from(vec![0; SMALL + 1]));
        let mut large = lasting(large, enter(&admission).unwrap()).into_body();
        assert!(enter(&admission).is_err());
        let part = large.frame().await.unwrap().unwrap().into_data().unwrap();
        drop(large);
        assert!(enter(&admission).is_err(), "it is not written yet");
        drop(part);
        assert!(enter(&admission).is_ok());
    }

    #[tokio::test]
    async fn p10_answers_that_nobody_reads_take_bounded_memory() {
        let admission = admission(8 << 20);
        let answer = || Response::new(AxumBody::from(vec![0; 3 << 20]));
        let others = |admission: &Arc<Admission>, name: &str| {
            Arc::new(Seat::new(admission.clone())).enter(&Who::Agent(name.into()))
        };
        let first = lasting(answer(), others(&admission, "a").unwrap());
        assert_eq!(first.status(), StatusCode::OK);
        let held = enter(&admission).err();
        assert_eq!(held, Some(Full::Own(1)));
        let begun = others(&admission, "b").unwrap();
        begun.hold(2 << 20).unwrap();
        let refused = lasting(answer(), begun);
        assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE);
        drop(first);
        assert!(enter(&admission).is_ok());
    }

    #[test]
    fn p10_answers_of_the_program_hold_no_memory() {
        let admission = admission(8 << 20);
        let occupied = enter(&admission).unwrap();
        occupied.hold(4 << 20).unwrap();
        let mut answer = Response::new(AxumBody::from(vec![0; 3 << 20]));
        answer.extensions_mut().insert(OfProgram);
        assert_eq!(lasting(answer, occupied).status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn p10_a_stream_counts_its_parts_while_they_are_on_their_way() {
        let admission = admission(8 << 20);
        let parts = stream::iter((0..3).map(|_| Ok::<_, axum::Error>(vec![0_u8; 3 << 20])));
        let response = Response::new(AxumBody::from_stream(parts));
        let mut body = lasting(response, enter(&admission).unwrap()).into_body();
        let first = body.frame().await.unwrap().unwrap();
        drop(first);
        let second = body.frame().await.unwrap().unwrap();
        assert!(body.frame().await.unwrap().is_err(), "the second is unread");
        drop((second, body));
        assert!(enter(&admission).is_ok());
    }
}
