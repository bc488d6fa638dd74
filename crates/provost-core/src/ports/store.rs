//! The store: every durable fact. SQLite and PostgreSQL stand behind it, and one contract suite.
//!
//! Each method that writes returns only after what it wrote is on disk, and is atomic.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;

use crate::{
    approval::{Approval, Claim, Decision, Escalation, Level, Question, State, Status},
    call::Digest,
    control::{ControlRows, Scope, Stop},
    event::{Event, Numbered},
    glob::Glob,
    grant::Grant,
    ids::{ApprovalId, GrantId, TraceId},
    key::Key,
    time::Time,
    trace::{RecordKind, TraceRow, chain::Hash},
};

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Nothing was written, or it cannot be known: the answer must be no.
    #[error("the store failed: {0}")]
    Failed(Arc<str>),
    #[error("the store is shutting down")]
    Closed,
    #[error("{0}")]
    Corrupt(Arc<str>),
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A decision to be recorded, and what must still hold for it to count.
#[derive(Clone, Debug)]
pub struct Record {
    pub row: TraceRow,
    /// The [`ControlRows::version`] the decision was made under. `None`: the decision is a no.
    pub version: Option<u64>,
    /// The grant that permits the call: one use of it is taken.
    pub grant: Option<GrantId>,
    pub key: Option<IdempotencyKey>,
    /// How many calls of this agent may be let in altogether, by every replica.
    pub max_total: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Done,
    /// Stops, grants or keys changed since: nothing was written, decide again.
    Stale,
    /// The grant is used up, over or revoked: nothing was written, decide again.
    GrantSpent,
    /// The idempotency key already stands for a permitted call: nothing was written.
    KeyTaken,
    /// The agent has made all the calls it may: nothing was written.
    TotalSpent,
}

/// A caller's promise that two requests are one. Kept with the permit it was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub agent: Arc<str>,
    pub key: String,
    pub digest: Digest,
    pub at: Time,
    /// What is answered, where that is known already: nothing is executed here, so no outcome follows.
    pub answer: Option<String>,
}

/// What an idempotency key stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedAnswer {
    pub digest: Digest,
    pub trace_id: TraceId,
    /// What was answered, as JSON, once the call has ended.
    pub answer: Option<String>,
}

#[derive(Clone, Debug)]
pub struct NewApproval {
    pub question: Question,
    pub state: State,
    /// As in [`Record::version`]: a question that a new grant or stop has answered is not asked.
    pub version: u64,
}

#[derive(Clone, Debug)]
pub enum Opened {
    /// The question, new or found.
    Approval(Box<Approval>),
    /// As [`Recorded::Stale`].
    Stale,
}

#[derive(Clone, Debug)]
pub struct Resolve {
    pub id: ApprovalId,
    pub decision: Decision,
    /// The decider may only decide what is, at this moment, for supervisors.
    pub only_supervisor_level: bool,
    /// Until when the decision waits for a caller to take it.
    pub permit_until: Option<Time>,
    /// The grant that answers: one use of it is taken in the same transaction.
    pub grant: Option<GrantId>,
    /// The record of the decision, written in the same transaction.
    pub row: TraceRow,
}

#[derive(Clone, Debug)]
pub enum Resolved {
    Won(Box<Approval>),
    /// Already decided or expired: this is how.
    Lost(Box<Approval>),
    /// It is for people now.
    NotYours(Box<Approval>),
    /// Another supervisor's claim lasts.
    Held(Claim),
    /// As [`Recorded::GrantSpent`].
    GrantSpent,
    NotFound,
}

#[derive(Clone, Debug)]
pub enum Taken {
    /// The decision is this caller's to act on, and nobody else's.
    Yes,
    /// It was handed to another caller, or its permit ran out.
    No,
    /// As [`Recorded::Stale`].
    Stale,
    KeyTaken,
}

#[derive(Clone, Debug)]
pub enum Claimed {
    Yes(Box<Approval>),
    /// Somebody else's claim still lasts.
    Held(Claim),
    /// Not pending, or not for supervisors any more.
    Lost(Box<Approval>),
    NotFound,
}

#[derive(Clone, Debug)]
pub enum Escalated {
    Yes(Box<Approval>),
    /// Not pending, or with people already.
    Lost(Box<Approval>),
    NotFound,
}

#[derive(Clone, Debug, Default)]
pub struct ApprovalFilter {
    pub status: Option<Status>,
    pub tool: Option<Glob>,
    /// Any of these, when not empty: a supervisor's tools.
    pub tools: Vec<Glob>,
    pub level: Option<Level>,
    pub agent: Option<String>,
    pub session: Option<String>,
    /// Made at or after.
    pub since: Option<Time>,
    /// The `place` of the last row of the page before.
    pub after: Option<u64>,
    pub limit: usize,
}

