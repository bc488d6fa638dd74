//! Callers that wait for a decision: woken by the pump, and gone from the table when they leave.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use tokio::sync::Notify;

use crate::{call::Digest, ids::ApprovalId, time::Time};

#[derive(Default)]
pub(super) struct Waiters {
    table: Mutex<Table>,
    count: AtomicUsize,
    closed: AtomicBool,
}

#[derive(Default)]
struct Table {
    waiting: HashMap<ApprovalId, Entry>,
    /// Digests that were asked about lately: an identical call is the same question again, not a loop.
    asked: HashMap<Digest, Time>,
}

struct Entry {
    wake: Arc<Notify>,
    callers: usize,
}

/// One waiting caller. Dropping it, as happens when the caller hangs up, takes it off the table.
pub(super) struct Waiter {
    table: Arc<Waiters>,
    id: ApprovalId,
    wake: Arc<Notify>,
}

/// Enough for every caller that can wait, and small enough to forget.
const MAX_ASKED: usize = 65_536;

impl Waiters {
    pub(super) fn join(self: &Arc<Self>, id: &ApprovalId) -> Waiter {
        let mut table = self.lock();
        let entry = table.waiting.entry(id.clone()).or_insert_with(|| Entry {
            wake: Arc::new(Notify::new()),
            callers: 0,
        });
        entry.callers += 1;
        self.count.fetch_add(1, Ordering::Relaxed);
        Waiter {
            table: self.clone(),
            id: id.clone(),
            wake: entry.wake.clone(),
        }
    }

    pub(super) fn wake(&self, id: &ApprovalId) {
        if let Some(entry) = self.lock().waiting.get(id) {
            entry.wake.notify_waiters();
        }
    }

    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        for entry in self.lock().waiting.values() {
            entry.wake.notify_waiters();
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(super) fn ids(&self) -> Vec<ApprovalId> {
        self.lock().waiting.keys().cloned().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn asked(&self, digest: Digest, until: Time, now: Time) {
        let mut table = self.lock();
        if table.asked.len() >= MAX_ASKED {
            table.asked.retain(|_, until| now < *until);
        }
        if table.asked.len() < MAX_ASKED {
            table.asked.insert(digest, until);
        }
    }

    pub(super) fn forget(&self, digest: Digest) {
        self.lock().asked.remove(&digest);
    }

    pub(super) fn was_asked(&self, digest: Digest, now: Time) -> bool {
        self.lock()
            .asked
            .get(&digest)
            .is_some_and(|until| now < *until)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Completes at the first wake-up after this call. Make the future, look at the store, then await:
    /// so nothing that happens in between is missed.
    pub(super) fn woken(&self) -> tokio::sync::futures::Notified<'_> {
        self.wake.notified()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.table.count.fetch_sub(1, Ordering::Relaxed);
        let mut table = self.table.lock();
        if let Some(entry) = table.waiting.get_mut(&self.id) {
            entry.callers -= 1;
            if entry.callers == 0 {
                table.waiting.remove(&self.id);
            }
        }
    }
}
