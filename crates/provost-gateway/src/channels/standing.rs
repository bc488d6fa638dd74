//! How each channel has fared lately, for those who run the gateway.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use provost_core::time::Time;
use serde::Serialize;

#[derive(Default)]
pub(crate) struct Standings(Mutex<BTreeMap<String, Standing>>);

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Standing {
    delivered: u64,
    /// Since when nothing got through.
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<Time>,
}

impl Standings {
    pub(super) fn delivered(&self, channel: &str) {
        self.change(channel, |standing| {
            standing.delivered += 1;
            standing.failing_since = None;
        });
    }

    pub(super) fn failed(&self, channel: &str, now: Time) {
        self.change(channel, |standing| {
            standing.failing_since.get_or_insert(now);
        });
    }

    pub(super) fn of(&self, channel: &str) -> Standing {
        let standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        standings.get(channel).cloned().unwrap_or_default()
    }

    fn change(&self, channel: &str, change: impl FnOnce(&mut Standing)) {
        let mut standings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(standings.entry(channel.to_owned()).or_default());
    }
}

impl Standing {
    pub(crate) fn is_failing(&self) -> bool {
        self.failing_since.is_some()
    }
}
