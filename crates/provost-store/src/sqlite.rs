//! SQLite: one writer thread that commits in groups, and a few read-only connections beside it.

mod approvals;
mod batch;
mod behind;
mod checkpoint;
mod control;
mod deliveries;
mod durable;
mod fault;
mod files;
mod insert;
mod leases;
mod lists;
mod open;
mod pins;
mod prune;
mod readers;
mod records;
mod recover;
mod rows;
mod sightings;
mod sign_ins;
mod traces;
mod writer;

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use provost_core::{
    approval::{Approval, Claim, Escalation},
    call::Digest,
    control::{ControlRows, Scope, Stop},
    delivery::{Delivery, Shown},
    event::Numbered,
    grant::Grant,
    ids::{ApprovalId, DeliveryId, GrantId, TraceId, hex, random_bytes},
    key::Key,
    ports::{
        Activity, ApprovalFilter, ApprovalPage, ChainEnds, ChainRecord, Claimed, Clock as _,
        Delivered, Escalated, IdempotencyKey, KeyedAnswer, Leased, NewApproval, Opened, Pinned,
        QueueDepth, Record, Recorded, Resolve, Resolved, Result, Store, StoreError, SystemClock,
        Taken, ToolPin, TraceEntry, TraceFilter, TracePage, Unreadable, WriteRow, WrittenHead,
        WrittenPage,
    },
    time::Time,
    trace::TraceRow,
};
use tokio::sync::broadcast;

use self::{
    batch::Batch,
    durable::Horizon,
    fault::Fault,
    readers::{Readers, Written},
    writer::Writer,
};
use crate::{OpenError, error::READ_ONLY};

pub(crate) const SCHEMA: i64 = open::MIGRATIONS.len() as i64;

/// The only chain: one process writes the file, and its successor goes on where it stopped.
const CHAIN: &str = "main";

pub(crate) struct SqliteStore {
    /// `None`: opened for reading.
    writer: Option<Writer>,
    readers: Arc<Readers>,
    horizon: Arc<Horizon>,
    wake: broadcast::Sender<()>,
    /// Names this run of the gateway among those that have calls in flight.
    run: Arc<str>,
}

impl SqliteStore {
    pub(crate) async fn open(path: &Path) -> Result<Self, OpenError> {
        let path = path.to_owned();
        let at = path.clone();
        let opened = blocking(&path, move || open::open(&at, SystemClock.now())).await?;
        let (wake, _) = broadcast::channel(16);
        let horizon = Horizon::new();
        let run: Arc<str> = hex(&random_bytes::<8>()).into();
        let files = opened.files.clone();
        let writer = Writer::start(opened, &run, horizon.clone(), wake.clone());
        let writer = writer.map_err(|why| OpenError::Unusable {
            path: path.clone(),
            why: why.to_string(),
        })?;
        Ok(Self {
            writer: Some(writer),
            readers: Arc::new(Readers::new(
                path,
                Some(Written::new(horizon.clone(), files)),
            )),
            horizon,
            wake,
            run,
        })
    }

    pub(crate) async fn open_for_reading(path: &Path) -> Result<Self, OpenError> {
        let at = path.to_owned();
        blocking(path, move || open::look(&at)).await?;
        let (wake, _) = broadcast::channel(16);
        Ok(Self {
            writer: None,
            readers: Arc::new(Readers::new(path.to_owned(), None)),
            horizon: Horizon::new(),
            wake,
            run: "".into(),
        })
    }

    /// Runs in the next batch, possibly more than once; `work` must depend on nothing it changes.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Batch<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        match &self.writer {
            Some(writer) => writer.write(work).await,
            None => Err(StoreError::Failed(READ_ONLY.into())),
        }
    }

    /// Before what [`behind`] writes is read. A store that is opened for reading shows what was written.
    async fn write_behind(&self) -> Result<()> {
        if self.writer.is_none() {
            return Ok(());
        }
        self.write(|batch| {
            batch.write_behind();
            Ok(())
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.readers.read(work).await
    }
}

async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|why| OpenError::Unusable {
            path: path.to_owned(),
            why: why.to_string(),
        })?
}

