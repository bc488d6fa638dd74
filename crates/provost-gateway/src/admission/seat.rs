//! One connection: the request that is in progress on it, how long it has rested, and whether it is to leave.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
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

#[derive(Debug)]
pub struct Seat {
    admission: Arc<Admission>,
    opened: Instant,
    /// Milliseconds after it was opened since which it rests, and one; zero while a request is in progress.
    resting: AtomicU64,
    used: AtomicBool,
    /// Its last request was of a human or an admin, or of one who may say so with the next.
    of_person: AtomicBool,
    leaving: AtomicBool,
    turned_away: AtomicBool,
    /// Of the last request: most connections serve one caller.
    party: Mutex<Option<Arc<Party>>>,
    /// Requests in progress: the next may begin while the last answer is on its way.
    in_progress: AtomicUsize,
    waker: AtomicWaker,
}

/// A request in progress. Dropped when its answer is complete, or small enough to be sent at once.
#[derive(Debug)]
pub(crate) struct Occupied {
    seat: Arc<Seat>,
    counted: Counted,
    party: Option<Arc<Party>>,
    bytes: AtomicUsize,
    /// It is counted among those who sign in slowly.
    is_slow: AtomicBool,
    /// It keeps its connection from being asked to leave.
    is_seated: AtomicBool,
}

impl Seat {
    pub fn new(admission: Arc<Admission>) -> Self {
        Self {
            admission,
            opened: Instant::now(),
            resting: AtomicU64::new(1),
            used: AtomicBool::new(false),
            of_person: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            turned_away: AtomicBool::new(false),
            party: Mutex::default(),
            in_progress: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
        }
    }

    /// Lets a request in, or says why not.
    pub(crate) fn enter(self: &Arc<Self>, who: &Who) -> Result<Occupied, Full> {
        // People and agents may share an address: this machine's, or a proxy's.
        let is_person = matches!(who, Who::Person(_) | Who::Challenger);
        let may_be_turned_away = !is_person && !matches!(who, Who::Supervisor(_) | Who::Anybody);
        self.of_person.store(is_person, Relaxed);
        if may_be_turned_away && self.turned_away.load(Relaxed) {
            return Err(Full::Address(self.admission.room().per_address));
        }
        let counted = match who {
            Who::Agent(_) => Counted::Agent,
            Who::Supervisor(_) => Counted::Supervisor,
            Who::Person(_) => Counted::Person,
            Who::Stranger => Counted::Stranger,
            Who::Sender => Counted::Sender,
            Who::SignIn => Counted::Prompt,
            Who::Anybody | Who::Challenger => Counted::Not,
        };
        let party = self.party(who);
        self.admission.enter(counted, party.as_deref())?;
        self.used.store(true, Relaxed);
        self.in_progress.fetch_add(1, Relaxed);
        self.resting.store(0, Release);
        Ok(Occupied {
            seat: self.clone(),
            counted,
            party,
            bytes: AtomicUsize::new(0),
            is_slow: AtomicBool::new(false),
            is_seated: AtomicBool::new(true),
        })
    }

    fn party(&self, who: &Who) -> Option<Arc<Party>> {
        let mut last = self.party.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |party: &Arc<Party>| party.who == *who;
        if !last.as_ref().is_some_and(is_same) {
            *last = self.admission.parties.party(who);
        }
        last.clone()
    }

    fn left(&self) {
        if self.in_progress.fetch_sub(1, Relaxed) > 1 {
            return;
        }
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
    /// way. Those of people come after all others.
    pub(super) fn rests_since(&self) -> Option<(bool, Instant)> {
        let resting = self.resting.load(Acquire).checked_sub(1)?;
        let can_go = self.used.load(Relaxed) && !self.leaving.load(Relaxed);
        let since = self.opened + Duration::from_millis(resting);
        can_go.then(|| (self.of_person.load(Relaxed), since))
    }

    /// Whether the connection is to end with the answer to its request.
    pub(crate) fn ends_with_answer(&self) -> bool {
        self.admission.short.load(Relaxed) && !self.of_person.load(Relaxed)
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
}

impl Occupied {
    /// Whether nobody knows who asks.
    pub(crate) fn is_of_stranger(&self) -> bool {
        use Counted::{Prompt, Sender, Stranger};
        matches!(self.counted, Stranger | Sender | Prompt)
    }

    /// The request waits for its body: from now on those who sign in are counted, too.
    pub(crate) fn waits_for_body(&self) -> Result<(), Full> {
        if self.counted == Counted::Prompt && !self.is_slow.load(Relaxed) {
            self.seat.admission.enter(Counted::SigningIn, None)?;
            self.is_slow.store(true, Relaxed);
        }
        Ok(())
    }

    /// The answer is ready, and may be taken slowly. Of requests that nobody counts there may be any number, so
    /// that their connections can be asked to leave from now on.
    pub(crate) fn answered(&self) {
        if matches!(self.counted, Counted::Not | Counted::Prompt) {
            self.leave_seat();
        }
    }

    fn leave_seat(&self) {
        if self.is_seated.swap(false, Relaxed) {
            self.seat.left();
        }
    }

    /// Counts bytes that the request holds from now on.
    pub(crate) fn hold(&self, bytes: usize) -> Result<(), Full> {
        let admission = &self.seat.admission;
        admission.hold(self.counted, self.party.as_deref(), bytes)?;
        self.bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Lets go of some of the bytes that the request holds.
    pub(crate) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
        let admission = &self.seat.admission;
        admission.release(self.counted, self.party.as_deref(), bytes);
    }
}

impl Drop for Occupied {
    fn drop(&mut self) {
        let admission = &self.seat.admission;
        if self.is_slow.load(Relaxed) {
            admission.leave(Counted::SigningIn, None, 0);
        }
        let (party, bytes) = (self.party.as_deref(), self.bytes.load(Relaxed));
        admission.leave(self.counted, party, bytes);
        self.leave_seat();
    }
}
