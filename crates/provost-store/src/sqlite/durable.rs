//! From committed to durable: a thread syncs the log to disk behind the writer, which meanwhile commits
//! what came next.
//!
//! A commit is visible to readers a moment before it is on disk. Nobody is told of it in that moment:
//! writers are answered after the sync, and a read that may have seen the commit waits for it as well.
//! A sync that fails leaves open what is on disk, so everything is refused from then on; likewise when the
//! files were deleted or replaced ([`super::files`]).

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
};

use provost_core::ports::StoreError;
use tokio::{
    runtime::Handle,
    sync::{broadcast, watch},
};

use super::{
    batch::Head,
    fault::Fault,
    files::{BETWEEN_LOOKS, lost},
    writer::Job,
};
use crate::telemetry::Commit;

/// What commits are synced to.
pub(super) trait Medium: Send + 'static {
    /// Returns when everything is on disk that was committed before, and can be found there.
    fn sync(&mut self) -> Result<(), StoreError>;

    /// Whether all is well, asked once a second where nothing is written.
    fn look(&mut self) -> Result<(), StoreError>;
}

/// How far commits have come, by number.
pub(super) struct Horizon {
    /// Counted before the commit is made, so that whoever sees the commit sees the number.
    committing: AtomicU64,
    synced: watch::Sender<Synced>,
}

struct Synced {
    upto: u64,
    /// `None`: nothing was committed.
    head: Option<Head>,
    /// Why everything is refused.
    failed: Option<StoreError>,
}

impl Horizon {
    pub(super) fn new() -> Arc<Self> {
        let (synced, _) = watch::channel(Synced {
            upto: 0,
            head: None,
            failed: None,
        });
        Arc::new(Self {
            committing: AtomicU64::new(0),
            synced,
        })
    }

