//! Who is signed in to the console. The store has it, so that every replica knows and a restart signs nobody
//! out; what it said is remembered here for a few seconds, because a page asks often.
//!
//! A sign-out holds at once on the replica that it reached, and within [`FRESH`] on the others. A removed key
//! ends its sessions as soon as a replica knows of it, whatever is remembered.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::{
    control::Control,
    ids::{hex, random_bytes},
    key::{Key, KeyHash},
    ports::{Store, StoreError},
    sign_in::SignIn,
    time::Time,
};

/// For so long the store is not asked again.
const FRESH: Duration = Duration::from_secs(5);
/// How exactly it is known when somebody was there last.
const SEEN_EVERY: Duration = Duration::from_mins(1);
/// What is remembered.
const MOST: usize = 1000;
/// Of the secrets that browsers keep, in hex.
const SECRET: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    known: HashMap<KeyHash, Known>,
    /// How many were closed here: what was read before that is not remembered.
    closed: u64,
}

#[derive(Debug)]
struct Known {
    sign_in: SignIn,
    read_at: Time,
}

#[derive(Clone, Debug)]
pub(super) struct Session {
    /// Of the key that signed in.
    key: KeyHash,
    /// Stands in every form of this session.
    pub(super) csrf: Arc<str>,
    /// Stands on no page: marks are made with it.
    seal: Arc<str>,
}

impl Session {
    /// The key as it is now: a removed one opens nothing, also not under its name.
    pub(super) fn key(&self, control: &Control) -> Option<Arc<Key>> {
        control.key_by_hash(&self.key).cloned()
    }

    /// What a form carries to say that this session was shown something of an approval. Nobody can make it from
    /// what stands on a page, and it is of no use for another approval or in another session.
    pub(super) fn mark(&self, what: &str, approval: &str) -> String {
        hex(&KeyHash::of(&format!("{what}:{approval}:{}", self.seal)).0)
    }
}

impl Sessions {
    /// Signs somebody in; what is returned is for their browser alone.
    pub(super) async fn open(
        &self,
        store: &dyn Store,
        key: KeyHash,
        now: Time,
    ) -> Result<String, StoreError> {
        let secret = secret();
        let new = SignIn {
            secret: KeyHash::of(&secret),
            key,
            since: now,
            seen_at: now,
        };
        store.sign_in(new).await?;
        Ok(secret)
    }

    /// The session of a browser's secret. What a page fetches by itself does not keep it alive.
    pub(super) async fn find(
        &self,
        store: &dyn Store,
        secret: &str,
        now: Time,
        by_hand: bool,
    ) -> Result<Option<Session>, StoreError> {
        if secret.len() != SECRET {
            return Ok(None);
        }
        let hash = KeyHash::of(secret);
        let found = match self.remembered(&hash, now) {
            Some(known) => Some(known),
            None => self.read(store, &hash, now).await?,
        };
        let Some(sign_in) = found.filter(|sign_in| sign_in.lasts(now)) else {
            return Ok(None);
        };
        if by_hand && now.since(sign_in.seen_at) >= SEEN_EVERY {
            store.sign_in_seen(&hash, now).await?;
            if let Some(known) = self.lock().known.get_mut(&hash) {
                known.sign_in.seen_at = now;
            }
        }
        Ok(Some(Session {
            key: sign_in.key,
            csrf: derived("form", secret),
            seal: derived("seal", secret),
        }))
    }

    pub(super) async fn close(&self, store: &dyn Store, secret: &str) -> Result<(), StoreError> {
        let hash = KeyHash::of(secret);
        store.sign_out(&hash).await?;
        let mut memory = self.lock();
        memory.known.remove(&hash);
        memory.closed += 1;
        Ok(())
    }

    /// The key of a session that the store knew when it was last asked, however long ago.
    pub(super) fn seen(&self, secret: &str) -> Option<KeyHash> {
        if secret.len() != SECRET {
            return None;
        }
        let memory = self.lock();
        let known = memory.known.get(&KeyHash::of(secret))?;
        Some(known.sign_in.key)
    }

    fn remembered(&self, hash: &KeyHash, now: Time) -> Option<SignIn> {
        let memory = self.lock();
        let known = memory.known.get(hash)?;
        (now.since(known.read_at) < FRESH).then(|| known.sign_in.clone())
    }

