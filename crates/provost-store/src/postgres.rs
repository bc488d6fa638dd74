//! PostgreSQL: one writer task that commits in groups, a pool of connections for reading, and one that
//! listens to the other replicas.

mod approvals;
mod batch;
mod chain;
mod connect;
mod control;
mod deliveries;
mod failed;
mod fault;
mod grants;
mod leases;
mod listen;
mod lists;
mod locks;
mod open;
mod pending;
mod pins;
mod probe;
mod prune;
mod records;
mod recover;
mod rows;
mod schema;
mod sign_ins;
mod tls;
mod traces;
mod worker;
mod writer;

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use deadpool_postgres::Pool;
use futures_util::future::AbortHandle;
use provost_core::{
    approval::{Approval, Claim, Escalation},
    call::Digest,
    control::{ControlRows, Scope, Stop},
    delivery::{Delivery, Shown},
    event::Numbered,
    grant::Grant,
    ids::{ApprovalId, DeliveryId, GrantId, TraceId},
    key::Key,
    ports::{
        Activity, ApprovalFilter, ApprovalPage, ChainEnds, ChainRecord, Claimed, Delivered,
        Escalated, IdempotencyKey, KeyedAnswer, Leased, NewApproval, Opened, Pinned, QueueDepth,
        Record, Recorded, Resolve, Resolved, Result, Store, StoreError, Taken, ToolPin, TraceEntry,
        TraceFilter, TracePage, Unreadable, WrittenHead,
    },
    time::Time,
    trace::TraceRow,
};
use tokio::sync::broadcast;

use self::{
    fault::Fault,
    locks::Locks,
    writer::{Work, Writer},
};
use crate::error::READ_ONLY;

pub(crate) struct PostgresStore {
    /// `None`: opened for reading.
    writer: Option<Writer>,
    pool: Pool,
    wake: broadcast::Sender<()>,
    /// The tasks that tell the other replicas and hear from them.
    companions: Vec<AbortHandle>,
    /// Why everything is refused.
    lost: Arc<OnceLock<StoreError>>,
}

pub(crate) const SCHEMA: i64 = schema::MIGRATIONS.len() as i64;

/// Names server and database, and whatever else chooses the tables.
pub(crate) fn place(url: &str) -> Result<String, crate::OpenError> {
    Ok(connect::Connector::new(url)?.place())
}

