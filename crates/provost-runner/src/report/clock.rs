//! Wall time, as signatures and heartbeats state it. What waits is tokio's.

use std::{fmt, sync::Arc, time::SystemTime};

/// Unix milliseconds from wherever the caller takes them.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    pub fn new(millis: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(millis))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where the runner's reports take the time"
    )]
    pub fn system() -> Self {
        Self::new(|| {
            SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as i64)
        })
    }

    pub fn millis(&self) -> i64 {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
