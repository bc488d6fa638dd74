//! The gate: every call is decided here, durably, whichever door it came through.
//!
//! stop switch → rate and loop limits → policy → grants → supervisor → human → permit

mod approvals;
mod ask;
mod control;
mod decide;
mod decider;
mod keyed;
mod permit;
mod pump;
mod record;
mod request;
mod run;
mod telemetry;
mod test_question;
mod to_the_end;
mod told;
mod tools;
mod unsupervised;
mod waiters;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use tokio_util::task::TaskTracker;

pub use approvals::{Claiming, Escalating, Resolution, Resolving};
pub use control::{Granted, NewGrant};
pub use decide::{Ask, Decided, Refusal, Wait};
pub use decider::Decider;
pub use permit::Permit;
pub use request::{NewRequest, Requested};
pub use run::{End, Executed};
pub use test_question::TestQuestion;
pub use told::Told;
pub use unsupervised::{Followed, UnsupervisedAct};

use crate::{
    control::Control,
    key::{Key, Role},
    limits::{Limits, LoopLimit},
    people::Directory,
    policy::PolicySet,
    ports::{Clock, Store, StoreError},
    time::Time,
};

/// The name under which the store remembers that an agent had a key.
const AGENTS_KEYED: &str = "agents.keyed";
use waiters::Waiters;

#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a question stays open.
    pub timeout: Duration,
    /// How long it is the supervisors' alone.
    pub supervisor_time: Duration,
    /// How long a decision waits for a caller who went away.
    pub permit_time: Duration,
    /// How long a claim lasts.
    pub claim_time: Duration,
    pub repeat: Option<LoopLimit>,
    /// No grant may last longer.
    pub max_grant: Duration,
    /// How many callers may wait for decisions at once.
    pub max_waiting: usize,
    /// How many of them may be one agent's.
    pub max_waiting_per_agent: usize,
    /// How many requests of one agent may wait at once, and how many of its calls that nobody waits for.
    pub max_pending_per_agent: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(5),
            supervisor_time: Duration::from_mins(1),
            permit_time: Duration::from_mins(5),
            claim_time: Duration::from_mins(1),
            repeat: None,
            max_grant: Duration::from_hours(30 * 24),
            max_waiting: 20_000,
            max_waiting_per_agent: 5_000,
            max_pending_per_agent: 100,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum GateError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Stops, grants or keys kept changing while the call was being decided.
    #[error("the gate's settings kept changing, try again")]
    Busy,
    #[error("too many callers wait for decisions already")]
    Crowded,
    /// The process is going away, and nothing was decided yet.
    #[error("this gateway is going down")]
    Closing,
}

pub struct Gate {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    policy: ArcSwap<PolicySet>,
    settings: ArcSwap<Settings>,
    control: ArcSwap<Control>,
    /// Keys of the config file, beside those of the store.
    configured_keys: ArcSwap<Vec<Key>>,
    /// Who is asked about what.
    people: ArcSwap<Directory>,
    limits: Limits,
    waiters: Arc<Waiters>,
    /// The newest event when the gate was opened: whatever comes after it is told, also what comes before the
    /// pump's first beat.
    opened_after: u64,
    /// Calls being executed and outcomes being recorded.
    running: TaskTracker,
}

impl Gate {
    pub async fn open(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        policy: PolicySet,
        settings: Settings,
        configured_keys: Vec<Key>,
    ) -> Result<Arc<Self>, StoreError> {
        let keyed = store.cursor(AGENTS_KEYED).await?.is_some();
        let control = Control::new(store.control().await?, &configured_keys);
        if control.are_agents_keyed() && !keyed {
            store.set_cursor(AGENTS_KEYED, "yes").await?;
        }
        let control = control.after_agents_were_keyed(keyed);
        let opened_after = store.last_event().await?;
        Ok(Arc::new(Self {
            store,
            clock,
            policy: ArcSwap::from_pointee(policy),
            settings: ArcSwap::from_pointee(settings),
            control: ArcSwap::from_pointee(control),
            configured_keys: ArcSwap::from_pointee(configured_keys),
            people: ArcSwap::default(),
            limits: Limits::default(),
            waiters: Arc::default(),
            opened_after,
            running: TaskTracker::new(),
        }))
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub fn now(&self) -> Time {
        self.clock.now()
    }

    pub fn policy(&self) -> Arc<PolicySet> {
        self.policy.load_full()
    }

    /// Puts a new set of policies in force, at once and whole.
    pub fn replace_policy(&self, policy: PolicySet) {
        self.policy.store(Arc::new(policy));
    }

    pub fn people(&self) -> Arc<Directory> {
        self.people.load_full()
    }

    /// Whom questions that are asked from now on are put to.
    pub fn replace_people(&self, people: Directory) {
        self.people.store(Arc::new(people));
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    pub fn replace_settings(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    /// Puts the keys of a config file read anew in force: a key that is gone from it opens nothing.
    pub async fn replace_keys(&self, keys: Vec<Key>) -> Result<(), StoreError> {
        if keys.iter().any(|key| key.role == Role::Agent) {
            self.note_agent_keys().await?;
        }
        self.configured_keys.store(Arc::new(keys));
        self.refresh_control().await
    }

    /// From now on agents are known to have keys, also when the last of these is removed: who was locked out
    /// must not come in again by a declared name.
    async fn note_agent_keys(&self) -> Result<(), StoreError> {
        if self.control.load().are_agents_keyed() {
            return Ok(());
        }
        self.store.set_cursor(AGENTS_KEYED, "yes").await
    }

    pub fn control(&self) -> Arc<Control> {
        self.control.load_full()
    }

    /// Reads stops, grants and keys anew if they changed.
    pub async fn follow_control(&self) -> Result<(), StoreError> {
        if self.store.control_version().await? == self.control.load().version {
            return Ok(());
        }
        self.refresh_control().await
    }

    /// Reads stops, grants and keys anew. An older snapshot never replaces a newer one.
    pub async fn refresh_control(&self) -> Result<(), StoreError> {
        let rows = self.store.control().await?;
        let keyed = self.control.load().are_agents_keyed()
            || self.store.cursor(AGENTS_KEYED).await?.is_some();
        let fresh = Control::new(rows, &self.configured_keys.load());
        let fresh = Arc::new(fresh.after_agents_were_keyed(keyed));
        self.control.rcu(|current| {
            if fresh.version >= current.version {
                fresh.clone()
            } else {
                current.clone()
            }
        });
        Ok(())
    }

    /// Waits until every call that was let through has its outcome recorded.
    pub async fn drain(&self) {
        self.running.close();
        self.running.wait().await;
    }

    /// Nobody waits for a decision from here on. Calls that were let through go on to their end.
    pub fn close(&self) {
        self.waiters.close();
    }

    pub fn waiting(&self) -> usize {
        self.waiters.len()
    }
}
