//! Time as a parameter. `SystemClock` is the one place that reads the machine's.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::time::Time;

pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Time;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock the others are told to take time from"
    )]
    fn now(&self) -> Time {
        Time::from_millis(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(time: Time) -> Self {
        Self(AtomicI64::new(time.millis()))
    }

    pub fn advance(&self, by: std::time::Duration) {
        self.0
            .fetch_add(i64::try_from(by.as_millis()).unwrap_or(0), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_millis(self.0.load(Ordering::SeqCst))
    }
}