/// Approvals as a list shows them: the questions as the JSON text they were stored as, one after another,
/// so that a page costs no parsing and no allocation per row.
#[derive(Clone, Debug, Default)]
pub struct ApprovalPage {
    questions: String,
    rows: Vec<PageRow>,
}

#[derive(Clone, Debug)]
struct PageRow {
    place: u64,
    /// Where its question ends.
    end: usize,
    state: State,
}

/// One approval of an [`ApprovalPage`].
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRow<'a> {
    pub place: u64,
    /// JSON of [`Question`].
    pub question: &'a str,
    pub state: &'a State,
}

impl ApprovalPage {
    pub fn push(&mut self, place: u64, question: &str, state: State) {
        self.questions.push_str(question);
        self.rows.push(PageRow {
            place,
            end: self.questions.len(),
            state,
        });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How long the text of all questions is.
    pub fn text_len(&self) -> usize {
        self.questions.len()
    }

    /// The `place` of its last row: where the next page goes on.
    pub fn last_place(&self) -> Option<u64> {
        self.rows.last().map(|row| row.place)
    }

    pub fn rows(&self) -> impl Iterator<Item = ApprovalRow<'_>> {
        let mut begin = 0;
        self.rows.iter().map(move |row| {
            let question = self.questions.get(begin..row.end).unwrap_or_default();
            begin = row.end;
            ApprovalRow {
                place: row.place,
                question,
                state: &row.state,
            }
        })
    }
}

#[derive(Clone, Debug, Default)]
pub struct TraceFilter {
    pub agent: Option<String>,
    pub tool: Option<Glob>,
    /// Any of these, when not empty: a supervisor's tools.
    pub tools: Vec<Glob>,
    pub session: Option<String>,
    pub verdict: Option<String>,
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Older than this place.
    pub before: Option<u64>,
    pub limit: usize,
}

/// A decision and its outcome, as JSON text. Newest first.
#[derive(Clone, Debug)]
pub struct TraceEntry {
    pub place: u64,
    pub decision: String,
    /// Let through to a backend, and its outcome not recorded yet.
    pub in_flight: bool,
    pub outcome: Option<String>,
}

/// One record as it stands in its chain, for verification and export.
#[derive(Clone, Debug)]
pub struct ChainRecord {
    /// Where it stands among the records of all chains: the order in which they are listed.
    pub place: u64,
    pub seq: u64,
    pub hash: Hash,
    pub trace_id: TraceId,
    pub kind: RecordKind,
    pub at: Time,
    pub agent: String,
    pub session: Option<String>,
    pub tool: String,
    pub verdict: String,
    pub forwarded: bool,
    pub body: String,
}

/// A record that is no longer what this program writes: somebody changed it.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Its number in the chain, or 0 where it stands before the first.
    pub seq: u64,
    pub trace_id: Option<String>,
    pub why: String,
}

/// Where a chain begins and ends. What was pruned is represented by the hash of its last record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEnds {
    pub chain: String,
    pub anchor_seq: u64,
    pub anchor_hash: Hash,
    pub head_seq: u64,
    pub head_hash: Hash,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Activity {
    pub agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub first_at: Time,
    pub last_at: Time,
    pub calls: u64,
    pub denied: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    pub pending: u64,
    pub oldest: Option<Time>,
}

