//! Who is signed in to the console. A browser keeps a secret, and this is found by its hash; it belongs to a
//! key, and is worth what that key is worth now.

use std::time::Duration;

use crate::{key::KeyHash, time::Time};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignIn {
    /// Of what the browser keeps.
    pub secret: KeyHash,
    /// Of the key that signed in.
    pub key: KeyHash,
    pub since: Time,
    pub seen_at: Time,
}

/// A link that signs in with a key, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInLink {
    /// Of what the link holds.
    pub secret: KeyHash,
    pub key: KeyHash,
    pub until: Time,
}

impl SignIn {
    pub const LONGEST: Duration = Duration::from_hours(7 * 24);
    pub const IDLE: Duration = Duration::from_hours(12);
    /// Of one key. One more, and the idlest goes: nobody can crowd out others.
    pub const MOST: usize = 50;

    pub fn lasts(&self, now: Time) -> bool {
        now.since(self.since) < Self::LONGEST && now.since(self.seen_at) < Self::IDLE
    }
}

impl SignInLink {
    pub const LIFE: Duration = Duration::from_mins(10);
    /// Of one key. One more, and the oldest goes.
    pub const MOST: usize = 20;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_idle_and_at_last() {
        let start = Time::from_millis(1_000_000);
        let at = |hours: u64| start.plus(Duration::from_hours(hours));
        for (seen, now, expected) in [
            (0, 11, true),
            (0, 12, false),
            (11, 22, true),
            (160, 167, true),
            (167, 168, false),
        ] {
            let sign_in = SignIn {
                secret: KeyHash::of("secret"),
                key: KeyHash::of("key"),
                since: start,
                seen_at: at(seen),
            };
            assert_eq!(sign_in.lasts(at(now)), expected, "{seen} {now}");
        }
    }
}
