//! What the store tells of its commits.

use std::time::Instant;

use metrics::histogram;

/// A group of operations on its way to disk.
pub(crate) struct Commit {
    began: Instant,
    operations: usize,
}

impl Commit {
    pub(crate) fn begin(operations: usize) -> Self {
        Self {
            began: Instant::now(),
            operations,
        }
    }

    pub(crate) fn done(self) {
        histogram!("provost_store_commit_seconds").record(self.began.elapsed().as_secs_f64());
        histogram!("provost_store_commit_operations").record(self.operations as f64);
    }
}