#[async_trait]
pub trait Store: Send + Sync + 'static {
    // ---- decisions and outcomes

    /// Appends the record of a decision to this process's chain, if what it rests on still holds.
    async fn record(&self, record: Record) -> Result<Recorded>;

    /// Appends the outcome of a forwarded call, and keeps the answer under the idempotency key, if the
    /// call had one.
    async fn record_outcome(
        &self,
        row: TraceRow,
        answer: Option<(IdempotencyKey, String)>,
    ) -> Result<()>;

    /// Takes the outcome of a call that nobody waits for: it is written with what is written next, and a
    /// failure is logged. Gives it back where the store cannot take it at once.
    fn leave_outcome(&self, row: TraceRow) -> Result<(), TraceRow> {
        Err(row)
    }

    /// Appends a note.
    async fn record_note(&self, row: TraceRow) -> Result<()>;

    /// Makes a caller's trace id this call's, if no call ever had it: two calls never share a trace.
    async fn reserve_trace_id(&self, id: &TraceId, now: Time) -> Result<bool>;

    async fn keyed_answer(&self, agent: &str, key: &str) -> Result<Option<KeyedAnswer>>;

    /// How many calls of this agent were let past its limits, ever and by every replica.
    async fn total_calls(&self, agent: &str) -> Result<u64>;

    // ---- approvals

    /// Returns the open approval of the same digest if there is one (pending and not expired, or decided
    /// but not answered and still valid), else makes this one.
    async fn open_approval(&self, new: NewApproval, now: Time) -> Result<Opened>;

    /// One decision: of all that race, one wins.
    async fn resolve(&self, resolve: Resolve) -> Result<Resolved>;

    /// Marks a pending approval expired, if its time is over, and records it.
    async fn expire(&self, id: &ApprovalId, now: Time, row: TraceRow) -> Result<bool>;

    /// Takes a decision, once: `answered_at` is set. For an approval the permit must still last, and
    /// `version` must be current as in [`Record`].
    async fn take(
        &self,
        id: &ApprovalId,
        now: Time,
        version: u64,
        key: Option<IdempotencyKey>,
    ) -> Result<Taken>;

    /// Claims a pending approval at level supervisor. The holder may claim again to prolong it.
    async fn claim(&self, id: &ApprovalId, claim: Claim, now: Time) -> Result<Claimed>;

    async fn escalate(&self, id: &ApprovalId, escalation: Escalation) -> Result<Escalated>;

    /// By its id, or by a prefix of at least four characters that only one id has.
    async fn approval(&self, id: &str) -> Result<Option<Approval>>;

    /// The states of those of `ids` that are no longer pending at `now`.
    async fn settled(&self, ids: &[ApprovalId], now: Time) -> Result<Vec<ApprovalId>>;

    /// Oldest first.
    async fn approvals(&self, filter: &ApprovalFilter, now: Time) -> Result<ApprovalPage>;

    /// Pending approvals whose time at their level is over: to be expired, or told to people.
    async fn overdue(&self, now: Time, limit: usize) -> Result<Vec<Approval>>;

    /// Moves a pending approval whose supervisors' time is over to people. An event tells of it.
    async fn promote(&self, id: &ApprovalId, now: Time) -> Result<bool>;

    async fn queue_depth(&self) -> Result<QueueDepth>;

    // ---- grants, stops, keys

    async fn control(&self) -> Result<ControlRows>;
    /// The version of [`Store::control`] alone, to see cheaply whether it moved.
    async fn control_version(&self) -> Result<u64>;
    async fn add_grant(&self, grant: Grant, note: TraceRow) -> Result<()>;
    /// `false` when there is no such grant, or it is revoked already.
    async fn revoke_grant(&self, id: &GrantId, by: &str, now: Time, note: TraceRow)
    -> Result<bool>;
    async fn add_stop(&self, stop: Stop, note: TraceRow) -> Result<()>;
    /// `false` when that scope was not stopped.
    async fn remove_stop(&self, scope: &Scope, by: &str, note: TraceRow) -> Result<bool>;
    /// `false` when the name is taken.
    async fn add_key(&self, key: Key, note: TraceRow) -> Result<bool>;
    async fn remove_key(&self, name: &str, note: TraceRow) -> Result<bool>;

    // ---- reading the record

    async fn traces(&self, filter: &TraceFilter) -> Result<Vec<TraceEntry>>;
    async fn trace(&self, id: &str) -> Result<Option<TraceEntry>>;
    async fn activity(&self, limit: usize) -> Result<Vec<Activity>>;
    /// A chain of which there are records but no ends is told as an empty one: its records stand after
    /// its head.
    async fn chains(&self) -> Result<Vec<ChainEnds>>;
    /// Up to `limit` records of a chain with `seq` greater than `after`, in order. What stands before the
    /// first record comes before it.
    async fn chain_records(
        &self,
        chain: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<ChainRecord, Unreadable>>>;

    /// Removes whole records made before `before` from the old end of each chain this process may prune,
    /// moves the anchors, and notes it. Also forgets answered approvals, events and idempotency keys of
    /// that age. Returns how many records went.
    async fn prune(&self, before: Time, now: Time) -> Result<u64>;

    /// Writes an outcome `unknown` for every forwarded call of a dead process that has none. An approved
    /// call counts as forwarded only once its decision was taken. Called once at start, and from time to time where replicas share the store.
    async fn recover(&self, now: Time) -> Result<u64>;

    // ---- events

    /// Events after `id`, in order.
    async fn events(&self, after: u64, limit: usize) -> Result<Vec<Numbered>>;
    /// The newest event's place, 0 when there is none.
    async fn last_event(&self) -> Result<u64>;
    /// Wakes when there may be new events, whoever made them. Missing one is harmless: polling is the
    /// truth.
    fn wake(&self) -> broadcast::Receiver<()>;

    /// Whether a write would succeed now.
    async fn ready(&self) -> Result<()>;
    /// `sqlite` or `postgres`, for doctor.
    fn kind(&self) -> &'static str;
    /// Finishes what was accepted, then refuses more.
    async fn close(&self);
}

/// The events a store derives from what it writes; here so that both stores say the same.
pub fn approval_event(
    approval: &Approval,
    make: fn(crate::event::About) -> Event,
    by: Option<String>,
) -> Event {
    make(crate::event::About {
        approval_id: approval.question.id.clone(),
        agent_id: approval.question.agent_id.clone(),
        tool: approval.question.tool.clone(),
        level: approval.state.level,
        status: approval.state.status,
        by,
    })
}
