//! Failed attempts with keys, counted by address. A valid key always passes, so that nobody on this
//! machine can lock its owner out by guessing.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use provost_core::time::Time;

const MAX_FAILED: u32 = 20;
const WINDOW: Duration = Duration::from_mins(1);
const MAX_ADDRESSES: usize = 10_000;

#[derive(Debug, Default)]
pub struct Attempts {
    failed: Mutex<HashMap<IpAddr, Failed>>,
}

#[derive(Debug)]
struct Failed {
    since: Time,
    count: u32,
}

impl Attempts {
    /// Counts a failure; seconds to wait once there were too many.
    pub fn failed(&self, address: IpAddr, now: Time) -> Option<u64> {
        let mut table = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= MAX_ADDRESSES {
            table.retain(|_, failed| now.since(failed.since) < WINDOW);
        }
        if table.len() >= MAX_ADDRESSES && !table.contains_key(&address) {
            return Some(WINDOW.as_secs());
        }
        let failed = table.entry(address).or_insert(Failed {
            since: now,
            count: 0,
        });
        if now.since(failed.since) >= WINDOW {
            *failed = Failed {
                since: now,
                count: 0,
            };
        }
        failed.count = failed.count.saturating_add(1);
        (failed.count > MAX_FAILED).then(|| {
            WINDOW
                .saturating_sub(now.since(failed.since))
                .as_secs()
                .max(1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_per_address_and_minute() {
        let attempts = Attempts::default();
        let (here, there) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([10, 0, 0, 1]));
        let now = Time::from_millis(1_000_000);
        for _ in 0..MAX_FAILED {
            assert_eq!(attempts.failed(here, now), None);
        }
        assert_eq!(attempts.failed(here, now), Some(60));
        assert_eq!(attempts.failed(there, now), None);
        assert_eq!(attempts.failed(here, now.plus(WINDOW)), None);
    }
}