#[async_trait]
impl Store for SqliteStore {
    async fn record(&self, record: Record) -> Result<Recorded> {
        match &self.writer {
            Some(writer) => writer.record(record).await,
            None => Err(StoreError::Failed(READ_ONLY.into())),
        }
    }

    async fn record_outcome(
        &self,
        row: TraceRow,
        answer: Option<(IdempotencyKey, String)>,
    ) -> Result<()> {
        self.write(move |batch| records::outcome(batch, &row, answer.as_ref()))
            .await
    }

    fn leave_outcome(&self, row: TraceRow) -> Result<(), TraceRow> {
        match &self.writer {
            Some(writer) => writer.leave(row),
            None => Err(row),
        }
    }

    async fn record_note(&self, row: TraceRow) -> Result<()> {
        self.write(move |batch| batch.append(&row)).await
    }

    async fn reserve_trace_id(&self, id: &TraceId, now: Time) -> Result<bool> {
        let id = id.clone();
        self.write(move |batch| records::reserve_trace_id(batch, &id, now))
            .await
    }

    async fn keyed_answer(&self, agent: &str, key: &str) -> Result<Option<KeyedAnswer>> {
        let (agent, key) = (agent.to_owned(), key.to_owned());
        self.read(move |sql| records::keyed_answer(sql, &agent, &key))
            .await
    }

    async fn total_calls(&self, agent: &str) -> Result<u64> {
        self.write_behind().await?;
        let agent = agent.to_owned();
        self.read(move |sql| records::total_calls(sql, &agent))
            .await
    }

    async fn open_approval(&self, new: NewApproval, now: Time) -> Result<Opened> {
        self.write(move |batch| approvals::open(batch, &new, now))
            .await
    }

    async fn resolve(&self, resolve: Resolve) -> Result<Resolved> {
        self.write(move |batch| approvals::resolve(batch, &resolve))
            .await
    }

    async fn expire(&self, id: &ApprovalId, now: Time, row: TraceRow) -> Result<bool> {
        let id = id.clone();
        self.write(move |batch| approvals::expire(batch, &id, now, &row))
            .await
    }

    async fn take(
        &self,
        id: &ApprovalId,
        now: Time,
        version: u64,
        key: Option<IdempotencyKey>,
    ) -> Result<Taken> {
        let id = id.clone();
        self.write(move |batch| approvals::take(batch, &id, now, version, key.as_ref()))
            .await
    }

    async fn claim(&self, id: &ApprovalId, claim: Claim, now: Time) -> Result<Claimed> {
        let id = id.clone();
        self.write(move |batch| approvals::claim(batch, &id, &claim, now))
            .await
    }

    async fn escalate(&self, id: &ApprovalId, escalation: Escalation) -> Result<Escalated> {
        let id = id.clone();
        self.write(move |batch| approvals::escalate(batch, &id, &escalation))
            .await
    }

    async fn approval(&self, id: &str) -> Result<Option<Approval>> {
        let id = id.to_owned();
        self.read(move |sql| lists::approval(sql, &id)).await
    }

    async fn untaken(&self, digest: Digest, now: Time) -> Result<Option<Approval>> {
        self.read(move |sql| lists::untaken(sql, digest, now)).await
    }

    async fn settled(&self, ids: &[ApprovalId], now: Time) -> Result<Vec<ApprovalId>> {
        let ids = ids.to_vec();
        self.read(move |sql| lists::settled(sql, ids, now)).await
    }

    async fn approvals(&self, filter: &ApprovalFilter, now: Time) -> Result<ApprovalPage> {
        let filter = filter.clone();
        self.read(move |sql| lists::approvals(sql, &filter, now))
            .await
    }

    async fn written_approvals(
        &self,
        filter: &ApprovalFilter,
        now: Time,
        write: WriteRow,
    ) -> Result<WrittenPage> {
        let filter = filter.clone();
        let work = move |sql: &_| lists::written_approvals(sql, &filter, now, write);
        self.readers.read_here(work).await
    }

    async fn overdue(&self, now: Time, limit: usize) -> Result<Vec<Approval>> {
        self.read(move |sql| lists::overdue(sql, now, limit)).await
    }

