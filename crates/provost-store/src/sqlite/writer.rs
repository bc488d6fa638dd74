//! The writer: a thread that owns the one connection which writes, and commits in groups.
//!
//! It takes the first operation that waits and whatever else has gathered, and commits them as one: at
//! once when idle, in groups when busy. Behind it, [`super::durable`] syncs the commits to disk and
//! answers. Nobody is answered before that.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use provost_core::{
    ports::{Record, Recorded, StoreError},
    trace::TraceRow,
};
use rusqlite::{Connection, config::DbConfig};
use tokio::sync::{Mutex, broadcast, oneshot};

use super::{
    batch::{Batch, Committed, Head},
    behind::Behind,
    checkpoint::{Checkpointer, LogLength, pages_in_log},
    durable::{Group, Horizon, Syncer},
    fault::Fault,
    files::{Files, Log, lost},
    records,
    sightings::Sightings,
};
use crate::telemetry::Commit;

const MAX_BATCH: usize = 512;
/// So many in one commit are a crowd: the next one waits as long as more keep coming, for a few moments,
/// because a commit costs nearly the same for many as for a few. Callers who come alone never wait.
const CROWD: usize = 6;
const MOMENT: Duration = Duration::from_micros(200);
const MOMENTS: usize = 2;
/// Operations that may wait. Beyond that the store is not keeping up, and the answer is no.
const MAX_WAITING: usize = 16_384;

/// What [`super::open`] leaves behind.
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) sql: Connection,
    pub(super) head: Head,
    pub(super) log_length: LogLength,
    pub(super) files: Arc<Files>,
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
    /// The outcome of a call that nobody waits for.
    Outcome(Box<Left>),
    Close,
}

/// An operation of a batch, and whom to tell.
pub(super) trait Job: Send {
    /// Once more where the batch failed.
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<(), Fault>;
    fn finish(self: Box<Self>, result: Result<(), StoreError>);
}

/// An operation that somebody waits for.
struct Task<T, W> {
    work: W,
    made: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

trait Work<T>: Send {
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<T, Fault>;
}

struct Any<W>(W);

impl<T, W: FnMut(&mut Batch<'_>) -> Result<T, Fault> + Send> Work<T> for Any<W> {
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<T, Fault> {
        // It may look for records of this batch.
        batch.flush()?;
        (self.0)(batch)
    }
}

/// What nearly every call brings. It looks for no records, so those before it may wait for more.
struct Decision(Record);

impl Work<Recorded> for Decision {
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<Recorded, Fault> {
        records::record_soon(batch, &self.0)
    }
}

impl<T: Send, W: Work<T>> Job for Task<T, W> {
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<(), Fault> {
        self.made = Some(self.work.run(batch)?);
        Ok(())
    }

    fn finish(self: Box<Self>, result: Result<(), StoreError>) {
        let Self { made, reply, .. } = *self;
        // Nobody waits any more where the caller hung up; what was written stays written.
        let _ = reply.send(result.and_then(|()| made.ok_or(StoreError::Closed)));
    }
}

/// An outcome that nobody waits for.
struct Left(TraceRow);

impl Job for Left {
    fn run<'j>(&'j mut self, batch: &mut Batch<'j>) -> Result<(), Fault> {
        records::outcome_soon(batch, &self.0)
    }

    fn finish(self: Box<Self>, result: Result<(), StoreError>) {
        if let Err(error) = result {
            let trace_id = &self.0.trace_id;
            tracing::error!(trace.id = %trace_id, %error, "the outcome of a call was not recorded");
        }
    }
}

