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
    /// What was asked about lately, as [`crate::approval::Question::bound`]: an identical call is the same question again, not a loop.
    asked: HashMap<Digest, Time>,
    agents: HashMap<Arc<str>, OfAgent>,
}

/// What one agent has open here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OfAgent {
    /// Its callers that wait.
    pub(super) waiting: usize,
    /// Its questions that nobody waits for any more. An estimate: other replicas decide, too, and a question that
    /// is asked again and left again counts twice. The store knows how many there really are.
    pub(super) left: usize,
}

struct Entry {
    wake: Arc<Notify>,
    callers: usize,
}

/// One waiting caller. Dropping it, as happens when the caller hangs up, takes it off the table.
pub(super) struct Waiter {
    table: Arc<Waiters>,
    id: ApprovalId,
    slot: Slot,
    settled: AtomicBool,
    wake: Arc<Notify>,
}

/// The right of one agent's caller to wait. Taken before the question is asked: of all that come at once, no more
/// than may wait do.
pub(super) struct Slot {
    table: Arc<Waiters>,
    agent: Arc<str>,
    /// Its question may be open, and nobody waits for it yet.
    asked: bool,
}

/// Enough for every caller that can wait, and small enough to forget.
const MAX_ASKED: usize = 65_536;
/// Agents may name themselves, so the table of agents is bounded.
const MAX_AGENTS: usize = 16_384;

impl Waiters {
    /// `None`: so many callers of this agent wait already.
    pub(super) fn slot(self: &Arc<Self>, agent: &Arc<str>, most: usize) -> Option<Slot> {
        let mut table = self.lock();
        if table.agents.len() >= MAX_AGENTS {
            table.agents.retain(|_, of_agent| of_agent.waiting > 0);
        }
        let of_agent = table.agents.entry(agent.clone()).or_default();
        if of_agent.waiting >= most {
            return None;
        }
        of_agent.waiting += 1;
        Some(Slot {
            table: self.clone(),
            agent: agent.clone(),
            asked: false,
        })
    }

    pub(super) fn join(self: &Arc<Self>, id: &ApprovalId, mut slot: Slot) -> Waiter {
        slot.set_asked(false);
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
            slot,
            settled: AtomicBool::new(false),
            wake: entry.wake.clone(),
        }
    }

    pub(super) fn wake(&self, id: &ApprovalId) {
        if let Some(entry) = self.lock().waiting.get(id) {
            entry.wake.notify_waiters();
        }
    }

    /// A question was decided: whoever waits is woken, and one that was left is left no more.
    pub(super) fn decided(&self, id: &ApprovalId, agent: &str) {
        let mut table = self.lock();
        if let Some(entry) = table.waiting.get(id) {
            entry.wake.notify_waiters();
        } else if let Some(of_agent) = table.agents.get_mut(agent) {
            of_agent.left = of_agent.left.saturating_sub(1);
        }
    }

    pub(super) fn of_agent(&self, agent: &str) -> OfAgent {
        self.lock().agents.get(agent).copied().unwrap_or_default()
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

    /// The question is answered: it is not left behind.
    pub(super) fn settled(&self) {
        self.settled.store(true, Ordering::Relaxed);
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
        let is_left = !self.settled.load(Ordering::Relaxed);
        if let Some(of_agent) = table.agents.get_mut(&self.slot.agent) {
            of_agent.left += usize::from(is_left);
        }
    }
}

impl Slot {
    pub(super) fn set_asked(&mut self, asked: bool) {
        self.asked = asked;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        let Some(of_agent) = table.agents.get_mut(&self.agent) else {
            return;
        };
        of_agent.waiting = of_agent.waiting.saturating_sub(1);
        of_agent.left += usize::from(self.asked);
        if *of_agent == OfAgent::default() {
            table.agents.remove(&self.agent);
        }
    }
}
