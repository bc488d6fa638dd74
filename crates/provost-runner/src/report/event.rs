//! What becomes of reports, told to whoever keeps the run's journal.

use bytes::Bytes;
use serde_json::value::RawValue;

use super::{Kind, State};

/// What became of a report, as the journal is told. The observer is called with the reporter's lock held, so
/// that it sees things in their order: it must not call the reporter.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    Queued {
        sequence: u64,
        kind: Kind,
        notifications: usize,
        state: State,
        /// Not of updates: the journal has their notifications already.
        body: Option<&'a Bytes>,
        /// Of updates, what makes them again: see [`Rebuilder`](super::Rebuilder).
        rebuild: Option<&'a RawValue>,
    },
    Delivered {
        sequence: u64,
        kind: Kind,
    },
    /// Not delivered yet: the same report goes out again after a wait.
    Again {
        sequence: u64,
        kind: Kind,
    },
    /// Not wanted by the receiver (a 3xx or 4xx); it is not sent again.
    Refused {
        sequence: u64,
        kind: Kind,
        status: u16,
    },
    /// Too much waited, or its file was lost.
    Dropped {
        sequence: u64,
        kind: Kind,
        notifications: usize,
    },
    /// This report or heartbeat was answered with 401: nothing is sent any more.
    Unauthorized {
        sequence: u64,
        kind: Kind,
    },
}
