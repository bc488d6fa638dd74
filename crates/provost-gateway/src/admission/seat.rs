//! One connection: the request that is in progress on it, how long it has rested, and whether it is to leave.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64, AtomicUsize,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    task::Waker,
    time::{Duration, Instant},
};

use futures_util::task::AtomicWaker;

use super::{Admission, Counted, Full, Who, party::Party};

/// A connection that rested for less may still be writing its answer.
const RESTED: Duration = Duration::from_secs(1);
/// A new one that has said nothing for so long has nothing to say.
const SILENT: Duration = Duration::from_millis(100);

/// HTTP/1.1 has one request at a time on a connection, so the seat holds what is counted for it.
#[derive(Debug)]
pub struct Seat {
    admission: Arc<Admission>,
    opened: Instant,
    /// Milliseconds after it was opened since which it rests, and one; zero while a request is in progress.
    resting: AtomicU64,
    used: AtomicBool,
    /// Its last request was of somebody who decides, or of one who may say so with the next.
    of_decider: AtomicBool,
    leaving: AtomicBool,
    turned_away: AtomicBool,
    current: Mutex<Current>,
    bytes: AtomicUsize,
    waker: AtomicWaker,
}

#[derive(Debug, Default)]
struct Current {
    counted: Counted,
    /// Of the last request: most connections serve one caller.
    party: Option<Arc<Party>>,
}

/// A request in progress. Dropped when its answer is complete, or small enough to be sent at once.
#[derive(Debug)]
pub(crate) struct Occupied(Arc<Seat>);

impl Seat {
    pub fn new(admission: Arc<Admission>) -> Self {
        Self {
            admission,
            opened: Instant::now(),
            resting: AtomicU64::new(1),
            used: AtomicBool::new(false),
            of_decider: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            turned_away: AtomicBool::new(false),
            current: Mutex::default(),
            bytes: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
        }
    }

    /// Lets a request in, or says why not.
    pub(crate) fn enter(self: &Arc<Self>, who: &Who) -> Result<Occupied, Full> {
        // People and agents may share an address: this machine's, or a proxy's.
        let may_be_turned_away = !matches!(who, Who::Decider(_) | Who::Anybody | Who::Challenger);
        self.of_decider
            .store(matches!(who, Who::Decider(_) | Who::Challenger), Relaxed);
        if may_be_turned_away && self.turned_away.load(Relaxed) {
            return Err(Full::Address(self.admission.room().per_address));
        }
        let mut current = self.lock();
        let counted = match who {
            Who::Agent(_) => Counted::Agent,
            Who::Decider(_) => Counted::Decider,
            Who::Stranger => Counted::Stranger,
            Who::Sender => Counted::Sender,
            Who::SignIn => Counted::Prompt,
            Who::Anybody | Who::Challenger => Counted::Not,
        };
        let is_same = |party: &Arc<Party>| party.who == *who;
        if !current.party.as_ref().is_some_and(is_same) {
            current.party = self.admission.parties.party(who);
        }
        self.admission.enter(counted, current.party.as_deref())?;
        current.counted = counted;
        self.used.store(true, Relaxed);
        self.resting.store(0, Release);
        Ok(Occupied(self.clone()))
    }

    fn left(&self) {
        let mut current = self.lock();
        let counted = std::mem::take(&mut current.counted);
        let bytes = self.bytes.swap(0, Relaxed);
        let party = current.party.as_deref();
        self.admission.leave(counted, party, bytes);
        let now = self.opened.elapsed().as_millis() as u64;
        self.resting.store(now + 1, Release);
    }

    /// Since when it could go, where it could: nothing was asked on it yet, or its last answer is long out.
    pub(super) fn idle_since(&self, now: Instant) -> Option<Instant> {
        let resting = self.resting.load(Acquire).checked_sub(1)?;
        let since = self.opened + Duration::from_millis(resting);
        let grace = if self.used.load(Relaxed) {
            RESTED
        } else {
            SILENT
        };
        let can_go = now.saturating_duration_since(since) >= grace && !self.leaving.load(Relaxed);
        can_go.then_some(since)
    }

    /// Since when nothing is in progress on it, if something was before: its last answer may still be on its
    /// way. Those of deciders come after all others.
    pub(super) fn rests_since(&self) -> Option<(bool, Instant)> {
        let resting = self.resting.load(Acquire).checked_sub(1)?;
        let can_go = self.used.load(Relaxed) && !self.leaving.load(Relaxed);
        let since = self.opened + Duration::from_millis(resting);
        can_go.then(|| (self.of_decider.load(Relaxed), since))
    }

    /// Whether the connection is to end with the answer to its request.
    pub(crate) fn ends_with_answer(&self) -> bool {
        self.admission.short.load(Relaxed) && !self.of_decider.load(Relaxed)
    }

    pub(super) fn ask_to_leave(&self) {
        self.leaving.store(true, Release);
        self.waker.wake();
    }

    pub(super) fn turn_away(&self) {
        self.turned_away.store(true, Relaxed);
    }

    /// Wakes this task when the connection is asked to leave.
    pub(crate) fn tell(&self, waker: &Waker) {
        self.waker.register(waker);
    }

    /// Whether it was asked to leave and nothing is in progress. To be called by the task that drives the
    /// connection: no request begins or ends meanwhile.
    pub(crate) fn leaves(&self) -> bool {
        self.leaving.load(Acquire) && self.resting.load(Acquire) > 0
    }

    fn lock(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Occupied {
    /// Whether nobody knows who asks.
    pub(crate) fn is_of_stranger(&self) -> bool {
        use Counted::{Prompt, Sender, SigningIn, Stranger};
        let counted = self.0.lock().counted;
        matches!(counted, Stranger | Sender | Prompt | SigningIn)
    }

    /// The request waits for its body: from now on those who sign in are counted, too.
    pub(crate) fn waits_for_body(&self) -> Result<(), Full> {
        let mut current = self.0.lock();
        if current.counted == Counted::Prompt {
            self.0.admission.enter(Counted::SigningIn, None)?;
            current.counted = Counted::SigningIn;
        }
        Ok(())
    }

    /// Lets go of some of the bytes that the request holds.
    pub(crate) fn release(&self, bytes: usize) {
        let seat = &self.0;
        let current = seat.lock();
        seat.bytes.fetch_sub(bytes, Relaxed);
        let party = current.party.as_deref();
        seat.admission.release(current.counted, party, bytes);
    }

    /// Counts bytes that the request holds from now on.
    pub(crate) fn hold(&self, bytes: usize) -> Result<(), Full> {
        let seat = &self.0;
        let current = seat.lock();
        let party = current.party.as_deref();
        seat.admission.hold(current.counted, party, bytes)?;
        seat.bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.left();
    }
}
