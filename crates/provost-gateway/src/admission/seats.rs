//! All connections. When there is no room for another, the one that has rested longest leaves; if none has
//! rested for long, one that is between two requests.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{Admission, Seat};

/// So many leave at once that looking for them is not done for every newcomer: one of this many.
const SHARE: usize = 32;
/// Of those that rested for less, one leaves.
const LONG: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Seats {
    admission: Arc<Admission>,
    table: Mutex<Table>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    taken: HashMap<u64, (IpAddr, Arc<Seat>)>,
    addresses: HashMap<IpAddr, usize>,
}

/// A connection's place among all. Dropped when the connection ends.
#[derive(Debug)]
pub struct Taken {
    seats: Arc<Seats>,
    number: u64,
    address: IpAddr,
    pub seat: Arc<Seat>,
}

impl Seats {
    pub fn new(admission: Arc<Admission>) -> Arc<Self> {
        Arc::new(Self {
            admission,
            table: Mutex::default(),
            freed: Notify::new(),
        })
    }

    pub fn is_full(&self) -> bool {
        let is_full = self.lock().taken.len() >= self.admission.room().connections();
        self.admission.set_short(is_full);
        is_full
    }

    /// A connection from there. This machine's own address is everybody's here; where another has more than its
    /// share, one of its own that rests leaves, or, if all of them are in use, the newcomer is told so when it
    /// asks for something.
    pub fn take(self: &Arc<Self>, address: IpAddr, now: Instant) -> Taken {
        let address = address.to_canonical();
        let seat = Arc::new(Seat::new(self.admission.clone()));
        let most = self.admission.room().per_address;
        let mut table = self.lock();
        let of_address = table.addresses.get(&address).copied().unwrap_or(0);
        let is_over = of_address >= most && !address.is_loopback();
        if is_over && !table.dismiss(Some(address), 1, now) {
            seat.turn_away();
        }
        table.next += 1;
        let number = table.next;
        table.taken.insert(number, (address, seat.clone()));
        *table.addresses.entry(address).or_default() += 1;
        Taken {
            seats: self.clone(),
            number,
            address,
            seat,
        }
    }

    /// Asks some that rest to leave. `false`: none does.
    pub fn make_room(&self, now: Instant) -> bool {
        let mut table = self.lock();
        let some = table.taken.len().div_ceil(SHARE);
        table.dismiss(None, some, now) || table.dismiss_between_requests()
    }

    /// Completes when a connection has ended since this was called.
    pub fn freed(&self) -> tokio::sync::futures::Notified<'_> {
        self.freed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn dismiss(&mut self, only: Option<IpAddr>, some: usize, now: Instant) -> bool {
        let seats = self.taken.values();
        let mut idle: Vec<(Instant, &Arc<Seat>)> = seats
            .filter(|(address, _)| only.is_none_or(|only| only == *address))
            .filter_map(|(_, seat)| Some((seat.idle_since(now)?, seat)))
            .collect();
        if idle.len() > some {
            idle.select_nth_unstable_by_key(some, |(since, _)| *since);
            idle.truncate(some);
        }
        let Some(oldest) = idle.iter().map(|(since, _)| *since).min() else {
            return false;
        };
        let leave = idle
            .iter()
            .filter(|(since, _)| *since == oldest || now.saturating_duration_since(*since) >= LONG);
        leave.for_each(|(_, seat)| seat.ask_to_leave());
        true
    }
}

impl Table {
    /// However short its rest: whoever asks something every moment would keep its place for ever.
    fn dismiss_between_requests(&self) -> bool {
        let seats = self.taken.values();
        let resting = seats.filter_map(|(_, seat)| Some((seat.rests_since()?, seat)));
        match resting.min_by_key(|(rests, _)| *rests) {
            Some((_, seat)) => {
                seat.ask_to_leave();
                true
            }
            None => false,
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut table = self.seats.lock();
        table.taken.remove(&self.number);
        if let Some(count) = table.addresses.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                table.addresses.remove(&self.address);
            }
        }
        drop(table);
        self.seats.freed.notify_one();
    }
}