impl PostgresStore {
    async fn write<D, T>(&self, locks: Locks, data: D, work: Work<D, T>) -> Result<T>
    where
        D: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.write_with_grant(locks, None, data, work).await
    }

    async fn write_with_grant<D, T>(
        &self,
        locks: Locks,
        grant: Option<GrantId>,
        data: D,
        work: Work<D, T>,
    ) -> Result<T>
    where
        D: Send + Sync + 'static,
        T: Send + 'static,
    {
        self.not_lost()?;
        match &self.writer {
            Some(writer) => writer.write(locks, grant, data, work).await,
            None => Err(StoreError::Failed(READ_ONLY.into())),
        }
    }

    fn not_lost(&self) -> Result<()> {
        self.lost.get().cloned().map_or(Ok(()), Err)
    }

    async fn read(&self) -> Result<deadpool_postgres::Client> {
        self.not_lost()?;
        self.pool.get().await.map_err(|why| match why {
            deadpool_postgres::PoolError::Closed => StoreError::Closed,
            deadpool_postgres::PoolError::Backend(error) => {
                StoreError::Failed(fault::describe(&error).into())
            }
            other => StoreError::Failed(other.to_string().into()),
        })
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.companions.iter().for_each(AbortHandle::abort);
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn record(&self, record: Record) -> Result<Recorded> {
        let grant = record.grant.clone();
        self.write_with_grant(Locks::DECISION, grant, record, |batch, record| {
            Box::pin(records::record(batch, record))
        })
        .await
    }

    async fn record_outcome(
        &self,
        row: TraceRow,
        answer: Option<(IdempotencyKey, String)>,
    ) -> Result<()> {
        self.write(Locks::NONE, (row, answer), |batch, (row, answer)| {
            Box::pin(records::outcome(batch, row, answer.as_ref()))
        })
        .await
    }

    async fn record_note(&self, row: TraceRow) -> Result<()> {
        self.write(Locks::NONE, row, |batch, row| {
            batch.append(row);
            Box::pin(std::future::ready(Ok(())))
        })
        .await
    }

    async fn reserve_trace_id(&self, id: &TraceId, now: Time) -> Result<bool> {
        self.write(Locks::NONE, (id.clone(), now), |batch, (id, now)| {
            Box::pin(records::reserve_trace_id(batch, id, *now))
        })
        .await
    }

    async fn keyed_answer(&self, agent: &str, key: &str) -> Result<Option<KeyedAnswer>> {
        Ok(records::keyed_answer(&*self.read().await?, agent, key).await?)
    }

    async fn total_calls(&self, agent: &str) -> Result<u64> {
        Ok(records::total_calls(&*self.read().await?, agent).await?)
    }

    async fn open_approval(&self, new: NewApproval, now: Time) -> Result<Opened> {
        let granted = new.granted.as_ref();
        let grant = granted.and_then(|record| record.grant.clone());
        self.write_with_grant(Locks::APPROVAL, grant, (new, now), |batch, (new, now)| {
            Box::pin(approvals::open(batch, new, *now))
        })
        .await
    }

    async fn resolve(&self, resolve: Resolve) -> Result<Resolved> {
        let grant = resolve.grant.clone();
        let locks = match &resolve.new_grant {
            Some(_) => Locks::APPROVAL.and(Locks::CONTROL),
            None => Locks::APPROVAL,
        };
        self.write_with_grant(locks, grant, resolve, |batch, resolve| {
            Box::pin(approvals::resolve(batch, resolve))
        })
        .await
    }

    async fn expire(&self, id: &ApprovalId, now: Time, row: TraceRow) -> Result<bool> {
        self.write(
            Locks::APPROVAL,
            (id.clone(), now, row),
            |batch, (id, now, row)| Box::pin(approvals::expire(batch, id, *now, row)),
        )
        .await
    }

    async fn take(
        &self,
        id: &ApprovalId,
        now: Time,
        version: u64,
        key: Option<IdempotencyKey>,
    ) -> Result<Taken> {
        let data = (id.clone(), now, version, key);
        self.write(Locks::APPROVAL, data, |batch, (id, now, version, key)| {
            Box::pin(approvals::take(batch, id, *now, *version, key.as_ref()))
        })
        .await
    }

    async fn claim(&self, id: &ApprovalId, claim: Claim, now: Time) -> Result<Claimed> {
        self.write(
            Locks::APPROVAL,
            (id.clone(), claim, now),
            |batch, (id, claim, now)| Box::pin(approvals::claim(batch, id, claim, *now)),
        )
        .await
    }

    async fn escalate(&self, id: &ApprovalId, escalation: Escalation) -> Result<Escalated> {
        self.write(
            Locks::APPROVAL,
            (id.clone(), escalation),
            |batch, (id, escalation)| Box::pin(approvals::escalate(batch, id, escalation)),
        )
        .await
    }

    async fn approval(&self, id: &str) -> Result<Option<Approval>> {
        Ok(lists::approval(&*self.read().await?, id).await?)
    }

    async fn untaken(&self, digest: Digest, now: Time) -> Result<Option<Approval>> {
        Ok(lists::untaken(&*self.read().await?, digest, now).await?)
    }

    async fn settled(&self, ids: &[ApprovalId], now: Time) -> Result<Vec<ApprovalId>> {
        Ok(lists::settled(&*self.read().await?, ids, now).await?)
    }

    async fn approvals(&self, filter: &ApprovalFilter, now: Time) -> Result<ApprovalPage> {
        Ok(lists::approvals(&*self.read().await?, filter, now).await?)
    }

    async fn overdue(&self, now: Time, limit: usize) -> Result<Vec<Approval>> {
        Ok(lists::overdue(&*self.read().await?, now, limit).await?)
    }

    async fn promote(&self, id: &ApprovalId, now: Time) -> Result<bool> {
        self.write(Locks::APPROVAL, (id.clone(), now), |batch, (id, now)| {
            Box::pin(approvals::promote(batch, id, *now))
        })
        .await
    }

    async fn queue_depth(&self) -> Result<QueueDepth> {
        Ok(lists::queue_depth(&*self.read().await?).await?)
    }

    async fn lease_deliveries(&self, now: Time, until: Time, limit: usize) -> Result<Vec<Leased>> {
        let data = (now, until, limit);
        self.write(Locks::APPROVAL, data, |batch, (now, until, limit)| {
            Box::pin(deliveries::lease(batch, *now, *until, *limit))
        })
        .await
    }

    async fn delivery_shown(&self, id: &DeliveryId, shown: &Shown, now: Time) -> Result<()> {
        let data = (id.clone(), shown.clone(), now);
        self.write(Locks::APPROVAL, data, |batch, (id, shown, now)| {
            Box::pin(deliveries::shown(batch, id, shown, *now))
        })
        .await
    }

    async fn delivery_closed(&self, id: &DeliveryId) -> Result<()> {
        self.write(Locks::APPROVAL, id.clone(), |batch, id| {
            Box::pin(deliveries::closed(batch, id))
        })
        .await
    }

    async fn postpone_delivery(&self, id: &DeliveryId, until: Time) -> Result<()> {
        let data = (id.clone(), until);
        self.write(Locks::APPROVAL, data, |batch, (id, until)| {
            Box::pin(deliveries::postpone(batch, id, *until))
        })
        .await
    }

    async fn delivery_failed(
        &self,
        id: &DeliveryId,
        again_at: Option<Time>,
        why: &str,
    ) -> Result<()> {
        let data = (id.clone(), again_at, why.to_owned());
        self.write(Locks::APPROVAL, data, |batch, (id, again_at, why)| {
            Box::pin(deliveries::failed(batch, id, *again_at, why))
        })
        .await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>> {
        Ok(deliveries::one(&*self.read().await?, id).await?)
    }

    async fn delivery_shown_as(&self, channel: &str, key: &str) -> Result<Option<Delivery>> {
        Ok(deliveries::shown_as(&*self.read().await?, channel, key).await?)
    }

    async fn deliveries(&self, approval: &ApprovalId) -> Result<Vec<Delivered>> {
        Ok(deliveries::of(&*self.read().await?, approval).await?)
    }

    async fn cursor(&self, name: &str) -> Result<Option<String>> {
        Ok(deliveries::cursor(&*self.read().await?, name).await?)
    }

    async fn set_cursor(&self, name: &str, value: &str) -> Result<()> {
        let data = (name.to_owned(), value.to_owned());
        self.write(Locks::MAINTENANCE, data, |batch, (name, value)| {
            Box::pin(deliveries::set_cursor(batch, name, value))
        })
        .await
    }

    async fn secret(&self, name: &str) -> Result<[u8; 32]> {
        self.write(Locks::MAINTENANCE, name.to_owned(), |batch, name| {
            Box::pin(deliveries::secret(batch, name))
        })
        .await
    }

    async fn control(&self) -> Result<ControlRows> {
        Ok(control::rows(&mut *self.read().await?).await?)
    }

    async fn control_version(&self) -> Result<u64> {
        Ok(control::version(&*self.read().await?).await?)
    }

    async fn add_grant(&self, grant: Grant, note: TraceRow) -> Result<()> {
        self.write(Locks::CONTROL, (grant, note), |batch, (grant, note)| {
            Box::pin(control::add_grant(batch, grant, note))
        })
        .await
    }

    async fn revoke_grant(
        &self,
        id: &GrantId,
        by: &str,
        now: Time,
        note: TraceRow,
    ) -> Result<bool> {
        let data = (id.clone(), by.to_owned(), now, note);
        self.write(Locks::CONTROL, data, |batch, (id, by, now, note)| {
            Box::pin(control::revoke_grant(batch, id, by, *now, note))
        })
        .await
    }

    async fn add_stop(&self, stop: Stop, note: TraceRow) -> Result<()> {
        self.write(Locks::CONTROL, (stop, note), |batch, (stop, note)| {
            Box::pin(control::add_stop(batch, stop, note))
        })
        .await
    }

    async fn remove_stop(&self, scope: &Scope, by: &str, note: TraceRow) -> Result<bool> {
        let data = (scope.clone(), by.to_owned(), note);
        self.write(Locks::CONTROL, data, |batch, (scope, by, note)| {
            Box::pin(control::remove_stop(batch, scope, by, note))
        })
        .await
    }

    async fn add_key(&self, key: Key, note: TraceRow) -> Result<bool> {
        self.write(Locks::CONTROL, (key, note), |batch, (key, note)| {
            Box::pin(control::add_key(batch, key, note))
        })
        .await
    }

    async fn remove_key(&self, name: &str, note: TraceRow) -> Result<bool> {
        self.write(
            Locks::CONTROL,
            (name.to_owned(), note),
            |batch, (name, note)| Box::pin(control::remove_key(batch, name, note)),
        )
        .await
    }

    async fn tool_pins(&self, server: &str) -> Result<Vec<ToolPin>> {
        Ok(pins::of_server(&*self.read().await?, server).await?)
    }

    async fn pin_tools(&self, pins: Vec<ToolPin>, note: TraceRow) -> Result<u64> {
        self.write(Locks::MAINTENANCE, (pins, note), |batch, (pins, note)| {
            Box::pin(pins::add(batch, pins, note))
        })
        .await
    }

    async fn trust_tool(&self, pin: ToolPin, instead_of: Digest, note: TraceRow) -> Result<Pinned> {
        let data = (pin, instead_of, note);
        self.write(
            Locks::MAINTENANCE,
            data,
            |batch, (pin, instead_of, note)| Box::pin(pins::replace(batch, pin, *instead_of, note)),
        )
        .await
    }

    async fn traces(&self, filter: &TraceFilter) -> Result<TracePage> {
        Ok(traces::list(&*self.read().await?, filter).await?)
    }

    async fn trace(&self, id: &str) -> Result<Option<TraceEntry>> {
        Ok(traces::one(&*self.read().await?, id).await?)
    }

    async fn activity(&self, limit: usize) -> Result<Vec<Activity>> {
        Ok(traces::activity(&*self.read().await?, limit).await?)
    }

    async fn chains(&self) -> Result<Vec<ChainEnds>> {
        Ok(traces::chains(&*self.read().await?)
            .await
            .map_err(Fault::of_record)?)
    }

    async fn live_chains(&self) -> Result<Vec<ChainEnds>> {
        Ok(traces::live_chains(&*self.read().await?)
            .await
            .map_err(Fault::of_record)?)
    }

    fn written_head(&self) -> Option<WrittenHead> {
        self.writer.as_ref().map(Writer::written_head)
    }

    async fn identity(&self) -> Result<String> {
        Ok(traces::identity(&*self.read().await?)
            .await
            .map_err(Fault::of_record)?)
    }

    async fn chain_records(
        &self,
        chain: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<ChainRecord, Unreadable>>> {
        Ok(traces::chain_records(&*self.read().await?, chain, after, limit).await?)
    }

    async fn notes(&self, name: &str) -> Result<Vec<String>> {
        Ok(traces::notes(&*self.read().await?, name).await?)
    }

    async fn prunable(&self, before: Time) -> Result<Vec<ChainEnds>> {
        Ok(prune::find_cuts(&mut *self.read().await?, before).await?)
    }

    async fn prune_to(&self, cuts: Vec<ChainEnds>, before: Time, now: Time) -> Result<u64> {
        self.write(Locks::MAINTENANCE, (cuts, now), |batch, (cuts, now)| {
            Box::pin(prune::move_anchors(batch, cuts, *now))
        })
        .await?;
        let mut removed = 0;
        loop {
            let gone = self
                .write(Locks::MAINTENANCE, (), |batch, ()| {
                    Box::pin(prune::remove_records(batch))
                })
                .await?;
            removed += gone;
            if gone < prune::CHUNK {
                break;
            }
        }
        let locks = Locks::MAINTENANCE.and(Locks::APPROVAL);
        while self
            .write(locks, (before, now), |batch, (before, now)| {
                Box::pin(prune::forget(batch, *before, *now))
            })
            .await?
        {}
        Ok(removed)
    }

    async fn recover(&self, now: Time) -> Result<u64> {
        let mut recovered = 0;
        loop {
            let step = self
                .write(Locks::MAINTENANCE, now, |batch, now| {
                    Box::pin(recover::step(batch, *now))
                })
                .await?;
            recovered += step.recorded;
            if step.last {
                return Ok(recovered);
            }
        }
    }

    async fn events(&self, after: u64, limit: usize) -> Result<Vec<Numbered>> {
        Ok(lists::events(&*self.read().await?, after, limit).await?)
    }

    async fn last_event(&self) -> Result<u64> {
        Ok(lists::last_event(&*self.read().await?).await?)
    }

    fn wake(&self) -> broadcast::Receiver<()> {
        self.wake.subscribe()
    }

    fn lose(&self, why: &str) {
        let _ = self.lost.set(StoreError::Lost(why.into()));
    }

    async fn ready(&self) -> Result<()> {
        self.write(Locks::NONE, (), |batch, ()| Box::pin(chain::touch(batch)))
            .await??;
        self.writer.as_ref().map_or(Ok(()), Writer::check)
    }

    fn kind(&self) -> &'static str {
        "postgres"
    }

    async fn close(&self) {
        if let Some(writer) = &self.writer {
            writer.close().await;
        }
        self.companions.iter().for_each(AbortHandle::abort);
        self.pool.close();
    }
}
