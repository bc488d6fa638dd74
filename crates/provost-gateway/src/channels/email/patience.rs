//! How often we answer mails that decide nothing, and which mails came before: bounded, so that two programs
//! that write to each other stop, and that a mail sent twice counts once.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
};

use provost_core::ids::DeliveryId;

/// Mails that tell one person about one question that their reply decided nothing.
const MOST_AGAIN: u32 = 3;
/// What is remembered. The oldest is forgotten first.
const MOST: usize = 4096;

#[derive(Default)]
pub(super) struct Patience(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    told: HashMap<DeliveryId, u32>,
    told_order: VecDeque<DeliveryId>,
    warned: HashSet<DeliveryId>,
    warned_order: VecDeque<DeliveryId>,
    seen: HashSet<String>,
    seen_order: VecDeque<String>,
}

impl Patience {
    /// Whether to tell once more, which then counts.
    pub(super) fn may_tell(&self, id: &DeliveryId) -> bool {
        let mut memory = self.lock();
        let Memory {
            told, told_order, ..
        } = &mut *memory;
        if !told.contains_key(id) {
            remember(told_order, id.clone(), |oldest| {
                told.remove(oldest);
            });
        }
        let count = told.entry(id.clone()).or_default();
        *count += 1;
        *count <= MOST_AGAIN
    }

    /// Whether to warn that somebody may use this person's address: once.
    pub(super) fn may_warn(&self, id: &DeliveryId) -> bool {
        let mut memory = self.lock();
        let Memory {
            warned,
            warned_order,
            ..
        } = &mut *memory;
        let first = warned.insert(id.clone());
        if first {
            remember(warned_order, id.clone(), |oldest| {
                warned.remove(oldest);
            });
        }
        first
    }

    pub(super) fn has_seen(&self, message_id: &str) -> bool {
        self.lock().seen.contains(message_id)
    }

    pub(super) fn saw(&self, message_id: &str) {
        let mut memory = self.lock();
        let Memory {
            seen, seen_order, ..
        } = &mut *memory;
        if seen.insert(message_id.to_owned()) {
            remember(seen_order, message_id.to_owned(), |oldest| {
                seen.remove(oldest);
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember<T: Hash + Eq>(order: &mut VecDeque<T>, new: T, forget: impl FnOnce(&T)) {
    order.push_back(new);
    if order.len() > MOST
        && let Some(oldest) = order.pop_front()
    {
        forget(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_told_a_few_times_and_no_more() {
        let patience = Patience::default();
        let (one, other) = (DeliveryId::random(), DeliveryId::random());
        let told = (0..10).filter(|_| patience.may_tell(&one)).count();
        assert_eq!(told, MOST_AGAIN as usize);
        assert!(patience.may_tell(&other));
        assert!(patience.may_warn(&one), "counted apart");
        assert!(!patience.may_warn(&one));
        assert!(patience.may_warn(&other));
    }

    #[test]
    fn memory_is_bounded() {
        let patience = Patience::default();
        for n in 0..MOST + 10 {
            patience.saw(&n.to_string());
            patience.may_tell(&DeliveryId::random());
            patience.may_warn(&DeliveryId::random());
        }
        assert!(!patience.has_seen("0"));
        assert!(patience.has_seen(&(MOST + 9).to_string()));
        let memory = patience.lock();
        assert!(memory.seen.len() <= MOST && memory.told.len() <= MOST);
        assert!(memory.warned.len() <= MOST);
    }
}
