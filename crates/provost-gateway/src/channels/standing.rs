//! How each channel has fared lately, for those who run the gateway.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use provost_core::{delivery::Plan, people::Directory, time::Time};
use serde::Serialize;
use serde_json::Value;
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
    pub(super) unchecked: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<Problem>,
    /// Who was refused a question, at which address. A check that sends nothing cannot tell.
    #[serde(skip)]
    refusals: BTreeMap<Arc<str>, (Value, Problem)>,
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
    pub(super) fn delivered(&self, plan: &Plan) {
        let mut doubted = false;
        self.change(&plan.channel, |standing| {
            if let Some(person) = &plan.person {
                standing.refusals.remove(person);
            }
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

    /// Somebody cannot be reached there, which says nothing about the channel. It is told until something gets
    /// through to them, or their address changes.
    pub(super) fn refused(&self, plan: &Plan, why: &str) {
        if let Some(person) = &plan.person {
            let refusal = (plan.address.clone(), of_refusal(person, plan, why));
            self.change(&plan.channel, |standing| {
                standing.refusals.insert(person.clone(), refusal);
            });
        }
        self.doubted.notify_one();
    }

    /// Forgets the refusals of those who have that address no more.
    pub(super) fn follow(&self, channel: &str, people: &Directory) {
        let has = |person: &str, address: &Value| {
            let named = people.people.iter().filter(|known| *known.name == *person);
            let mut addresses = named.flat_map(|person| &person.addresses);
            addresses.any(|at| *at.channel == *channel && at.address == *address)
        };
        self.change(channel, |standing| {
            standing
                .refusals
                .retain(|person, (address, _)| has(person, address));
        });
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

    /// A check that was not let to its end adds to what is known, and says nothing about the rest.
    pub(super) fn cut_short(&self, channel: &str, problems: Vec<Problem>) {
        self.change(channel, |standing| {
            for problem in problems {
                if !standing.problems.contains(&problem) {
                    standing.problems.push(problem);
                }
            }
        });
    }

    pub(super) fn of(&self, channel: &str) -> Standing {
        let standings = self.by_name.lock();
        let standings = standings.unwrap_or_else(PoisonError::into_inner);
        let mut standing = standings.get(channel).cloned().unwrap_or_default();
        let told = &standing.problems;
        let is_told =
            |person: &Arc<str>| told.iter().any(|told| told.person.as_ref() == Some(person));
        let refusals = standing.refusals.iter();
        let untold: Vec<_> = refusals
            .filter(|(person, _)| !is_told(person))
            .map(|(_, (_, problem))| problem.clone())
            .collect();
        standing.problems.extend(untold);
        standing
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

/// What a bot is told names nobody; what a mail server says may.
fn of_refusal(person: &Arc<str>, plan: &Plan, why: &str) -> Problem {
    let why = match &*plan.channel {
        "telegram" => why,
        _ => "the gateway's log says why",
    };
    Problem::of_person(
        person.clone(),
        format!("the last question to somebody of `people` was refused: {why}"),
        "see that their address in `people` is right and that they did not block the sender; `provost people \
         test NAME` tries it again",
    )
}

#[cfg(test)]
mod tests {
    use provost_core::delivery::Purpose;
    use serde_json::json;

    use super::*;

    #[test]
    fn p12_a_refusal_is_told_until_something_gets_through() {
        let standings = Standings::default();
        let plan = Plan {
            channel: "telegram".into(),
            address: json!({"chat": 7}),
            person: Some("bob".into()),
            purpose: Purpose::Ask,
            after: std::time::Duration::ZERO,
        };
        let problems = || standings.of("telegram").problems;
        standings.refused(&plan, "bot was blocked by the user");
        assert!(standings.of("telegram").is_failing());
        // The check asks whether the chat is there, and it is.
        standings.checked("telegram", Vec::new(), Time::from_millis(1));
        assert_eq!(problems().len(), 1);
        assert!(problems()[0].problem.contains("blocked"));
        let of_check = Problem::of_person("bob".into(), "no chat", "press Start");
        standings.checked("telegram", vec![of_check], Time::from_millis(2));
        assert_eq!(problems().len(), 1, "once for each");
        standings.checked("telegram", Vec::new(), Time::from_millis(3));
        standings.delivered(&plan);
        assert!(problems().is_empty());
        standings.refused(&plan, "bot was blocked by the user");
        standings.follow("telegram", &Directory::default());
        assert!(problems().is_empty(), "that is nobody's address any more");
    }

    #[test]
    fn p12_a_check_that_is_cut_short_forgets_no_problem() {
        let standings = Standings::default();
        let of = |person: &str| Problem::of_person(person.into(), "no chat", "press Start");
        standings.checked("telegram", vec![of("bob")], Time::from_millis(1));
        standings.cut_short("telegram", vec![of("bob"), of("alice")]);
        let standing = standings.of("telegram");
        assert_eq!(standing.problems, [of("bob"), of("alice")]);
        assert_eq!(standing.checked_at, Some(Time::from_millis(1)));
    }

    #[test]
    fn p12_a_channel_is_unchecked_until_it_was_tried() {
        let standings = Standings::default();
        let unchecked = |is_checked| {
            let mut standing = standings.of("telegram");
            standing.await_check(is_checked);
            standing.unchecked
        };
        assert!(unchecked(true) && !unchecked(false));
        standings.cut_short("telegram", Vec::new());
        assert!(unchecked(true), "it was told to wait");
        standings.checked("telegram", Vec::new(), Time::from_millis(1));
        assert!(!unchecked(true));
    }
}
