//! How much there is room for, by the files that this process may open. A connection is one; a call that is
//! forwarded needs another for its backend.

use super::{Counted, Full};

/// What the configuration says. What it leaves out follows from the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    pub requests_per_agent: Option<usize>,
    pub waiting_per_agent: Option<usize>,
    pub connections_per_address: Option<usize>,
    pub held_bytes: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Requests of agents in progress, altogether and of one.
    pub agents: usize,
    pub per_agent: usize,
    /// Connections beside those: of people, of strangers, and those that rest between requests.
    pub people: usize,
    /// Files of connections to backends and of programs.
    pub backends: usize,
    pub per_address: usize,
    /// Calls that wait for a decision, altogether and of one agent.
    pub waiting: usize,
    pub waiting_per_agent: usize,
    /// What the bodies of agents' requests in progress, and their answers until they are taken, may take.
    pub held_bytes: usize,
}

/// More files than this are of no use to us, and programs that we start may be slow with many.
pub const MOST_FILES: u64 = 65_536;
const USUAL_HELD: usize = 128 << 20;

impl Default for Room {
    fn default() -> Self {
        Self::of(MOST_FILES, Limits::default())
    }
}

impl Room {
    pub fn of(files: u64, limits: Limits) -> Self {
        let files = usize::try_from(files.min(MOST_FILES)).unwrap_or(usize::MAX);
        // The store, logs, servers and programs that run here.
        let own = (files / 8).clamp(16, 512);
        let people = (files / 8).clamp(8, 512);
        // A quarter of the rest is left for backends.
        let rest = files.saturating_sub(own + people);
        let agents = (rest / 4 * 3).max(4);
        let per_agent = limits.requests_per_agent.unwrap_or(agents / 2);
        let per_agent = per_agent.clamp(1, agents);
        // Others' calls that are answered at once still find room.
        let waiting = agents - agents / 8;
        let waiting_per_agent = limits.waiting_per_agent.unwrap_or(agents / 4);
        let per_address = limits.connections_per_address;
        Self {
            agents,
            per_agent,
            people,
            backends: rest.saturating_sub(agents).max(4),
            per_address: per_address.unwrap_or(agents + people / 4 * 3).max(1),
            waiting,
            waiting_per_agent: waiting_per_agent.clamp(1, waiting),
            held_bytes: limits.held_bytes.unwrap_or(USUAL_HELD),
        }
    }

    pub fn connections(&self) -> usize {
        self.agents + self.people
    }

    /// Requests that may be in progress by all who are counted like this, and what is said to more of them. What
    /// these leave of [`Self::people`] is for humans and admins alone.
    pub(super) fn of_all(&self, who: Counted) -> Option<(usize, Full)> {
        let supervisors = self.people / 4;
        match who {
            Counted::Agent => Some((self.agents, Full::Agents(self.agents))),
            Counted::Supervisor => Some((supervisors, Full::Supervisors(supervisors))),
            Counted::Stranger | Counted::Sender | Counted::SigningIn => {
                let strangers = self.strangers();
                Some((strangers, Full::Strangers(strangers)))
            }
            Counted::Not | Counted::Person | Counted::Prompt => None,
        }
    }

    /// Requests that may be in progress by one agent or key: one that runs wild leaves room for others.
    pub(super) fn of_one(&self, who: Counted) -> Option<usize> {
        match who {
            Counted::Agent => Some(self.per_agent),
            Counted::Supervisor => Some((self.people / 8).max(1)),
            Counted::Person => Some((self.people / 4).max(1)),
            _ => None,
        }
    }

    /// An agent that holds more than this begins nothing: what it begins has an answer, which needs room, too.
    pub fn bytes_to_begin(&self) -> usize {
        self.held_bytes / 8 * 3
    }

    /// Requests in progress of those whom nobody knows: so many with a body, so many that sign in slowly, and so many
    /// without.
    fn strangers(&self) -> usize {
        (self.people / 8).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Counted::{Person, Sender, SigningIn, Stranger, Supervisor},
        *,
    };

    #[test]
    fn p10_people_and_backends_keep_room_however_few_files_there_are() {
        for files in [64, 256, 1024, 4096, 20_000, 65_536, 1 << 30] {
            let room = Room::of(files, Limits::default());
            let used = (room.connections() + room.backends) as u64;
            let files = files.min(MOST_FILES);
            assert!(used + 16 <= files, "{files}: {room:?}");
            assert!(room.people >= 8 && room.per_agent < room.agents);
            assert!(room.waiting < room.agents);
            assert!(room.waiting_per_agent < room.per_agent);
            assert!(room.per_address > room.agents && room.per_address < room.connections());
            let most = |who| room.of_all(who).map_or(0, |(most, _)| most);
            let others = [Supervisor, Stranger, Sender, SigningIn].map(most);
            let left = room.people - others.iter().sum::<usize>();
            assert!(others.iter().all(|most| *most > 0), "{others:?}");
            let of_one = room.of_one(Person).unwrap();
            assert!(left > of_one, "{left} for people, {of_one} for one");
        }
        let usual = Room::of(1024, Limits::default());
        assert_eq!(
            (usual.agents, usual.people, usual.per_agent),
            (576, 128, 288)
        );
        assert_eq!(usual.waiting_per_agent, 144);
        // As many as the benchmark has waiting, on a machine that allows 20,000 files.
        assert!(Room::of(20_000, Limits::default()).waiting >= 10_000);
    }

    #[test]
    fn p10_what_the_configuration_says_counts_as_far_as_there_is_room() {
        let limits = Limits {
            requests_per_agent: Some(10_000),
            waiting_per_agent: Some(10),
            connections_per_address: Some(20),
            held_bytes: Some(1 << 20),
        };
        let room = Room::of(1024, limits);
        assert_eq!((room.per_agent, room.waiting_per_agent), (room.agents, 10));
        assert_eq!((room.per_address, room.held_bytes), (20, 1 << 20));
    }
}
