//! Who is let in while there is room. Requests in progress are counted for each agent and supervisor and for all of
//! them, before their bodies are read, and they may use up their share alone: people decide and stop however many
//! calls wait.

mod party;
mod room;
mod seat;
mod seats;

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use arc_swap::ArcSwap;

use self::party::{Parties, Party};
pub(crate) use self::seat::Occupied;
pub use self::{
    room::{Limits, MOST_FILES, Room},
    seat::Seat,
    seats::{Seats, Taken},
};

/// Who asks, as far as the door can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Agent(Arc<str>),
    /// By a program's key that decides or brings replies, or signed in to the console with it.
    Supervisor(Arc<str>),
    /// By the key of a human or an admin, or signed in with it.
    Person(Arc<str>),
    /// Without a key that is known, and answered at once.
    Stranger,
    /// The same with a body, which may come slowly: a webhook.
    Sender,
    /// Somebody signs in to the console. The form is short, and nearly always comes with its head.
    SignIn,
    /// What is answered at once to anybody, such as `/health`.
    Anybody,
    /// Has the gateway prove itself, before the next request on the connection says who asks.
    Challenger,
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// So many requests of this one are in progress.
    Own(usize),
    /// So many requests of agents are.
    Agents(usize),
    /// So many requests of supervisors are.
    Supervisors(usize),
    /// So many requests of strangers are.
    Strangers(usize),
    /// So many connections come from one address.
    Address(usize),
    /// The requests in progress hold so many bytes.
    Bytes(usize),
}

/// Marks an answer that is part of the program, such as a style sheet: it holds no memory, and is not counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfProgram;

#[derive(Debug, Default)]
pub struct Admission {
    room: ArcSwap<Room>,
    agents: AtomicUsize,
    supervisors: AtomicUsize,
    strangers: AtomicUsize,
    senders: AtomicUsize,
    signing_in: AtomicUsize,
    /// There are as many connections as there may be.
    short: AtomicBool,
    agents_bytes: AtomicUsize,
    supervisors_bytes: AtomicUsize,
    people_bytes: AtomicUsize,
    others_bytes: AtomicUsize,
    parties: Parties,
}

/// As whom a request in progress is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Not,
    Agent,
    Supervisor,
    Person,
    Stranger,
    Sender,
    /// Signs in, and the form is there: it is answered at once. Slow ones keep nobody else from that.
    Prompt,
    /// Signs in, and the form is awaited.
    SigningIn,
}

impl Admission {
    pub fn with_room(room: Room) -> Self {
        Self {
            room: ArcSwap::from_pointee(room),
            ..Self::default()
        }
    }

    pub fn set_room(&self, room: Room) {
        self.room.store(Arc::new(room));
    }

    pub fn room(&self) -> Arc<Room> {
        self.room.load_full()
    }

    /// Whether connections run short: then those of agents and strangers end with their answer.
    pub(crate) fn set_short(&self, short: bool) {
        if self.short.load(Relaxed) != short {
            self.short.store(short, Relaxed);
        }
    }

    /// Counts a request, or says what there is too much of.
    fn enter(&self, who: Counted, party: Option<&Party>) -> Result<(), Full> {
        let room = self.room.load();
        let of_one = party.zip(room.of_one(who));
        if let Some((party, most)) = of_one {
            let most_bytes = room.bytes_to_begin();
            if who == Counted::Agent && party.bytes.load(Relaxed) > most_bytes {
                return Err(Full::Bytes(most_bytes));
            }
            take(&party.requests, 1, most).map_err(|()| Full::Own(most))?;
        }
        let (Some(count), Some((most, full))) = (self.requests_of(who), room.of_all(who)) else {
            return Ok(());
        };
        take(count, 1, most).map_err(|()| {
            if let Some((party, _)) = of_one {
                party.requests.fetch_sub(1, Relaxed);
            }
            full
        })
    }

    fn leave(&self, who: Counted, party: Option<&Party>, bytes: usize) {
        if let Some(count) = self.requests_of(who) {
            count.fetch_sub(1, Relaxed);
        }
        if let Some(party) = party {
            party.requests.fetch_sub(1, Relaxed);
        }
        if bytes > 0 {
            self.release(who, party, bytes);
        }
    }

    /// Where requests are counted of which there may be so many altogether.
    fn requests_of(&self, who: Counted) -> Option<&AtomicUsize> {
        match who {
            Counted::Agent => Some(&self.agents),
            Counted::Supervisor => Some(&self.supervisors),
            Counted::Stranger => Some(&self.strangers),
            Counted::Sender => Some(&self.senders),
            Counted::SigningIn => Some(&self.signing_in),
            Counted::Not | Counted::Person | Counted::Prompt => None,
        }
    }

    fn release(&self, who: Counted, party: Option<&Party>, bytes: usize) {
        self.bytes_of(who).fetch_sub(bytes, Relaxed);
        if let Some(party) = party {
            party.bytes.fetch_sub(bytes, Relaxed);
        }
    }

    /// Counts bytes that a request holds until it is answered. One agent gets half of what all agents may hold.
    /// People have room of their own, and so have supervisors and all others: nobody takes anything from people.
    fn hold(&self, who: Counted, party: Option<&Party>, bytes: usize) -> Result<(), Full> {
        let most = self.room.load().held_bytes;
        let most = if who == Counted::Agent {
            most
        } else {
            most / 4
        };
        if let Some(party) = party {
            take(&party.bytes, bytes, most / 2).map_err(|()| Full::Bytes(most / 2))?;
        }
        take(self.bytes_of(who), bytes, most).map_err(|()| {
            if let Some(party) = party {
                party.bytes.fetch_sub(bytes, Relaxed);
            }
            Full::Bytes(most)
        })
    }

    fn bytes_of(&self, who: Counted) -> &AtomicUsize {
        match who {
            Counted::Agent => &self.agents_bytes,
            Counted::Supervisor => &self.supervisors_bytes,
            Counted::Person => &self.people_bytes,
            _ => &self.others_bytes,
        }
    }
}

/// Adds, unless that would be more than `most`.
fn take(count: &AtomicUsize, more: usize, most: usize) -> Result<(), ()> {
    let before = count.fetch_add(more, Relaxed);
    if before.saturating_add(more) <= most {
        return Ok(());
    }
    count.fetch_sub(more, Relaxed);
    Err(())
}

#[cfg(test)]
mod tests;
