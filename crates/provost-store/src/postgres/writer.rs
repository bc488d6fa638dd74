//! The writer as its callers see it: operations go in, and are answered once they are committed.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_util::future::BoxFuture;
use provost_core::{
    ids::GrantId,
    ports::{StoreError, WrittenHead},
};
use tokio::sync::{
    Mutex,
    mpsc::{self, error::TrySendError},
    oneshot, watch,
};

use super::{
    batch::{Batch, Head},
    failed::FailedWrites,
    fault::Fault,
    locks::Locks,
    worker::{Start, Worker},
};

/// Operations that may wait. Beyond that the store is not keeping up, and the answer is no.
const MAX_WAITING: usize = 16_384;

/// An operation: what it is about, and what it does with it in a batch, possibly more than once.
pub(super) type Work<D, T> = for<'a> fn(&'a mut Batch, &'a D) -> BoxFuture<'a, Result<T, Fault>>;

pub(super) struct Writer {
    inbox: mpsc::Sender<Message>,
    closed: AtomicBool,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    chain: Arc<str>,
    written: watch::Receiver<Head>,
    failed: Arc<FailedWrites>,
}

pub(super) enum Message {
    Job(Box<dyn Job>),
    Close,
}

/// An operation of a batch, and whom to tell.
pub(super) trait Job: Send {
    fn locks(&self) -> Locks;
    fn grant(&self) -> Option<&GrantId>;
    /// Tells writes of one kind from others. `None`: nobody is the worse for it if it fails.
    fn kind(&self) -> Option<&'static str>;
    fn run<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<(), Fault>>;
    fn finish(self: Box<Self>, result: Result<(), StoreError>);
}

struct Task<D, T> {
    locks: Locks,
    grant: Option<GrantId>,
    data: D,
    work: Work<D, T>,
    made: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<D: Send + Sync, T: Send> Job for Task<D, T> {
    fn locks(&self) -> Locks {
        self.locks
    }

    fn grant(&self) -> Option<&GrantId> {
        self.grant.as_ref()
    }

    fn kind(&self) -> Option<&'static str> {
        let kind = std::any::type_name::<(D, T)>();
        (!self.locks.are_of_maintenance()).then_some(kind)
    }

    fn run<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            self.made = Some((self.work)(batch, &self.data).await?);
            Ok(())
        })
    }

    fn finish(self: Box<Self>, result: Result<(), StoreError>) {
        let Self { made, reply, .. } = *self;
        // Nobody waits any more where the caller hung up; what was written stays written.
        let _ = reply.send(result.and_then(|()| made.ok_or(StoreError::Closed)));
    }
}

impl Writer {
    pub(super) fn start(start: Start) -> Self {
        let (inbox, waiting) = mpsc::channel(MAX_WAITING);
        let (end, ended) = oneshot::channel();
        let (head, written) = watch::channel(start.head);
        let chain = start.chain.clone();
        let failed = Arc::<FailedWrites>::default();
        let mut worker = Worker::new(start, head, failed.clone());
        tokio::spawn(async move {
            worker.run(waiting).await;
            worker.end().await;
            let _ = end.send(());
        });
        Self {
            inbox,
            closed: AtomicBool::new(false),
            ended: Mutex::new(Some(ended)),
            chain,
            written,
            failed,
        }
    }

    /// Whether the last write of each kind succeeded.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.failed.check()
    }

    /// `grant` is the grant the operation may use, if any: the rows of grants are locked up front.
    pub(super) async fn write<D, T>(
        &self,
        locks: Locks,
        grant: Option<GrantId>,
        data: D,
        work: Work<D, T>,
    ) -> Result<T, StoreError>
    where
        D: Send + Sync + 'static,
        T: Send + 'static,
    {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let (reply, answer) = oneshot::channel();
        let task = Task {
            locks,
            grant,
            data,
            work,
            made: None,
            reply,
        };
        self.inbox
            .try_send(Message::Job(Box::new(task)))
            .map_err(|refused| match refused {
                TrySendError::Full(_) => {
                    StoreError::Failed("it is overloaded: too many writes wait already".into())
                }
                TrySendError::Closed(_) => self.gone(),
            })?;
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    pub(super) fn written_head(&self) -> WrittenHead {
        let head = *self.written.borrow();
        WrittenHead {
            chain: self.chain.to_string(),
            seq: head.seq,
            hash: head.hash,
        }
    }

    /// Finishes what was accepted, and returns when the chain is closed.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let mut ended = self.ended.lock().await;
        let _ = self.inbox.send(Message::Close).await;
        if let Some(ended) = ended.take() {
            let _ = ended.await;
        }
    }

    fn gone(&self) -> StoreError {
        if self.closed.load(Ordering::Acquire) {
            StoreError::Closed
        } else {
            StoreError::Failed("its writer stopped".into())
        }
    }
}