impl Writer {
    pub(super) fn start(
        opened: Opened,
        run: &str,
        horizon: Arc<Horizon>,
        wake: broadcast::Sender<()>,
    ) -> io::Result<Self> {
        let (inbox, waiting) = sync_channel(MAX_WAITING);
        let (end, ended) = oneshot::channel();
        let Opened {
            path,
            sql,
            head,
            lock,
            log_length,
            files,
        } = opened;
        let behind = Behind::new(run);
        let syncer = Syncer::start(Log::of(files.clone()), horizon.clone(), wake)?;
        let checkpointer = Checkpointer::start(path, log_length.clone())?;
        thread::Builder::new()
            .name("provost-writer".to_owned())
            .spawn(move || {
                let mut thread = Thread {
                    head,
                    behind,
                    sightings: Sightings::default(),
                    horizon,
                    syncer,
                    checkpointer,
                    log_length,
                    sql,
                    files,
                };
                thread.run(&waiting);
                thread.leave_foreign_files();
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
        self.send(Any(work)).await
    }

    pub(super) async fn record(&self, record: Record) -> Result<Recorded, StoreError> {
        self.send(Decision(record)).await
    }

    async fn send<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Work<T> + 'static,
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

    /// Gives the row back where it has no room.
    pub(super) fn leave(&self, row: TraceRow) -> Result<(), TraceRow> {
        if self.closed.load(Ordering::Acquire) {
            return Err(row);
        }
        let sent = self.inbox.try_send(Message::Outcome(Box::new(Left(row))));
        sent.map_err(|refused| match refused {
            TrySendError::Full(Message::Outcome(left))
            | TrySendError::Disconnected(Message::Outcome(left)) => left.0,
            _ => unreachable!("what was sent comes back"),
        })
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

/// Its threads end before its connection closes: fields are dropped in their order.
struct Thread {
    head: Head,
    behind: Behind,
    sightings: Sightings,
    horizon: Arc<Horizon>,
    syncer: Syncer,
    checkpointer: Checkpointer,
    log_length: LogLength,
    sql: Connection,
    files: Arc<Files>,
}

impl Thread {
    fn run(&mut self, waiting: &Receiver<Message>) {
        let mut last = 0;
        while let Ok(first) = waiting.recv() {
            self.syncer.await_idle();
            let (jobs, closing) = gather(first, waiting, last);
            last = jobs.len();
            self.commit(jobs);
            if closing {
                self.write_behind();
                return;
            }
        }
    }

    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        if jobs.is_empty() {
            return;
        }
        if let Some(why) = self.failure() {
            for job in jobs {
                job.finish(Err(why.clone()));
            }
            return;
        }
        let timed = Commit::begin(jobs.len());
        let number = self.horizon.advance();
        match self.attempt(&mut jobs) {
            Ok(made_events) => {
                self.syncer.sync(Group {
                    number,
                    head: Some(self.head),
                    jobs,
                    made_events,
                    timed: Some(timed),
                });
                self.checkpointer.after_commit(&self.sql);
            }
            Err(fault) => {
                self.syncer.sync(Group::nothing(number));
                self.horizon.fail_if_damaged(&fault);
                self.alone(jobs, fault);
            }
        }
    }

    /// Why nothing is written any more, if so. What the log held when the last commit was made, it must hold
    /// still: the next one would be written behind a hole.
    fn failure(&self) -> Option<StoreError> {
        let failure = self.horizon.failure();
        if failure.is_none() && !self.log_is_whole() {
            self.horizon.fail(lost("log", "shortened"));
            return self.horizon.failure();
        }
        failure
    }

    fn log_is_whole(&self) -> bool {
        let holds = |pages| self.files.log_holds(pages).unwrap_or(false);
        // Another program may have had SQLite write the log back and empty it, which loses nothing.
        holds(self.log_length.pages()) || pages_in_log(&self.sql).is_ok_and(holds)
    }

    /// When the last connection closes, SQLite removes the log by its name. Under that name there may be
    /// the log of a backup that was put back meanwhile.
    fn leave_foreign_files(&self) {
        if matches!(self.horizon.failure(), Some(StoreError::Lost(_))) {
            let leave = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.sql.set_db_config(leave, true) {
                tracing::warn!(%error, "the files of the database may be changed as they are closed");
            }
        }
    }

    /// The last commit. Where it fails, the next start does it.
    fn write_behind(&mut self) {
        if self.failure().is_some() {
            return;
        }
        let written = self.begin().and_then(|mut batch| {
            batch.write_behind();
            batch.commit()
        });
        if let Err(error) = written {
            tracing::warn!(%error, "the last counts were not written");
        }
    }

    /// One of them is bad. Alone, it takes nobody with it. What would meet each of them is not waited for once
    /// for each.
    fn alone(&mut self, mut jobs: Vec<Box<dyn Job>>, fault: Fault) {
        if fault.meets_all() {
            for job in jobs {
                job.finish(Err(StoreError::Failed(fault.to_string().into())));
            }
        } else if jobs.len() > 1 {
            for job in jobs {
                self.commit(vec![job]);
            }
        } else if let Some(job) = jobs.pop() {
            job.finish(Err(fault.into()));
        }
    }

    fn begin(&mut self) -> Result<Batch<'_>, Fault> {
        Batch::begin(&self.sql, self.head, &mut self.sightings, &mut self.behind)
    }

    /// Whether events were made.
    fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<bool, Fault> {
        match self.begin().and_then(|batch| run(jobs, batch)) {
            Ok(committed) => {
                self.head = committed.head;
                Ok(committed.made_events)
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

fn run<'j>(jobs: &'j mut [Box<dyn Job>], mut batch: Batch<'j>) -> Result<Committed, Fault> {
    jobs.iter_mut().try_for_each(|job| job.run(&mut batch))?;
    batch.commit()
}

/// What waits, as much as a commit takes; after a crowd, also what comes until nobody has come for a
/// moment. And whether that is all there will be.
fn gather(first: Message, waiting: &Receiver<Message>, last: usize) -> (Vec<Box<dyn Job>>, bool) {
    let mut jobs = Vec::with_capacity(last);
    let mut first = Some(first);
    let moments = if last < CROWD { 0 } else { MOMENTS };
    for moment in 0..=moments {
        let before = jobs.len();
        for message in first.take().into_iter().chain(waiting.try_iter()) {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Outcome(left) => jobs.push(left),
                Message::Close => return (jobs, true),
            }
            if jobs.len() == MAX_BATCH {
                return (jobs, false);
            }
        }
        if jobs.len() == before || moment == moments {
            break;
        }
        thread::sleep(MOMENT);
    }
    (jobs, false)
}
