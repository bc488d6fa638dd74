//! Notifications that wait for each other, so that a chatty agent does not cost a request per word. Items are
//! kept as the raw text the agent wrote.

use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::Instant;

use super::Phase;

/// From the first notification of a batch, however many follow.
pub(super) const WINDOW: Duration = Duration::from_millis(750);
const MOST: usize = 50;
const LARGEST: usize = 1_000_000;

/// What goes out as one report.
#[derive(Debug)]
pub(super) struct Flush {
    pub(super) items: Vec<Box<RawValue>>,
    pub(super) phase: Phase,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    items: Vec<Box<RawValue>>,
    bytes: usize,
    phase: Phase,
    due: Option<Instant>,
}

impl Batch {
    /// What must go before this item may come in: a batch is of one phase, and not larger than its bound
    /// unless one item alone is.
    pub(super) fn make_room(&mut self, item: &RawValue, phase: Phase) -> Option<Flush> {
        let full = self.bytes + item.get().len() > LARGEST;
        if full || phase != self.phase {
            return self.take();
        }
        None
    }

    /// What is full with this item.
    pub(super) fn push(
        &mut self,
        item: Box<RawValue>,
        phase: Phase,
        now: Instant,
    ) -> Option<Flush> {
        self.phase = phase;
        self.bytes += item.get().len();
        self.items.push(item);
        self.due.get_or_insert(now + WINDOW);
        if self.items.len() >= MOST || self.bytes >= LARGEST {
            return self.take();
        }
        None
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    pub(super) fn take(&mut self) -> Option<Flush> {
        self.due = None;
        self.bytes = 0;
        let items = std::mem::take(&mut self.items);
        let phase = self.phase;
        (!items.is_empty()).then_some(Flush { items, phase })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(bytes: usize) -> Box<RawValue> {
        let text = format!("\"{}\"", "x".repeat(bytes - 2));
        RawValue::from_string(text).unwrap()
    }

    /// The sizes of what is flushed when these come in, and of what is left.
    fn flushed(items: &[(usize, Phase)]) -> (Vec<usize>, usize) {
        let mut batch = Batch::default();
        let mut out = Vec::new();
        for (bytes, phase) in items {
            let item = raw(*bytes);
            out.extend(batch.make_room(&item, *phase));
            out.extend(batch.push(item, *phase, Instant::now()));
        }
        let sizes = out.iter().map(|flush| flush.items.len()).collect();
        (sizes, batch.take().map_or(0, |flush| flush.items.len()))
    }

    #[test]
    fn what_flushes() {
        use Phase::{Live, Replay};
        let small = (10, Live);
        for (name, items, expected) in [
            ("nothing", vec![], (vec![], 0)),
            ("few wait", vec![small; 49], (vec![], 49)),
            ("fifty go", vec![small; 50], (vec![50], 0)),
            ("and the next waits", vec![small; 51], (vec![50], 1)),
            (
                "checked before the push",
                vec![(600_000, Live), (399_999, Live), (2, Live)],
                (vec![2], 1),
            ),
            (
                "exactly the bound is full",
                vec![(600_000, Live), (400_000, Live)],
                (vec![2], 0),
            ),
            (
                "an oversized one goes alone",
                vec![small, (3_000_000, Live), small],
                (vec![1, 1], 1),
            ),
            (
                "phases do not mix",
                vec![(9, Replay), (9, Replay), (9, Live), (9, Replay)],
                (vec![2, 1], 1),
            ),
        ] {
            assert_eq!(flushed(&items), expected, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_window_is_fixed_by_the_first() {
        let mut batch = Batch::default();
        assert_eq!(batch.due(), None);
        let first = Instant::now();
        batch.push(raw(9), Phase::Live, first);
        batch.push(raw(9), Phase::Live, first + Duration::from_millis(500));
        assert_eq!(batch.due(), Some(first + WINDOW));
        batch.take();
        assert_eq!(batch.due(), None);
    }
}
