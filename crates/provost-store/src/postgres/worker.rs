//! The writer's task: it owns the one connection of this process which writes, and commits in groups.
//!
//! As with SQLite, it commits at once when idle and in large groups when busy. Where the connection is
//! lost, whatever was under way has failed: it may or may not have happened, so the answer is no.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use deadpool_postgres::ClientWrapper;
use provost_core::{ids::GrantId, ports::StoreError};
use tokio::{
    sync::{Notify, broadcast, mpsc, watch},
    time::{Instant, MissedTickBehavior},
};

use super::{
    batch::{Batch, Committed, Head},
    chain,
    connect::Connector,
    failed::FailedWrites,
    fault::Fault,
    locks::Locks,
    writer::{Job, Message},
};
use crate::telemetry::Commit;

const MAX_BATCH: usize = 512;
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Longer than any statement may take; past that the network has swallowed the answer.
const PATIENCE: Duration = Duration::from_secs(20);
const MIN_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// What the task begins with.
pub(super) struct Start {
    pub(super) lost: Arc<OnceLock<StoreError>>,
    pub(super) connector: Connector,
    pub(super) sql: ClientWrapper,
    pub(super) chain: Arc<str>,
    pub(super) head: Head,
    pub(super) wake: broadcast::Sender<()>,
    /// Told when there are events that other replicas should hear of.
    pub(super) news: Arc<Notify>,
}

pub(super) struct Worker {
    /// Set when the chain is found where it was long ago: the database was put back.
    lost: Arc<OnceLock<StoreError>>,
    connector: Connector,
    link: Option<Arc<ClientWrapper>>,
    chain: Arc<str>,
    head: Head,
    /// Where a commit whose end is not known would have moved the chain.
    in_doubt: Head,
    /// The head, for those who hold the record against it.
    written: watch::Sender<Head>,
    /// Another replica closed the chain of this process.
    ended: bool,
    backoff: Duration,
    not_before: Instant,
    wake: broadcast::Sender<()>,
    news: Arc<Notify>,
    failed: Arc<FailedWrites>,
}

impl Worker {
    pub(super) fn new(
        start: Start,
        written: watch::Sender<Head>,
        failed: Arc<FailedWrites>,
    ) -> Self {
        Self {
            lost: start.lost,
            connector: start.connector,
            link: Some(Arc::new(start.sql)),
            chain: start.chain,
            head: start.head,
            in_doubt: start.head,
            written,
            ended: false,
            backoff: MIN_BACKOFF,
            not_before: Instant::now(),
            wake: start.wake,
            news: start.news,
            failed,
        }
    }

