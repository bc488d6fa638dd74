//! The store: every durable fact. SQLite and PostgreSQL stand behind it, and one contract suite.
//!
//! Each method that writes returns only after what it wrote is on disk, and is atomic.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::broadcast;

use super::{
    leases::Leases,
    rows::{
        Activity, ApprovalFilter, ApprovalPage, ChainEnds, ChainRecord, Claimed, Delivered,
        Escalated, IdempotencyKey, KeyedAnswer, Leased, NewApproval, Opened, Pinned, QueueDepth,
        Record, Recorded, Resolve, Resolved, Taken, ToolPin, TraceEntry, TraceFilter, TracePage,
        Unreadable, WriteRow, WrittenHead, WrittenPage,
    },
    sign_ins::SignIns,
};
use crate::{
    approval::{Approval, Claim, Escalation},
    call::Digest,
    control::{ControlRows, Scope, Stop},
    delivery::{Delivery, Shown},
    event::{Event, Numbered},
    grant::Grant,
    ids::{ApprovalId, DeliveryId, GrantId, TraceId},
    key::Key,
    time::Time,
    trace::TraceRow,
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
    /// What was written cannot be found any more, and nothing is written until a restart. The words are for
    /// everybody to read: they name no path.
    #[error("{0}")]
    Lost(Arc<str>),
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[async_trait]
pub trait Store: SignIns + Leases + Send + Sync + 'static {
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

    /// Returns the open approval that is bound to the same ([`crate::approval::Question::bound`]) if there is one
    /// (pending and not expired, or decided but not answered and still valid), else makes this one.
    async fn open_approval(&self, new: NewApproval, now: Time) -> Result<Opened>;

    /// The approved question that is bound to this, whose answer nobody has taken and that still lasts.
    async fn untaken(&self, bound: Digest, now: Time) -> Result<Option<Approval>>;

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

    /// Oldest first, until the page is full.
    async fn approvals(&self, filter: &ApprovalFilter, now: Time) -> Result<ApprovalPage>;

    /// The same, each row written by `write`.
    async fn written_approvals(
        &self,
        filter: &ApprovalFilter,
        now: Time,
        write: WriteRow,
    ) -> Result<WrittenPage> {
        let mut filter = filter.clone();
        let mut written = WrittenPage::of_at_most(filter.limit);
        loop {
            let page = self.approvals(&filter, now).await?;
            for row in page.rows() {
                if written.is_full() {
                    return Ok(written);
                }
                written.push(row, now, write);
            }
            // A page ends by the length of whole questions, and these are cut.
            filter.after = page.next_after();
            if filter.after.is_none() || written.is_full() {
                return Ok(written);
            }
        }
    }

    /// Pending approvals whose time at their level is over: to be expired, or told to people. Fewer than `limit`, but
    /// at least one, where they are longer than [`super::PAGE_BYTES`] together.
    async fn overdue(&self, now: Time, limit: usize) -> Result<Vec<Approval>>;

    /// Moves a pending approval whose supervisors' time is over to people. An event tells of it.
    async fn promote(&self, id: &ApprovalId, now: Time) -> Result<bool>;

    async fn queue_depth(&self) -> Result<QueueDepth>;

    // ---- deliveries

    /// Takes up to `limit` deliveries that are due, so that nobody else does before `until`.
    async fn lease_deliveries(&self, now: Time, until: Time, limit: usize) -> Result<Vec<Leased>>;

    /// It was shown. If its approval has ended meanwhile, it is due at once.
    async fn delivery_shown(&self, id: &DeliveryId, shown: &Shown, now: Time) -> Result<()>;

    /// Nothing more is to be done with it.
    async fn delivery_closed(&self, id: &DeliveryId) -> Result<()>;

    /// It is due at that time, and not before.
    async fn postpone_delivery(&self, id: &DeliveryId, until: Time) -> Result<()>;

    /// It failed, and is due again then; `None` gives it up.
    async fn delivery_failed(
        &self,
        id: &DeliveryId,
        again_at: Option<Time>,
        why: &str,
    ) -> Result<()>;

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>>;

    async fn delivery_shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>>;

    async fn deliveries(&self, approval: &ApprovalId) -> Result<Vec<Delivered>>;

    /// A short text kept under a name: how far a channel has read what people sent, say.
    async fn cursor(&self, name: &str) -> Result<Option<String>>;

    async fn set_cursor(&self, name: &str, value: &str) -> Result<()>;

    /// Random bytes of that name, made when they are first asked for.
    async fn secret(&self, name: &str) -> Result<[u8; 32]>;

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

    // ---- upstream tools

    /// What the tools of an upstream server said of themselves when they were first seen or accepted.
    async fn tool_pins(&self, server: &str) -> Result<Vec<ToolPin>>;
    /// Remembers tools; those that have a pin already keep it. The note is written if any was new.
    async fn pin_tools(&self, pins: Vec<ToolPin>, note: TraceRow) -> Result<u64>;
    /// Puts a pin in the place of the one with that digest, if it is still there.
    async fn trust_tool(&self, pin: ToolPin, instead_of: Digest, note: TraceRow) -> Result<Pinned>;

    // ---- reading the record

    /// Newest first, until the page is full.
    async fn traces(&self, filter: &TraceFilter) -> Result<TracePage>;
    async fn trace(&self, id: &str) -> Result<Option<TraceEntry>>;
    async fn activity(&self, limit: usize) -> Result<Vec<Activity>>;
    /// A chain of which there are records but no ends is told as an empty one: its records stand after
    /// its head.
    async fn chains(&self) -> Result<Vec<ChainEnds>>;
    /// The chains that may have moved within the last minute.
    async fn live_chains(&self) -> Result<Vec<ChainEnds>>;
    /// What this process knows without reading: the store cannot be made to tell otherwise. It is on disk, and
    /// whoever reads from here on sees it. `None`: nothing was written.
    fn written_head(&self) -> Option<WrittenHead>;
    /// Tells this store from every other one.
    async fn identity(&self) -> Result<String>;
    /// Up to `limit` records of a chain with `seq` greater than `after`, in order; fewer, but at least one, where they
    /// are longer than [`super::CHAIN_PAGE_BYTES`] together. What stands before the first record comes before it.
    async fn chain_records(
        &self,
        chain: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<ChainRecord, Unreadable>>>;

    /// The bodies of all notes of this name, in any chain.
    async fn notes(&self, name: &str) -> Result<Vec<String>>;

    /// For each chain that begins with records made before `before`, its ends with the anchor at the last of
    /// them.
    async fn prunable(&self, before: Time) -> Result<Vec<ChainEnds>>;
    /// Moves the anchors there, notes it, and removes the records up to them. Also forgets answered
    /// approvals, events and idempotency keys made before `before`. Returns how many records went.
    async fn prune_to(&self, cuts: Vec<ChainEnds>, before: Time, now: Time) -> Result<u64>;
    /// Both.
    async fn prune(&self, before: Time, now: Time) -> Result<u64> {
        let cuts = self.prunable(before).await?;
        self.prune_to(cuts, before, now).await
    }

    /// What stands in the store is not what was written: everything is refused from here on, with these words
    /// as [`StoreError::Lost`].
    fn lose(&self, why: &str);

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
