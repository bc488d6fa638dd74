//! The writer: a thread that owns the one connection which writes, and commits in groups.
//!
//! It takes the first operation that waits and whatever else has gathered, and commits them as one: at
//! once when idle, in large groups when busy. Nobody is answered before the commit.

use std::{
    fs::File,
    io,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use provost_core::ports::StoreError;
use rusqlite::Connection;
use tokio::{
    runtime::Handle,
    sync::{Mutex, broadcast, oneshot},
};

use super::{
    batch::{Batch, Head},
    fault::Fault,
    sightings::Sightings,
};
use crate::telemetry::Commit;

const MAX_BATCH: usize = 512;
/// So many in one commit are a crowd: the next one waits a moment for the rest of it, because a commit
/// costs the same for many as for a few. Callers who come alone never wait.
const CROWD: usize = 6;
const MOMENT: Duration = Duration::from_micros(100);
/// Operations that may wait. Beyond that the store is not keeping up, and the answer is no.
const MAX_WAITING: usize = 16_384;

/// What [`super::open`] leaves behind.
pub(super) struct Opened {
    pub(super) sql: Connection,
    pub(super) head: Head,
    /// Held as long as the file is written.
    pub(super) lock: File,
}

pub(super) struct Writer {
    inbox: SyncSender<Message>,
    closed: AtomicBool,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

enum Message {
    Job(Box<dyn Job>),
    Close,
}

/// An operation of a batch, and whom to tell.
trait Job: Send {
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), Fault>;
    fn finish(self: Box<Self>, result: Result<(), StoreError>);
}

struct Task<T, W> {
    work: W,
    made: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, W: FnMut(&mut Batch<'_>) -> Result<T, Fault> + Send> Job for Task<T, W> {
    fn run(&mut self, batch: &mut Batch<'_>) -> Result<(), Fault> {
        self.made = Some((self.work)(batch)?);
        Ok(())
    }

    fn finish(self: Box<Self>, result: Result<(), StoreError>) {
        let Self { made, reply, .. } = *self;
        // Nobody waits any more where the caller hung up; what was written stays written.
        let _ = reply.send(result.and_then(|()| made.ok_or(StoreError::Closed)));
    }
}

impl Writer {
    pub(super) fn start(opened: Opened, wake: broadcast::Sender<()>) -> io::Result<Self> {
        let (inbox, waiting) = sync_channel(MAX_WAITING);
        let (end, ended) = oneshot::channel();
        let runtime = Handle::current();
        thread::Builder::new()
            .name("provost-writer".to_owned())
            .spawn(move || {
                let Opened { sql, head, lock } = opened;
                let mut thread = Thread {
                    runtime,
                    sql,
                    head,
                    sightings: Sightings::default(),
                    wake,
                };
                thread.run(&waiting);
                // The last connection checkpoints as it closes, and only then may another process come.
                drop(thread);
                drop(lock);
                let _ = end.send(());
            })?;
        Ok(Self {
            inbox,
            closed: AtomicBool::new(false),
            ended: Mutex::new(Some(ended)),
        })
    }

    pub(super) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Batch<'_>) -> Result<T, Fault> + Send + 'static,
    {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let (reply, answer) = oneshot::channel();
        let task = Message::Job(Box::new(Task {
            work,
            made: None,
            reply,
        }));
        self.inbox.try_send(task).map_err(|refused| match refused {
            TrySendError::Full(_) => {
                StoreError::Failed("it is overloaded: too many writes wait already".into())
            }
            TrySendError::Disconnected(_) => self.gone(),
        })?;
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Finishes what was accepted, and returns when the file is let go.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let mut ended = self.ended.lock().await;
        // A full inbox drains; the writer never waits for anything but the disk.
        while let Err(TrySendError::Full(_)) = self.inbox.try_send(Message::Close) {
            tokio::task::yield_now().await;
        }
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

struct Thread {
    runtime: Handle,
    sql: Connection,
    head: Head,
    sightings: Sightings,
    wake: broadcast::Sender<()>,
}

impl Thread {
    fn run(&mut self, waiting: &Receiver<Message>) {
        let mut crowded = false;
        while let Ok(first) = waiting.recv() {
            if crowded {
                thread::sleep(MOMENT);
            }
            let (jobs, closing) = gather(first, waiting);
            crowded = jobs.len() >= CROWD;
            self.commit(jobs);
            if closing {
                return;
            }
        }
    }

    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let Err(fault) = self.attempt(&mut jobs) else {
            // From inside the runtime, waking a caller costs no system call.
            self.runtime.spawn(async move {
                for job in jobs {
                    job.finish(Ok(()));
                }
            });
            return;
        };
        if jobs.len() > 1 {
            // One of them is bad. Alone, it takes nobody with it.
            for job in jobs {
                self.commit(vec![job]);
            }
        } else if let Some(job) = jobs.pop() {
            job.finish(Err(fault.into()));
        }
    }

    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<(), Fault> {
        if jobs.is_empty() {
            return Ok(());
        }
        let timed = Commit::begin(jobs.len());
        let begun = Batch::begin(&self.sql, self.head, &mut self.sightings);
        let done = begun.and_then(|mut batch| {
            jobs.iter_mut().try_for_each(|job| job.run(&mut batch))?;
            batch.commit()
        });
        match done {
            Ok(committed) => {
                timed.done();
                self.head = committed.head;
                if committed.made_events {
                    // No receiver is no problem: waking is a courtesy.
                    let _ = self.wake.send(());
                }
                Ok(())
            }
            Err(fault) => {
                self.sightings = Sightings::default();
                // SQLite has rolled back by itself after some errors.
                if !self.sql.is_autocommit() {
                    self.sql.execute_batch("ROLLBACK")?;
                }
                Err(fault)
            }
        }
    }
}

/// What waits, and what arrives while the others are let run for a moment: callers that were all
/// answered by one commit come back one after the other, and belong into one commit again.
fn gather(first: Message, waiting: &Receiver<Message>) -> (Vec<Box<dyn Job>>, bool) {
    let mut jobs = Vec::new();
    let mut next = Some(first);
    loop {
        let before = jobs.len();
        for message in next.take().into_iter().chain(waiting.try_iter()) {
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
        thread::yield_now();
    }
}