    pub(super) async fn run(&mut self, mut waiting: mpsc::Receiver<Message>) {
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let first = tokio::select! {
                message = waiting.recv() => message,
                _ = heartbeat.tick() => {
                    self.beat().await;
                    continue;
                }
            };
            let Some(first) = first else { return };
            let (jobs, closing) = gather(first, &mut waiting).await;
            self.commit(jobs).await;
            if closing {
                return;
            }
        }
    }

    async fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.attempt(&mut jobs).await {
            Ok(()) => {
                let kinds = jobs.iter().filter_map(|job| job.kind());
                self.failed.succeeded(kinds);
                for job in jobs {
                    job.finish(Ok(()));
                }
            }
            Err(fault) if jobs.len() > 1 && fault.concerns_one() => {
                // One of them is bad. Alone, it takes nobody with it.
                for job in jobs {
                    Box::pin(self.commit(vec![job])).await;
                }
            }
            Err(fault) => {
                let is_of_server = fault.is_of_server();
                let error = StoreError::from(fault);
                for job in jobs {
                    if let Some(kind) = job.kind().filter(|_| is_of_server) {
                        self.failed.failed(kind, &error);
                    }
                    job.finish(Err(error.clone()));
                }
            }
        }
    }

    async fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), Fault> {
        if jobs.is_empty() {
            return Ok(());
        }
        let sql = self.link().await?;
        self.in_doubt = self.head;
        let chain = (self.chain.clone(), self.head);
        let batch = run(sql.clone(), chain, jobs, &mut self.in_doubt);
        let done = tokio::time::timeout(PATIENCE, batch)
            .await
            .unwrap_or(Err(Fault::Silent));
        match done {
            Ok(committed) => {
                self.move_to(committed.head);
                if committed.made_events {
                    // No receiver is no problem: waking is a courtesy.
                    let _ = self.wake.send(());
                    self.news.notify_one();
                }
                Ok(())
            }
            Err(fault) => {
                let rolled_back = !fault.broke_the_link() && roll_back(&sql).await;
                if !rolled_back || sql.is_closed() {
                    self.link = None;
                }
                Err(fault)
            }
        }
    }

    /// The connection, made anew where it was lost. Between attempts that fail, the answer comes at once.
    async fn link(&mut self) -> Result<Arc<ClientWrapper>, Fault> {
        if self.ended {
            return Err(Fault::Ended);
        }
        if let Some(link) = self.link.as_ref().filter(|link| !link.is_closed()) {
            return Ok(link.clone());
        }
        self.link = None;
        if Instant::now() < self.not_before {
            return Err(Fault::Connect("the connection was lost".to_owned()));
        }
        match self.reconnect().await {
            Ok(link) => {
                self.backoff = MIN_BACKOFF;
                Ok(self.link.insert(link).clone())
            }
            Err(fault) => {
                self.ended = matches!(fault, Fault::Ended | Fault::PutBack);
                if let Fault::PutBack = fault {
                    let _ = self.lost.set(StoreError::from(Fault::PutBack));
                }
                self.not_before = Instant::now() + self.backoff;
                self.backoff = (self.backoff * 2).min(MAX_BACKOFF);
                tracing::error!(error = %fault, "cannot write to the database");
                Err(fault)
            }
        }
    }

    async fn reconnect(&mut self) -> Result<Arc<ClientWrapper>, Fault> {
        let link = self.connector.connect().await?;
        let found = chain::find_head(&link, &self.chain).await?;
        // A commit in doubt may have moved it on. Nothing else of ours moves it.
        if ![self.head, self.in_doubt].contains(&found) {
            return Err(Fault::PutBack);
        }
        self.move_to(found);
        Ok(Arc::new(link))
    }

    fn move_to(&mut self, head: Head) {
        self.head = head;
        self.written.send_replace(head);
    }

    async fn beat(&mut self) {
        let Ok(link) = self.link().await else { return };
        match tokio::time::timeout(PATIENCE, chain::beat(&link, &self.chain)).await {
            Ok(Ok(())) => {}
            Ok(Err(Fault::Ended)) => self.ended = true,
            Ok(Err(fault)) if !fault.broke_the_link() => {}
            Ok(Err(_)) | Err(_) => self.link = None,
        }
    }

    /// Closes the chain, so that others need not wait for its silence.
    pub(super) async fn end(&mut self) {
        if let Ok(link) = self.link().await {
            let ending = tokio::time::timeout(PATIENCE, chain::end(&link, &self.chain));
            if !matches!(ending.await, Ok(Ok(()))) {
                tracing::warn!("the chain of traces was not closed; others will find it silent");
            }
        }
    }
}

async fn run(
    sql: Arc<ClientWrapper>,
    (chain, head): (Arc<str>, Head),
    jobs: &mut [Box<dyn Job>],
    in_doubt: &mut Head,
) -> Result<Committed, Fault> {
    let locks = jobs
        .iter()
        .fold(Locks::NONE, |all, job| all.and(job.locks()));
    let grants = jobs
        .iter()
        .filter_map(|job| job.grant().map(GrantId::as_str))
        .collect();
    let timed = Commit::begin(jobs.len());
    let mut batch = Batch::begin(sql, chain, head, locks, grants).await?;
    for job in jobs {
        job.run(&mut batch).await?;
    }
    *in_doubt = batch.head();
    let committed = batch.commit().await?;
    timed.done();
    Ok(committed)
}

async fn roll_back(sql: &ClientWrapper) -> bool {
    matches!(
        tokio::time::timeout(PATIENCE, sql.batch_execute("ROLLBACK")).await,
        Ok(Ok(()))
    )
}

/// What waits, and what arrives while the others are let run for a moment.
async fn gather(
    first: Message,
    waiting: &mut mpsc::Receiver<Message>,
) -> (Vec<Box<dyn Job>>, bool) {
    let mut jobs = Vec::new();
    let mut next = Some(first);
    loop {
        let before = jobs.len();
        while let Some(message) = next.take().or_else(|| waiting.try_recv().ok()) {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Close => return (jobs, true),
            }
            if jobs.len() == MAX_BATCH {
                return (jobs, false);
            }
        }
        if jobs.len() == before {
            return (jobs, false);
        }
        tokio::task::yield_now().await;
    }
}
