//! How often an agent may call: per minute, in total, and the same call again and again, in whichever session.
//!
//! Windows live in memory and each replica keeps its own; totals are durable and shared, and are
//! only cached here.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{policy::RateLimit, time::Time};

/// Agents may name themselves, so the table of agents is bounded.
const MAX_AGENTS_PER_SHARD: usize = 4096;
const MAX_CALLS_WATCHED: usize = 4096;
const SHARDS: usize = 16;
const MINUTE: Duration = Duration::from_mins(1);

/// The same call `max` times within `window` is a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopLimit {
    pub max: u32,
    pub window: Duration,
}

/// A call that came too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limited {
    pub reason: String,
    /// `None`: never, without a person.
    pub retry_after: Option<Duration>,
}

pub struct Limits {
    shards: [Mutex<HashMap<Arc<str>, Agent>>; SHARDS],
    hasher: RandomState,
}

#[derive(Default)]
struct Agent {
    /// Calls of the last minute, oldest first. Never longer than the limit.
    minute: VecDeque<Time>,
    /// Calls this process let in, on top of what the store counted when first asked.
    total: Option<u64>,
    repeats: Repeats,
    seen_at: Time,
}

/// When identical calls were made.
#[derive(Default)]
struct Repeats {
    /// Of the last window, oldest first. None is longer than the limit.
    calls: HashMap<u64, VecDeque<Time>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
        }
    }
}

impl Limits {
    /// Counts one call, or says why it may not be made. A refused call does not count. `act` stands for tool and
    /// arguments, without the session: a new one does not begin a loop anew.
    pub fn enter(
        &self,
        agent: &Arc<str>,
        act: u64,
        rate: Option<RateLimit>,
        repeat: Option<LoopLimit>,
        now: Time,
    ) -> Result<(), Limited> {
        if rate.is_none() && repeat.is_none() {
            return Ok(());
        }
        let mut shard = self.shard(agent);
        make_room(&mut shard, agent);
        let state = shard.entry(agent.clone()).or_default();
        state.seen_at = now;
        if let Some(rate) = rate {
            state.check_rate(agent, rate, now)?;
        }
        if let Some(repeat) = repeat {
            state.repeats.count(act, repeat, now)?;
        }
        if rate.is_some_and(|rate| rate.max_per_minute.is_some()) {
            state.minute.push_back(now);
        }
        if let Some(total) = &mut state.total {
            *total += 1;
        }
        Ok(())
    }

    /// Whether the total of this agent must be asked of the store first.
    pub fn needs_total(&self, agent: &Arc<str>) -> bool {
        self.shard(agent)
            .get(agent)
            .is_none_or(|state| state.total.is_none())
    }

    /// What the store counts, by every replica. A count never goes down.
    pub fn set_total(&self, agent: &Arc<str>, counted: u64) {
        let mut shard = self.shard(agent);
        make_room(&mut shard, agent);
        let state = shard.entry(agent.clone()).or_default();
        state.total = Some(state.total.unwrap_or(0).max(counted));
    }

    /// Forgets cached totals, so that other replicas' calls are seen.
    pub fn forget_totals(&self) {
        for shard in &self.shards {
            for state in lock(shard).values_mut() {
                state.total = None;
            }
        }
    }

    fn shard(&self, agent: &str) -> MutexGuard<'_, HashMap<Arc<str>, Agent>> {
        let at = self.hasher.hash_one(agent) as usize % SHARDS;
        #[expect(clippy::indexing_slicing, reason = "reduced modulo the length")]
        lock(&self.shards[at])
    }
}

impl Agent {
    fn check_rate(&mut self, agent: &str, rate: RateLimit, now: Time) -> Result<(), Limited> {
        if let (Some(max), Some(total)) = (rate.max_total, self.total)
            && total >= max
        {
            let reason =
                format!("agent `{agent}` has made all {max} calls its policy allows in total");
            return Err(Limited {
                reason,
                retry_after: None,
            });
        }
        let Some(max) = rate.max_per_minute else {
            return Ok(());
        };
        while self
            .minute
            .front()
            .is_some_and(|at| now.since(*at) >= MINUTE)
        {
            self.minute.pop_front();
        }
        if self.minute.len() < max as usize {
            return Ok(());
        }
        let wait = self
            .minute
            .front()
            .map_or(MINUTE, |oldest| MINUTE.saturating_sub(now.since(*oldest)));
        let reason =
            format!("agent `{agent}` has made {max} calls in a minute, which is its limit");
        Err(Limited {
            reason,
            retry_after: Some(wait),
        })
    }
}

impl Repeats {
    fn count(&mut self, act: u64, limit: LoopLimit, now: Time) -> Result<(), Limited> {
        if !self.calls.contains_key(&act) {
            self.make_room(limit.window, now);
        }
        let calls = self.calls.entry(act).or_default();
        while calls
            .front()
            .is_some_and(|at| now.since(*at) >= limit.window)
        {
            calls.pop_front();
        }
        if calls.len() >= limit.max as usize {
            let since = calls.front().map_or(Duration::ZERO, |at| now.since(*at));
            let wait = limit.window.saturating_sub(since);
            let reason = format!(
                "the same call was made {} times within {} seconds: a loop",
                limit.max,
                limit.window.as_secs()
            );
            return Err(Limited {
                reason,
                retry_after: Some(wait),
            });
        }
        calls.push_back(now);
        Ok(())
    }

