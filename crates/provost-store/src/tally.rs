//! What a batch adds to the counts of agents and sessions: one row each, however many records.

use std::{collections::BTreeMap, sync::Arc};

use provost_core::{
    time::Time,
    trace::{Answer, RecordKind, TraceRow},
};

/// By agent and session. Sorted, so that replicas which write the same rows lock them in the same order.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    agents: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Count>>,
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

impl Count {
    fn add(&mut self, more: Self) {
        self.first_at = self.first_at.min(more.first_at);
        self.last_at = self.last_at.max(more.last_at);
        self.calls += more.calls;
        self.denied += more.denied;
        self.entered += more.entered;
    }
}

impl Tally {
    pub(crate) fn add(&mut self, row: &TraceRow) {
        match (row.kind, &row.session) {
            (RecordKind::Decision, session) => {
                self.count(&row.agent, session.as_ref(), row.at, row.verdict);
            }
            (RecordKind::Note, Some(session)) => self.see(&row.agent, session, row.at),
            _ => {}
        }
    }

    /// A session that did something beside calls.
    pub(crate) fn see(&mut self, agent: &Arc<str>, session: &Arc<str>, at: Time) {
        let seen = Count {
            first_at: at,
            last_at: at,
            calls: 0,
            denied: 0,
            entered: 0,
        };
        self.add_count(agent, session, seen);
    }

    /// Counts one decision.
    pub(crate) fn count(
        &mut self,
        agent: &Arc<str>,
        session: Option<&Arc<str>>,
        at: Time,
        verdict: &str,
    ) {
        let allowed = verdict == Answer::Allow.as_str();
        let held_back = [Answer::RateLimited, Answer::Stopped].map(Answer::as_str);
        let one = Count {
            first_at: at,
            last_at: at,
            calls: 1,
            denied: i64::from(!allowed),
            entered: i64::from(allowed || !held_back.contains(&verdict)),
        };
        match session {
            Some(session) => self.add_count(agent, session, one),
            None => self.add_count(agent, &Arc::default(), one),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (agent, sessions) in &other.agents {
            for (session, count) in sessions {
                self.add_count(agent, session, *count);
            }
        }
    }

    /// Copies a name only where it is new: its count of users is shared with the threads that serve calls.
    fn add_count(&mut self, agent: &Arc<str>, session: &Arc<str>, more: Count) {
        let Some(sessions) = self.agents.get_mut(agent) else {
            let sessions = BTreeMap::from([(session.clone(), more)]);
            self.agents.insert(agent.clone(), sessions);
            return;
        };
        match sessions.get_mut(session) {
            Some(count) => count.add(more),
            None => {
                sessions.insert(session.clone(), more);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// An empty session stands for none.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = (&str, &str, Count)> {
        self.agents.iter().flat_map(|(agent, sessions)| {
            let counts = sessions.iter();
            counts.map(move |(session, count)| (&**agent, &**session, *count))
        })
    }

    /// What this batch adds to the total of one agent.
    pub(crate) fn entered(&self, agent: &str) -> u64 {
        self.agents.get(agent).map_or(0, entered) as u64
    }

    /// What this batch adds to the total of each agent.
    pub(crate) fn agents(&self) -> impl Iterator<Item = (&str, i64)> {
        let agents = self.agents.iter();
        agents.map(|(agent, sessions)| (&**agent, entered(sessions)))
    }
}

fn entered(sessions: &BTreeMap<Arc<str>, Count>) -> i64 {
    sessions.values().map(|count| count.entered).sum()
}