    /// The writer is about to commit: the number of that commit.
    pub(super) fn advance(&self) -> u64 {
        self.committing.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Waits until everything is on disk that a read which has just ended may have seen.
    pub(super) async fn reached(&self) -> Result<(), StoreError> {
        let seen = self.committing.load(Ordering::SeqCst);
        let mut synced = self.synced.subscribe();
        let synced = synced
            .wait_for(|synced| synced.failed.is_some() || synced.upto >= seen)
            .await;
        match synced {
            Ok(synced) => synced.failed.clone().map_or(Ok(()), Err),
            Err(_) => Err(sync_failed()),
        }
    }

    /// Why everything is refused, if it is.
    pub(super) fn failure(&self) -> Option<StoreError> {
        self.synced.borrow().failed.clone()
    }

    /// Where the chain stands on disk, as far as this process wrote it.
    pub(super) fn head(&self) -> Option<Head> {
        self.synced.borrow().head
    }

    fn set(&self, upto: u64, head: Option<Head>) {
        self.synced.send_modify(|synced| {
            synced.upto = upto;
            synced.head = head.or(synced.head);
        });
    }

    /// From here on everything is refused. The first reason stays.
    pub(super) fn fail(&self, why: StoreError) {
        self.synced.send_modify(|synced| {
            synced.failed.get_or_insert(why);
        });
    }
}

impl Horizon {
    /// A database that is damaged cannot be written on: what is written next may be lost as well.
    pub(super) fn fail_if_damaged(&self, fault: &Fault) {
        if fault.is_damage() && self.failure().is_none() {
            tracing::error!(error = %fault, "the database is damaged; everything is refused");
            self.fail(lost("database or log", "damaged"));
        }
    }
}

pub(super) fn sync_failed() -> StoreError {
    StoreError::Failed(
        "the disk refused a write: look at the disk, then restart the gateway".into(),
    )
}

/// A commit on its way to disk, and whom to tell.
pub(super) struct Group {
    pub(super) number: u64,
    /// Where it leaves the chain.
    pub(super) head: Option<Head>,
    pub(super) jobs: Vec<Box<dyn Job>>,
    pub(super) made_events: bool,
    pub(super) timed: Option<Commit>,
}

impl Group {
    /// Of a commit that failed: reads may wait for its number.
    pub(super) fn nothing(number: u64) -> Self {
        Self {
            number,
            head: None,
            jobs: Vec::new(),
            made_events: false,
            timed: None,
        }
    }
}

/// Takes commits, in their order. Dropped, it finishes those that it has.
pub(super) struct Syncer {
    groups: Option<SyncSender<Group>>,
    /// One message for every group that can be taken.
    idle: Receiver<()>,
    is_idle: bool,
    horizon: Arc<Horizon>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Syncer {
    pub(super) fn start(
        medium: impl Medium,
        horizon: Arc<Horizon>,
        wake: broadcast::Sender<()>,
    ) -> io::Result<Self> {
        let (groups, committed) = sync_channel(1);
        let (rest, idle) = sync_channel(1);
        let runtime = Handle::current();
        let shared = horizon.clone();
        let thread = thread::Builder::new()
            .name("provost-syncer".to_owned())
            .spawn(move || run((&rest, &committed), medium, &shared, &wake, &runtime))?;
        Ok(Self {
            groups: Some(groups),
            idle,
            is_idle: false,
            horizon,
            thread: Some(thread),
        })
    }

    /// Waits until nothing is being synced. What comes meanwhile can go into the next commit: with two
    /// commits under way, each would have half as many.
    pub(super) fn await_idle(&mut self) {
        if !self.is_idle {
            // Fails only if the thread is gone, which whoever sends a group will see.
            self.is_idle = self.idle.recv().is_ok();
        }
    }

    pub(super) fn sync(&mut self, group: Group) {
        self.await_idle();
        self.is_idle = false;
        // Fails only if the thread is gone. The jobs go with it, and their callers are told no.
        if let Some(groups) = &self.groups
            && groups.send(group).is_err()
        {
            self.horizon.fail(sync_failed());
        }
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.groups = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(
    (rest, committed): (&SyncSender<()>, &Receiver<Group>),
    mut medium: impl Medium,
    horizon: &Horizon,
    wake: &broadcast::Sender<()>,
    runtime: &Handle,
) {
    while rest.send(()).is_ok()
        && let Some(group) = next(committed, &mut medium, horizon)
    {
        if horizon.failure().is_none()
            && let Err(why) = medium.sync()
        {
            horizon.fail(why);
        }
        match horizon.failure() {
            Some(why) => refuse(group, &why),
            None => answer(group, horizon, wake, runtime),
        }
    }
}

/// The next commit, and `None` when there will be no more.
fn next(committed: &Receiver<Group>, medium: &mut impl Medium, horizon: &Horizon) -> Option<Group> {
    loop {
        match committed.recv_timeout(BETWEEN_LOOKS) {
            Ok(group) => return Some(group),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                if horizon.failure().is_none()
                    && let Err(why) = medium.look()
                {
                    horizon.fail(why);
                }
            }
        }
    }
}

fn answer(group: Group, horizon: &Horizon, wake: &broadcast::Sender<()>, runtime: &Handle) {
    horizon.set(group.number, group.head);
    if group.made_events {
        // No receiver is no problem: waking is a courtesy.
        let _ = wake.send(());
    }
    // From inside the runtime, waking a caller costs no system call.
    runtime.spawn(async move {
        if let Some(timed) = group.timed {
            timed.done();
        }
        for job in group.jobs {
            job.finish(Ok(()));
        }
    });
}

fn refuse(group: Group, why: &StoreError) {
    for job in group.jobs {
        job.finish(Err(why.clone()));
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{
            Arc, Mutex,
            mpsc::{Receiver, Sender, channel},
        },
    };

    use provost_core::ports::StoreError;
    use tokio::sync::{broadcast, oneshot};

    use super::{Group, Horizon, Medium, Syncer, sync_failed};
    use crate::sqlite::{batch::Batch, fault::Fault, writer::Job};

    /// A disk that syncs when it is told to, and as it is told to.
    struct Disk {
        horizon: Arc<Horizon>,
        syncer: Syncer,
        syncs: Sender<io::Result<()>>,
    }

    struct Told(Receiver<io::Result<()>>);

    impl Medium for Told {
        fn sync(&mut self) -> Result<(), StoreError> {
            let told = self.0.recv().map_err(|_| sync_failed())?;
            told.map_err(|_| sync_failed())
        }

        fn look(&mut self) -> Result<(), StoreError> {
            Ok(())
        }
    }

    impl Disk {
        fn new() -> Self {
            let (syncs, told): (_, Receiver<io::Result<()>>) = channel();
            let horizon = Horizon::new();
            let (wake, _) = broadcast::channel(1);
            let syncer = Syncer::start(Told(told), horizon.clone(), wake).unwrap();
            Self {
                horizon,
                syncer,
                syncs,
            }
        }

        fn commit(&mut self) -> oneshot::Receiver<Result<(), StoreError>> {
            let (reply, answer) = oneshot::channel();
            self.syncer.sync(Group {
                number: self.horizon.advance(),
                head: None,
                jobs: vec![Box::new(Waiting(Mutex::new(Some(reply))))],
                made_events: false,
                timed: None,
            });
            answer
        }
    }

    struct Waiting(Mutex<Option<oneshot::Sender<Result<(), StoreError>>>>);

    impl Job for Waiting {
        fn run<'j>(&'j mut self, _: &mut Batch<'j>) -> Result<(), Fault> {
            Ok(())
        }

        fn finish(self: Box<Self>, result: Result<(), StoreError>) {
            let reply = self.0.lock().unwrap().take().unwrap();
            reply.send(result).unwrap();
        }
    }

    #[tokio::test]
    async fn neither_writers_nor_readers_hear_of_a_commit_before_it_is_on_disk() {
        let mut disk = Disk::new();
        let mut answer = disk.commit();
        let mut read = tokio::spawn({
            let horizon = disk.horizon.clone();
            async move { horizon.reached().await }
        });
        assert!(futures_util::poll!(&mut read).is_pending());
        assert!(answer.try_recv().is_err());

        disk.syncs.send(Ok(())).unwrap();
        assert!(answer.await.unwrap().is_ok());
        assert!(read.await.unwrap().is_ok());
        assert!(disk.horizon.reached().await.is_ok(), "nothing is open");
    }

    #[tokio::test]
    async fn after_a_failed_sync_everything_is_refused() {
        let mut disk = Disk::new();
        let lost = disk.commit();
        disk.syncs.send(Err(io::Error::other("no"))).unwrap();
        assert!(lost.await.unwrap().is_err());
        assert!(disk.horizon.failure().is_some());
        assert!(disk.horizon.reached().await.is_err());
        assert!(disk.commit().await.unwrap().is_err());
    }
}