    async fn read(
        &self,
        store: &dyn Store,
        hash: &KeyHash,
        now: Time,
    ) -> Result<Option<SignIn>, StoreError> {
        let closed = self.lock().closed;
        let found = store.signed_in(hash).await?;
        let mut memory = self.lock();
        if memory.closed != closed {
            return Ok(found);
        }
        match &found {
            Some(sign_in) => memory.remember(sign_in.clone(), now),
            None => drop(memory.known.remove(hash)),
        }
        Ok(found)
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn remember(&mut self, sign_in: SignIn, now: Time) {
        if self.known.len() >= MOST {
            self.known
                .retain(|_, known| now.since(known.read_at) < FRESH);
        }
        if self.known.len() < MOST {
            let read_at = now;
            self.known
                .insert(sign_in.secret, Known { sign_in, read_at });
        }
    }
}

pub(super) fn secret() -> String {
    hex(&random_bytes::<32>())
}

/// Follows from the secret, which does not follow from it.
fn derived(purpose: &str, secret: &str) -> Arc<str> {
    hex(&KeyHash::of(&format!("{purpose}:{secret}")).0).into()
}

/// In constant time.
pub(super) fn same(given: &str, expected: &str) -> bool {
    KeyHash::of(given).same(&KeyHash::of(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_millis(1_000_000);

    #[tokio::test]
    async fn replicas_agree_within_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provost.db");
        let config = provost_store::StoreConfig::Sqlite { path };
        let store = provost_store::open(&config).await.unwrap();
        let (here, there) = (Sessions::default(), Sessions::default());
        let find = async |on: &Sessions, secret: &str, now: Time, by_hand: bool| {
            let found = on.find(&*store, secret, now, by_hand).await;
            found.unwrap().is_some()
        };
        let key = KeyHash::of("key");
        let secret = here.open(&*store, key, START).await.unwrap();
        let almost = |hours: u64| START.plus(Duration::from_hours(hours)).minus(FRESH);
        assert!(find(&here, &secret, almost(12), true).await);
        assert!(find(&there, &secret, almost(23), false).await, "seen here");
        assert!(!find(&there, &secret, almost(25), false).await, "idle");

        let secret = here.open(&*store, key, START).await.unwrap();
        for sessions in [&here, &there] {
            assert!(find(sessions, &secret, START, true).await);
        }
        here.close(&*store, &secret).await.unwrap();
        assert!(!find(&here, &secret, START, true).await, "at once");
        assert!(find(&there, &secret, START, true).await);
        assert!(!find(&there, &secret, START.plus(FRESH), true).await);
        assert!(!find(&here, "short", START, true).await);
        store.close().await;
    }

    #[test]
    fn memory_is_bounded_and_short() {
        let sessions = Sessions::default();
        let sign_in = |n: usize| SignIn {
            secret: KeyHash::of(&n.to_string()),
            key: KeyHash::of("key"),
            since: START,
            seen_at: START,
        };
        for n in 0..MOST + 10 {
            sessions.lock().remember(sign_in(n), START);
        }
        assert_eq!(sessions.lock().known.len(), MOST);
        let hash = sign_in(0).secret;
        assert!(sessions.remembered(&hash, START).is_some());
        assert!(sessions.remembered(&hash, START.plus(FRESH)).is_none());
        sessions.lock().remember(sign_in(MOST), START.plus(FRESH));
        assert_eq!(sessions.lock().known.len(), 1);
    }

    #[test]
    fn a_form_does_not_tell_the_secret() {
        let secret = secret();
        assert_eq!(secret.len(), SECRET);
        assert_ne!(&*derived("form", &secret), secret);
        assert_ne!(derived("form", &secret), derived("form", &self::secret()));
    }

    #[test]
    fn p14_a_mark_is_for_one_approval_and_one_session() {
        let session = |secret: &str| Session {
            key: KeyHash::of("key"),
            csrf: derived("form", secret),
            seal: derived("seal", secret),
        };
        let (one, other) = (session("one"), session("other"));
        let mark = one.mark("seen", "a");
        assert_eq!(mark, one.mark("seen", "a"));
        for different in [
            one.mark("seen", "b"),
            one.mark("confirmed", "a"),
            other.mark("seen", "a"),
        ] {
            assert_ne!(mark, different);
        }
    }
}