    async fn promote(&self, id: &ApprovalId, now: Time) -> Result<bool> {
        let id = id.clone();
        self.write(move |batch| approvals::promote(batch, &id, now))
            .await
    }

    async fn queue_depth(&self) -> Result<QueueDepth> {
        self.read(lists::queue_depth).await
    }

    async fn lease_deliveries(&self, now: Time, until: Time, limit: usize) -> Result<Vec<Leased>> {
        self.write(move |batch| deliveries::lease(batch, now, until, limit))
            .await
    }

    async fn delivery_shown(&self, id: &DeliveryId, shown: &Shown, now: Time) -> Result<()> {
        let (id, shown) = (id.clone(), shown.clone());
        self.write(move |batch| deliveries::shown(batch, &id, &shown, now))
            .await
    }

    async fn delivery_closed(&self, id: &DeliveryId) -> Result<()> {
        let id = id.clone();
        self.write(move |batch| deliveries::closed(batch, &id))
            .await
    }

    async fn postpone_delivery(&self, id: &DeliveryId, until: Time) -> Result<()> {
        let id = id.clone();
        self.write(move |batch| deliveries::postpone(batch, &id, until))
            .await
    }

    async fn delivery_failed(
        &self,
        id: &DeliveryId,
        again_at: Option<Time>,
        why: &str,
    ) -> Result<()> {
        let (id, why) = (id.clone(), why.to_owned());
        self.write(move |batch| deliveries::failed(batch, &id, again_at, &why))
            .await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>> {
        let id = id.clone();
        self.read(move |sql| deliveries::one(sql, &id)).await
    }

    async fn delivery_shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>> {
        let (channel, key) = (channel.to_owned(), key.to_owned());
        self.read(move |sql| deliveries::shown_as(sql, &channel, &key))
            .await
    }

    async fn deliveries(&self, approval: &ApprovalId) -> Result<Vec<Delivered>> {
        let approval = approval.clone();
        self.read(move |sql| deliveries::of(sql, &approval)).await
    }

    async fn cursor(&self, name: &str) -> Result<Option<String>> {
        let name = name.to_owned();
        self.read(move |sql| deliveries::cursor(sql, &name)).await
    }

    async fn set_cursor(&self, name: &str, value: &str) -> Result<()> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.write(move |batch| deliveries::set_cursor(batch, &name, &value))
            .await
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32]> {
        let name = name.to_owned();
        self.write(move |batch| deliveries::secret(batch, &name))
            .await
    }

    async fn control(&self) -> Result<ControlRows> {
        self.read(control::rows).await
    }

    async fn control_version(&self) -> Result<u64> {
        self.read(control::version).await
    }

    async fn add_grant(&self, grant: Grant, note: TraceRow) -> Result<()> {
        self.write(move |batch| control::add_grant(batch, &grant, &note))
            .await
    }

    async fn revoke_grant(
        &self,
        id: &GrantId,
        by: &str,
        now: Time,
        note: TraceRow,
    ) -> Result<bool> {
        let (id, by) = (id.clone(), by.to_owned());
        self.write(move |batch| control::revoke_grant(batch, &id, &by, now, &note))
            .await
    }

    async fn add_stop(&self, stop: Stop, note: TraceRow) -> Result<()> {
        self.write(move |batch| control::add_stop(batch, &stop, &note))
            .await
    }

    async fn remove_stop(&self, scope: &Scope, by: &str, note: TraceRow) -> Result<bool> {
        let (scope, by) = (scope.clone(), by.to_owned());
        self.write(move |batch| control::remove_stop(batch, &scope, &by, &note))
            .await
    }

    async fn add_key(&self, key: Key, note: TraceRow) -> Result<bool> {
        self.write(move |batch| control::add_key(batch, &key, &note))
            .await
    }

    async fn remove_key(&self, name: &str, note: TraceRow) -> Result<bool> {
        let name = name.to_owned();
        self.write(move |batch| control::remove_key(batch, &name, &note))
            .await
    }

    async fn tool_pins(&self, server: &str) -> Result<Vec<ToolPin>> {
        let server = server.to_owned();
        self.read(move |sql| pins::of_server(sql, &server)).await
    }

