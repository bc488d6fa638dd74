//! How each channel has fared lately, for those who run the gateway.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use provost_core::time::Time;
use serde::Serialize;
use tokio::sync::{Notify, watch};

#[derive(Default)]
pub(crate) struct Standings {
    by_name: Mutex<BTreeMap<String, Standing>>,
    /// Something happened that the last check may not know.
    pub(super) doubted: Notify,
    /// Counts the checks.
    pub(super) checks: watch::Sender<u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Standing {
    delivered: u64,
    /// Since when nothing got through.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<Time>,
    /// When it was last tried without anybody being asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) checked_at: Option<Time>,
    /// Nobody knows yet whether it works.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unchecked: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<Problem>,
}

/// Why a question would not get through, or its answer not back, and what to do. Everybody may read the words:
/// they hold no secret, and do not say who cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub problem: String,
    pub help: String,
    /// Whom of `people` it is about; `None`: the whole channel.
    #[serde(skip)]
    pub person: Option<Arc<str>>,
}

impl Problem {
    pub(super) fn of_channel(problem: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            help: help.into(),
            person: None,
        }
    }

    pub(super) fn of_person(
        person: Arc<str>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            person: Some(person),
            ..Self::of_channel(problem, help)
        }
    }
}

impl Standings {
    pub(super) fn delivered(&self, channel: &str) {
        let mut doubted = false;
        self.change(channel, |standing| {
            standing.delivered += 1;
            standing.failing_since = None;
            doubted = !standing.problems.is_empty();
        });
        if doubted {
            self.doubted.notify_one();
        }
    }

    pub(super) fn failed(&self, channel: &str, now: Time) {
        self.change(channel, |standing| {
            standing.failing_since.get_or_insert(now);
        });
        self.doubted.notify_one();
    }

    /// Somebody cannot be reached there, which says nothing about the channel.
    pub(super) fn refused(&self) {
        self.doubted.notify_one();
    }

    /// What a check found, and whether that is news.
    pub(super) fn checked(&self, channel: &str, problems: Vec<Problem>, now: Time) -> bool {
        let mut news = false;
        self.change(channel, |standing| {
            news = standing.problems != problems;
            standing.checked_at = Some(now);
            standing.problems = problems;
        });
        news
    }

    pub(super) fn of(&self, channel: &str) -> Standing {
        let standings = self.by_name.lock();
        let standings = standings.unwrap_or_else(PoisonError::into_inner);
        standings.get(channel).cloned().unwrap_or_default()
    }

    fn change(&self, channel: &str, change: impl FnOnce(&mut Standing)) {
        let standings = self.by_name.lock();
        let mut standings = standings.unwrap_or_else(PoisonError::into_inner);
        change(standings.entry(channel.to_owned()).or_default());
    }
}

impl Standing {
    /// Of a channel that is checked: whether that is still to come, and nothing got through either.
    pub(super) fn await_check(&mut self, is_checked: bool) {
        self.unchecked = is_checked && self.checked_at.is_none() && self.delivered == 0;
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.failing_since.is_some() || !self.problems.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p12_a_channel_is_unchecked_until_it_was_tried() {
        let standings = Standings::default();
        let unchecked = |is_checked| {
            let mut standing = standings.of("telegram");
            standing.await_check(is_checked);
            standing.unchecked
        };
        assert!(unchecked(true) && !unchecked(false));
        standings.checked("telegram", Vec::new(), Time::from_millis(1));
        assert!(!unchecked(true));
    }
}