    /// What was not called for a window is forgotten; if that is not enough, the half that was not called for
    /// longest.
    fn make_room(&mut self, window: Duration, now: Time) {
        if self.calls.len() < MAX_CALLS_WATCHED {
            return;
        }
        let last = |calls: &VecDeque<Time>| calls.back().copied().unwrap_or_default();
        self.calls
            .retain(|_, calls| now.since(last(calls)) < window);
        if self.calls.len() >= MAX_CALLS_WATCHED {
            let mut all: Vec<_> = self.calls.values().map(last).collect();
            let half = all.len() / 2;
            let (_, median, _) = all.select_nth_unstable(half);
            self.calls.retain(|_, calls| last(calls) > *median);
        }
    }
}

/// When a shard is full, the agent not seen for longest goes.
fn make_room(shard: &mut HashMap<Arc<str>, Agent>, newcomer: &Arc<str>) {
    if shard.len() < MAX_AGENTS_PER_SHARD || shard.contains_key(newcomer) {
        return;
    }
    let oldest = shard
        .iter()
        .min_by_key(|(_, state)| state.seen_at)
        .map(|(agent, _)| agent.clone());
    if let Some(oldest) = oldest {
        shard.remove(&oldest);
    }
}

/// A panic elsewhere must not switch the limits off, nor the gate.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_millis(1_000_000 + seconds * 1000)
    }

    #[test]
    fn the_minute_slides() {
        let (limits, agent) = (Limits::default(), Arc::from("a"));
        let rate = Some(RateLimit {
            max_per_minute: Some(2),
            max_total: None,
        });
        let enter = |now| limits.enter(&agent, 1, rate, None, at(now));
        assert_eq!(enter(0), Ok(()));
        assert_eq!(enter(30), Ok(()));
        assert_eq!(
            enter(40).unwrap_err().retry_after,
            Some(Duration::from_secs(20))
        );
        assert_eq!(enter(60), Ok(()));
        assert!(enter(61).is_err());
    }

    #[test]
    fn the_total_counts_on_from_the_store() {
        let (limits, agent) = (Limits::default(), Arc::from("a"));
        let rate = Some(RateLimit {
            max_per_minute: None,
            max_total: Some(10),
        });
        assert!(limits.needs_total(&agent));
        limits.set_total(&agent, 8);
        assert!(!limits.needs_total(&agent));
        for expected in [true, true, false] {
            assert_eq!(limits.enter(&agent, 1, rate, None, at(0)).is_ok(), expected);
        }
    }

    #[test]
    fn a_loop_is_the_same_call_many_times_in_a_window() {
        let (limits, agent) = (Limits::default(), Arc::from("a"));
        let repeat = Some(LoopLimit {
            max: 3,
            window: Duration::from_secs(10),
        });
        for (n, now, expected) in [
            (1, 0, true),
            (1, 1, true),
            (2, 1, true),
            (1, 2, true),
            (1, 3, false),
            (2, 3, true),
            (1, 11, true),
        ] {
            assert_eq!(
                limits.enter(&agent, n, None, repeat, at(now)).is_ok(),
                expected,
                "{n} {now}"
            );
        }
    }

    #[test]
    fn p10_the_window_of_a_loop_slides() {
        let (limits, agent) = (Limits::default(), Arc::from("a"));
        let repeat = Some(LoopLimit {
            max: 3,
            window: Duration::from_secs(10),
        });
        let enter = |act, now| limits.enter(&agent, act, None, repeat, at(now));
        assert_eq!(enter(1, 0), Ok(()));
        assert_eq!(enter(1, 9), Ok(()));
        assert_eq!(enter(1, 9), Ok(()));
        assert_eq!(enter(1, 10), Ok(()), "the first is ten seconds ago");
        let refused = enter(1, 11).unwrap_err();
        assert_eq!(refused.retry_after, Some(Duration::from_secs(8)));
        assert_eq!(enter(1, 19), Ok(()));
    }

    /// Many other calls between make no loop of it less.
    #[test]
    fn p10_calls_that_are_watched_are_bounded_and_forget_the_oldest() {
        let (limits, agent) = (Limits::default(), Arc::from("a"));
        let repeat = Some(LoopLimit {
            max: 3,
            window: Duration::from_secs(10),
        });
        let enter = |act, now| limits.enter(&agent, act, None, repeat, at(now));
        let others = MAX_CALLS_WATCHED as u64 - 1;
        for n in 0..3 {
            assert_eq!(enter(1, 5), Ok(()));
            for other in 0..others {
                assert_eq!(enter(100 + n * others + other, 4), Ok(()));
            }
        }
        assert!(enter(1, 6).is_err());
        let shard = limits.shard(&agent);
        assert!(shard["a"].repeats.calls.len() <= MAX_CALLS_WATCHED);
    }

    #[test]
    fn self_named_agents_do_not_grow_the_table_without_end() {
        let limits = Limits::default();
        let rate = Some(RateLimit {
            max_per_minute: Some(1),
            max_total: None,
        });
        for n in 0..(MAX_AGENTS_PER_SHARD * SHARDS + 5000) {
            let _ = limits.enter(&Arc::from(n.to_string()), 1, rate, None, at(n as i64));
        }
        assert!(
            limits
                .shards
                .iter()
                .all(|shard| lock(shard).len() <= MAX_AGENTS_PER_SHARD)
        );
    }
}