    async fn pin_tools(&self, pins: Vec<ToolPin>, note: TraceRow) -> Result<u64> {
        self.write(move |batch| pins::add(batch, &pins, &note))
            .await
    }

    async fn trust_tool(&self, pin: ToolPin, instead_of: Digest, note: TraceRow) -> Result<Pinned> {
        self.write(move |batch| pins::replace(batch, &pin, instead_of, &note))
            .await
    }

    async fn traces(&self, filter: &TraceFilter) -> Result<TracePage> {
        self.write_behind().await?;
        let filter = filter.clone();
        self.read(move |sql| traces::list(sql, &filter)).await
    }

    async fn trace(&self, id: &str) -> Result<Option<TraceEntry>> {
        self.write_behind().await?;
        let id = id.to_owned();
        self.read(move |sql| traces::one(sql, &id)).await
    }

    async fn activity(&self, limit: usize) -> Result<Vec<Activity>> {
        self.write_behind().await?;
        self.read(move |sql| traces::activity(sql, limit)).await
    }

    async fn chains(&self) -> Result<Vec<ChainEnds>> {
        self.read(|sql| traces::chains(sql).map_err(Fault::of_record))
            .await
    }

    async fn live_chains(&self) -> Result<Vec<ChainEnds>> {
        self.chains().await
    }

    fn written_head(&self) -> Option<WrittenHead> {
        let head = self.horizon.head()?;
        Some(WrittenHead {
            chain: CHAIN.to_owned(),
            seq: head.seq,
            hash: head.hash,
        })
    }

    async fn identity(&self) -> Result<String> {
        self.read(|sql| traces::identity(sql).map_err(Fault::of_record))
            .await
    }

    async fn chain_records(
        &self,
        chain: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<ChainRecord, Unreadable>>> {
        if chain != CHAIN {
            return Ok(Vec::new());
        }
        self.read(move |sql| traces::chain_records(sql, after, limit))
            .await
    }

    async fn notes(&self, name: &str) -> Result<Vec<String>> {
        let name = name.to_owned();
        self.read(move |sql| traces::notes(sql, &name)).await
    }

    async fn prunable(&self, before: Time) -> Result<Vec<ChainEnds>> {
        self.write_behind().await?;
        self.read(move |sql| prune::find_cut(sql, before)).await
    }

    async fn prune_to(&self, cuts: Vec<ChainEnds>, before: Time, now: Time) -> Result<u64> {
        for cut in cuts {
            self.write(move |batch| prune::move_anchor(batch, &cut, now))
                .await?;
        }
        let mut removed = 0;
        loop {
            let gone = self.write(prune::remove_records).await?;
            removed += gone;
            if gone < prune::CHUNK {
                break;
            }
        }
        while self
            .write(move |batch| prune::forget(batch, before, now))
            .await?
        {}
        Ok(removed)
    }

    async fn recover(&self, now: Time) -> Result<u64> {
        let mut recovered = 0;
        loop {
            let run = self.run.clone();
            let step = self
                .write(move |batch| recover::step(batch, &run, now))
                .await?;
            recovered += step.recorded;
            if step.last {
                return Ok(recovered);
            }
        }
    }

    async fn events(&self, after: u64, limit: usize) -> Result<Vec<Numbered>> {
        self.read(move |sql| lists::events(sql, after, limit)).await
    }

    async fn last_event(&self) -> Result<u64> {
        self.read(lists::last_event).await
    }

    fn wake(&self) -> broadcast::Receiver<()> {
        self.wake.subscribe()
    }

    fn lose(&self, why: &str) {
        self.horizon.fail(StoreError::Lost(why.into()));
    }

    /// The writer works on pages that it remembers. What is in the files, a reader tells.
    async fn ready(&self) -> Result<()> {
        self.write(|batch| batch.touch()).await?;
        self.read(traces::look).await
    }

    fn kind(&self) -> &'static str {
        "sqlite"
    }

    async fn close(&self) {
        self.readers.close().await;
        if let Some(writer) = &self.writer {
            writer.close().await;
        }
    }
}
