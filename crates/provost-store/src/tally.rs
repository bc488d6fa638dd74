//! What a batch adds to the counts of agents and sessions: one row each, however many records.

use std::{collections::BTreeMap, sync::Arc};

use provost_core::{
    time::Time,
    trace::{Answer, RecordKind, TraceRow},
};

/// Sorted, so that replicas which write the same rows lock them in the same order.
#[derive(Default)]
pub(crate) struct Tally {
    sessions: BTreeMap<(Arc<str>, Arc<str>), Count>,
}

#[derive(Clone, Copy)]
pub(crate) struct Count {
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    pub(crate) calls: i64,
    pub(crate) denied: i64,
    /// Calls that were not held back by a limit or a stop: what a total limit counts.
    pub(crate) entered: i64,
}

impl Tally {
    pub(crate) fn add(&mut self, row: &TraceRow) {
        let (agent, session) = (row.agent.clone(), row.session.clone());
        match (row.kind, session) {
            (RecordKind::Decision, session) => self.count(agent, session, row.at, row.verdict),
            (RecordKind::Note, Some(session)) => self.see(agent, session, row.at),
            _ => {}
        }
    }

    /// A session that did something beside calls.
    pub(crate) fn see(&mut self, agent: Arc<str>, session: Arc<str>, at: Time) {
        let seen = Count {
            first_at: at,
            last_at: at,
            calls: 0,
            denied: 0,
            entered: 0,
        };
        self.add_count((agent, session), seen);
    }

    /// Counts one decision.
    pub(crate) fn count(
        &mut self,
        agent: Arc<str>,
        session: Option<Arc<str>>,
        at: Time,
        verdict: &str,
    ) {
        let held_back = [Answer::RateLimited, Answer::Stopped].map(Answer::as_str);
        let one = Count {
            first_at: at,
            last_at: at,
            calls: 1,
            denied: i64::from(verdict != Answer::Allow.as_str()),
            entered: i64::from(!held_back.contains(&verdict)),
        };
        self.add_count((agent, session.unwrap_or_default()), one);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (name, count) in other.sessions {
            self.add_count(name, count);
        }
    }

    fn add_count(&mut self, name: (Arc<str>, Arc<str>), more: Count) {
        self.sessions
            .entry(name)
            .and_modify(|count| {
                count.first_at = count.first_at.min(more.first_at);
                count.last_at = count.last_at.max(more.last_at);
                count.calls += more.calls;
                count.denied += more.denied;
                count.entered += more.entered;
            })
            .or_insert(more);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// By agent and session; an empty session stands for none.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&str, &str, Count)> {
        self.sessions
            .iter()
            .map(|((agent, session), count)| (&**agent, &**session, *count))
    }

    /// What this batch adds to the total of one agent.
    pub(crate) fn entered(&self, agent: &str) -> u64 {
        let counts = self.sessions().filter(|(name, ..)| *name == agent);
        counts.map(|(.., count)| count.entered as u64).sum()
    }

    pub(crate) fn agents(&self) -> BTreeMap<&str, i64> {
        let mut agents = BTreeMap::new();
        for (agent, _, count) in self.sessions() {
            *agents.entry(agent).or_insert(0) += count.entered;
        }
        agents
    }
}
