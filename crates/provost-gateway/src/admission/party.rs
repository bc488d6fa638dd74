//! What one agent, or one key that decides, has in progress. A connection keeps the party of its last request, so
//! that the table is looked at once for each connection and not for each request.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak, atomic::AtomicUsize},
};

use super::Who;

/// The table is tidied when it has grown by this much.
const TIDY: usize = 1024;

#[derive(Debug)]
pub(super) struct Party {
    pub(super) who: Who,
    pub(super) requests: AtomicUsize,
    pub(super) bytes: AtomicUsize,
}

/// Those who have a connection.
#[derive(Debug, Default)]
pub(super) struct Parties(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    agents: HashMap<Arc<str>, Weak<Party>>,
    deciders: HashMap<Arc<str>, Weak<Party>>,
    tidied: usize,
}

impl Parties {
    pub(super) fn party(&self, who: &Who) -> Option<Arc<Party>> {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.tidy();
        let (parties, name) = match who {
            Who::Agent(name) => (&mut table.agents, name),
            Who::Supervisor(name) | Who::Person(name) => (&mut table.deciders, name),
            Who::Stranger | Who::Sender | Who::SignIn | Who::Anybody | Who::Challenger => {
                return None;
            }
        };
        if let Some(party) = parties.get(name).and_then(Weak::upgrade) {
            return Some(party);
        }
        let party = Arc::new(Party {
            who: who.clone(),
            requests: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
        });
        parties.insert(name.clone(), Arc::downgrade(&party));
        Some(party)
    }
}

impl Table {
    /// Agents may name themselves: those who left are forgotten.
    fn tidy(&mut self) {
        if self.agents.len() + self.deciders.len() < self.tidied + TIDY {
            return;
        }
        for parties in [&mut self.agents, &mut self.deciders] {
            parties.retain(|_, party| party.strong_count() > 0);
        }
        self.tidied = self.agents.len() + self.deciders.len();
    }
}
