//! What calls to backends may take: files for their connections and programs, and memory for answers that come
//! in. Beyond that a call waits for its turn, as long as it may take at all: it is decided and on record by then,
//! and a person may have been asked for it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use provost_core::ports::ForwardError;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::pool::Pool;

/// What a program needs: its input, both its outputs, and itself.
const OF_PROGRAM: u32 = 4;
/// Answers are counted in parts of this size.
const PART: u64 = 1024;

#[derive(Clone)]
pub(crate) struct Outlets(Arc<Inner>);

struct Inner {
    most: usize,
    /// One for each file of a call in progress.
    turns: Arc<Semaphore>,
    /// Files that are open: of calls in progress, and of connections that rest.
    open: AtomicUsize,
    answers: Semaphore,
    most_parts: u32,
    idle: Pool,
}

/// The right to have a file open, until the call is over.
pub(crate) struct Turn(#[expect(dead_code, reason = "held")] OwnedSemaphorePermit);

/// Files that are open, until they are closed.
pub(crate) struct OpenFiles {
    outlets: Outlets,
    count: usize,
}

/// A program that may run.
pub(crate) struct ProgramFiles {
    #[expect(dead_code, reason = "held")]
    files: OpenFiles,
    #[expect(dead_code, reason = "held")]
    turn: Turn,
}

impl Default for Outlets {
    /// Without bounds: for what is not called by agents.
    fn default() -> Self {
        Self::new(Semaphore::MAX_PERMITS, u64::MAX)
    }
}

impl Outlets {
    pub(crate) fn new(files: usize, answer_bytes: u64) -> Self {
        let most = files.clamp(OF_PROGRAM as usize, Semaphore::MAX_PERMITS);
        let parts = (answer_bytes / PART).clamp(1, u64::from(u32::MAX >> 3)) as u32;
        Self(Arc::new(Inner {
            most,
            turns: Arc::new(Semaphore::new(most)),
            open: AtomicUsize::new(0),
            answers: Semaphore::new(parts as usize),
            most_parts: parts,
            idle: Pool::default(),
        }))
    }

    pub(super) fn idle(&self) -> &Pool {
        &self.0.idle
    }

    /// For a call on a connection. Nothing was sent where it fails.
    pub(super) async fn turn(&self, until: Instant) -> Result<Turn, ForwardError> {
        self.turns(1, until).await
    }

    /// For a program. Nothing was started where it fails.
    pub(crate) async fn program(&self, until: Instant) -> Result<ProgramFiles, ForwardError> {
        let turn = self.turns(OF_PROGRAM, until).await?;
        let files = self.opens(OF_PROGRAM as usize);
        Ok(ProgramFiles { files, turn })
    }

    async fn turns(&self, count: u32, until: Instant) -> Result<Turn, ForwardError> {
        let turns = self.0.turns.clone();
        if let Ok(permit) = turns.clone().try_acquire_many_owned(count) {
            return Ok(Turn(permit));
        }
        match timeout_at(until, turns.acquire_many_owned(count)).await {
            Ok(Ok(permit)) => Ok(Turn(permit)),
            _ => Err(ForwardError::Unreachable(format!(
                "nothing was sent: other calls kept all {} files for connections and programs in use; \
                 with a higher limit of open files (`ulimit -n`) there is room for more",
                self.0.most
            ))),
        }
    }

    /// Counts files that are about to be opened. Connections that rest are closed for them: those in use have a
    /// turn each, so enough of them rest.
    pub(super) fn opens(&self, count: usize) -> OpenFiles {
        let mut open = self.0.open.fetch_add(count, Relaxed) + count;
        while open > self.0.most && self.0.idle.close_oldest() {
            open = self.0.open.load(Relaxed);
        }
        OpenFiles {
            outlets: self.clone(),
            count,
        }
    }

    /// Room for an answer of so many bytes. It is taken at once, so that no two that are half read wait for each
    /// other. `None`: there was none in time.
    pub(super) async fn hold(
        &self,
        bytes: u64,
        until: Instant,
    ) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let parts = u32::try_from(bytes.div_ceil(PART)).unwrap_or(u32::MAX);
        let parts = parts.min(self.0.most_parts);
        let held = timeout_at(until, self.0.answers.acquire_many(parts)).await;
        held.ok()?.ok()
    }
}

impl Drop for OpenFiles {
    fn drop(&mut self) {
        self.outlets.0.open.fetch_sub(self.count, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use http::Uri;

    use super::*;
    use crate::web::{line::Line, pool::Place};

    #[tokio::test]
    async fn p10_calls_beyond_the_share_wait_and_say_that_nothing_was_sent() {
        let outlets = Outlets::new(6, 1 << 20);
        let soon = || Instant::now() + Duration::from_mins(1);
        let first = outlets.turn(soon()).await.unwrap();
        let _second = outlets.turn(soon()).await.unwrap();
        let program = outlets.program(soon()).await.unwrap();
        let refused = outlets
            .turn(Instant::now())
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("nothing was sent"), "{refused}");
        let mut waits = Box::pin(outlets.turn(soon()));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(first);
        assert!(waits.await.is_ok());
        drop(program);
        assert!(outlets.program(soon()).await.is_ok());
    }

    #[tokio::test]
    async fn p10_connections_that_rest_leave_for_files_that_are_needed() {
        let outlets = Outlets::new(4, 1 << 20);
        let place = |port| Place::of(&Uri::try_from(format!("http://peer:{port}/")).unwrap());
        let mut peers = Vec::new();
        for port in 1..=4 {
            let (ours, theirs) = tokio::io::duplex(64);
            peers.push(theirs);
            let line = Line::used(ours).counted(outlets.opens(1));
            outlets.idle().give(&place(port).unwrap(), line);
        }
        assert_eq!(outlets.0.open.load(Relaxed), 4);
        let _file = outlets.opens(1);
        assert_eq!(outlets.0.open.load(Relaxed), 4);
        assert!(
            outlets.idle().take(&place(1).unwrap()).is_none(),
            "the oldest"
        );
        assert!(outlets.idle().take(&place(2).unwrap()).is_some());
    }

    #[tokio::test]
    async fn p10_answers_that_come_in_take_bounded_memory() {
        let outlets = Outlets::new(4, 10 * PART);
        let soon = || Instant::now() + Duration::from_mins(1);
        let first = outlets.hold(8 * PART, soon()).await;
        assert!(first.is_some());
        assert!(outlets.hold(3 * PART, Instant::now()).await.is_none());
        drop(first);
        assert!(
            outlets.hold(u64::MAX, soon()).await.is_some(),
            "all there is"
        );
    }
}
