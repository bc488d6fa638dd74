//! One-time links: a secret that signs in once, within a short time. Opening the link shows a button, and only
//! the button uses it, so that whatever looks at links before people do cannot use it up.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use provost_core::{
    key::{Key, KeyHash},
    time::Time,
};

use super::session::secret;
use crate::app::App;

pub(super) const LIFE: Duration = Duration::from_mins(10);
const MOST: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Links {
    made: Mutex<HashMap<KeyHash, Link>>,
}

#[derive(Debug)]
struct Link {
    /// Of the key it signs in with.
    key: KeyHash,
    until: Time,
}

impl Links {
    fn make(&self, key: KeyHash, now: Time) -> String {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|_, link| now < link.until);
        if made.len() >= MOST {
            let oldest = made.iter().min_by_key(|(_, link)| link.until);
            if let Some(hash) = oldest.map(|(hash, _)| *hash) {
                made.remove(&hash);
            }
        }
        let token = secret();
        let until = now.plus(LIFE);
        made.insert(KeyHash::of(&token), Link { key, until });
        token
    }

    /// Uses a link up.
    pub(super) fn take(&self, token: &str, now: Time) -> Option<KeyHash> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let link = made.remove(&KeyHash::of(token))?;
        (now < link.until).then_some(link.key)
    }
}

/// Where somebody signs in with that key, once: the path and query of the address.
pub fn one_time_link(app: &App, key: &Key) -> String {
    let token = app.console.links.make(key.hash, app.gate.now());
    format!("/console/login?token={token}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_works_once_and_not_for_long() {
        let (links, now) = (Links::default(), Time::from_millis(1_000_000));
        let key = KeyHash::of("key");
        let token = links.make(key, now);
        assert!(links.take("other", now).is_none());
        assert_eq!(links.take(&token, now), Some(key));
        assert_eq!(links.take(&token, now), None);
        let token = links.make(key, now);
        assert_eq!(links.take(&token, now.plus(LIFE)), None);
    }
}
