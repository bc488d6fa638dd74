//! Who is signed in to the console. Sessions live in memory and hold no secret: what a browser keeps is found
//! here by its hash, and belongs to a key, with which it ends.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::{
    control::Control,
    ids::{hex, random_bytes},
    key::{Key, KeyHash},
    time::Time,
};

pub(super) const LONGEST: Duration = Duration::from_hours(7 * 24);
const IDLE: Duration = Duration::from_hours(12);
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: Mutex<HashMap<KeyHash, Session>>,
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    /// Of the key that signed in.
    key: KeyHash,
    /// Stands in every form of this session.
    pub(super) csrf: Arc<str>,
    opened: Time,
    seen: Time,
}

impl Session {
    fn lasts(&self, now: Time) -> bool {
        now.since(self.opened) < LONGEST && now.since(self.seen) < IDLE
    }

    /// The key as it is now: a removed one opens nothing, also not under its name.
    pub(super) fn key(&self, control: &Control) -> Option<Arc<Key>> {
        control.keys().find(|key| key.hash.same(&self.key)).cloned()
    }
}

impl Sessions {
    /// Signs somebody in; what is returned is for their browser alone.
    pub(super) fn open(&self, key: KeyHash, now: Time) -> String {
        let secret = secret();
        let session = Session {
            key,
            csrf: self::secret().into(),
            opened: now,
            seen: now,
        };
        let mut open = self.lock();
        if open.len() >= MOST {
            open.retain(|_, session| session.lasts(now));
        }
        if open.len() >= MOST {
            let idlest = open.iter().min_by_key(|(_, session)| session.seen);
            if let Some(hash) = idlest.map(|(hash, _)| *hash) {
                open.remove(&hash);
            }
        }
        open.insert(KeyHash::of(&secret), session);
        secret
    }

    /// The session of a browser's secret. What a page fetches by itself does not keep it alive.
    pub(super) fn find(&self, secret: &str, now: Time, by_hand: bool) -> Option<Session> {
        let hash = KeyHash::of(secret);
        let mut open = self.lock();
        let session = open.get_mut(&hash)?;
        if !session.lasts(now) {
            open.remove(&hash);
            return None;
        }
        if by_hand {
            session.seen = now;
        }
        Some(session.clone())
    }

    pub(super) fn close(&self, secret: &str) {
        self.lock().remove(&KeyHash::of(secret));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyHash, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn secret() -> String {
    hex(&random_bytes::<32>())
}

/// In constant time.
pub(super) fn same(given: &str, expected: &str) -> bool {
    KeyHash::of(given).same(&KeyHash::of(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_millis(1_000_000);

    #[test]
    fn a_session_ends_when_idle_and_at_last() {
        let sessions = Sessions::default();
        let secret = sessions.open(KeyHash::of("key"), START);
        let mut now = START;
        for _ in 0..14 {
            now = now.plus(IDLE.saturating_sub(Duration::from_mins(1)));
            let found = sessions.find(&secret, now, true).is_some();
            assert_eq!(found, now.since(START) < LONGEST, "{now}");
        }
        let secret = sessions.open(KeyHash::of("key"), START);
        let later = START.plus(IDLE.saturating_sub(Duration::from_mins(1)));
        assert!(sessions.find(&secret, later, false).is_some());
        assert!(sessions.find(&secret, START.plus(IDLE), false).is_none());
        assert!(sessions.find("other", START, true).is_none());
    }

    #[test]
    fn the_idlest_makes_room() {
        let sessions = Sessions::default();
        let first = sessions.open(KeyHash::of("key"), START);
        for n in 1..=MOST {
            sessions.open(
                KeyHash::of("key"),
                START.plus(Duration::from_secs(n as u64)),
            );
        }
        assert_eq!(sessions.lock().len(), MOST);
        assert!(sessions.find(&first, START, true).is_none());
    }
}
