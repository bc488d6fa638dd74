//! Which limits of a run can be enforced, by what is told of its use while it goes on. Pure.
//!
//! A [`Metering`] says who tells what, and when: today it is the agent itself, by its profile. Whoever else
//! counts, as a door to models would, has a `Metering` of its own and tells [`Meter::used`].

use std::fmt;

use crate::{
    config::Limits,
    meter::{Breach, Meter},
};

/// When something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// After each step of the model: in time to end the run.
    DuringRun,
    /// With the answer to the prompt or after it: too late for that.
    AtEnd,
    Never,
    /// Nobody has measured it.
    Perhaps,
}

/// What is told of a run's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metering {
    pub tokens: Told,
    pub cost: Told,
}

impl Metering {
    /// Of an agent that is not known.
    pub const PERHAPS: Self = Self {
        tokens: Told::Perhaps,
        cost: Told::Perhaps,
    };
}

/// A limit that does less than it says.
#[derive(Clone, Debug, PartialEq)]
pub struct Unenforced {
    /// As the configuration calls it.
    pub limit: &'static str,
    pub why: Why,
    /// Who does not tell.
    pub agent: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// See [`Told`].
    AtEnd,
    Never,
    Perhaps,
    /// Nothing was told until the end.
    Untold,
    /// It was exceeded, which was told with the answer.
    Late(Breach),
}

impl fmt::Display for Unenforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, agent, why } = self;
        match why {
            Why::AtEnd => write!(
                f,
                "the limit `{limit}` cannot end this run: {agent} tells its {limit} only when it is done"
            ),
            Why::Never => write!(
                f,
                "the limit `{limit}` has no effect: {agent} does not tell its {limit}"
            ),
            Why::Perhaps => write!(
                f,
                "the limit `{limit}` may have no effect: it counts only if {agent} tells its {limit} while it works"
            ),
            Why::Untold => write!(
                f,
                "the limit `{limit}` had no effect: {agent} did not tell its {limit}"
            ),
            Why::Late(breach) => write!(f, "{breach}, which {agent} told only when it was done"),
        }
    }
}

/// Before a run: what cannot be enforced, or not for certain.
pub fn before(limits: &Limits, metering: Metering, agent: &str) -> Vec<Unenforced> {
    let why = |told| match told {
        Told::DuringRun => None,
        Told::AtEnd => Some(Why::AtEnd),
        Told::Never => Some(Why::Never),
        Told::Perhaps => Some(Why::Perhaps),
    };
    let limited = limited(limits, metering);
    let found = limited.filter_map(|(limit, told)| {
        Some(Unenforced {
            limit,
            why: why(told)?,
            agent: agent.to_owned(),
        })
    });
    found.collect()
}

/// After a run: what was not enforced.
pub fn after(limits: &Limits, metering: Metering, agent: &str, meter: &Meter) -> Vec<Unenforced> {
    let why = |limit, told| match (told, meter.exceeded(limit)) {
        (_, Some(breach)) => Some(Why::Late(breach)),
        (Told::Never, None) => Some(Why::Never),
        (Told::AtEnd, None) => Some(Why::AtEnd),
        (_, None) if !meter.was_told(limit) => Some(Why::Untold),
        (_, None) => None,
    };
    let limited = limited(limits, metering);
    let found = limited.filter_map(|(limit, told)| {
        Some(Unenforced {
            limit,
            why: why(limit, told)?,
            agent: agent.to_owned(),
        })
    });
    found.collect()
}

/// The limits that are set and rest on what is told.
fn limited(limits: &Limits, metering: Metering) -> impl Iterator<Item = (&'static str, Told)> {
    let tokens = limits.tokens.map(|_| ("tokens", metering.tokens));
    let cost = limits.cost.map(|_| ("cost", metering.cost));
    tokens.into_iter().chain(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acp::{Tokens, Usage};

    fn limits() -> Limits {
        Limits {
            tokens: Some(10),
            cost: Some(1.0),
            turns: Some(1),
            ..Limits::default()
        }
    }

    fn words(found: &[Unenforced]) -> Vec<String> {
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_cannot_be_enforced_is_named_before_the_run() {
        let of = |tokens, cost| before(&limits(), Metering { tokens, cost }, "Max");
        assert_eq!(of(Told::DuringRun, Told::DuringRun), []);
        assert_eq!(
            words(&of(Told::AtEnd, Told::Never)),
            [
                "the limit `tokens` cannot end this run: Max tells its tokens only when it is done",
                "the limit `cost` has no effect: Max does not tell its cost",
            ]
        );
        let perhaps = before(&limits(), Metering::PERHAPS, "this agent");
        assert_eq!(perhaps.len(), 2);
        let none = Limits {
            turns: Some(1),
            ..Limits::default()
        };
        assert_eq!(before(&none, Metering::PERHAPS, "this agent"), []);
    }

    #[test]
    fn what_was_not_enforced_is_named_after_the_run() {
        let usage = |tokens| Usage {
            tokens: Some(Tokens::Total(tokens)),
            cost: None,
        };
        let mut meter = Meter::new(limits());
        let metering = |tokens| Metering {
            tokens,
            cost: Told::DuringRun,
        };
        let of = |tokens, meter: &Meter| words(&after(&limits(), metering(tokens), "Max", meter));
        assert_eq!(
            of(Told::DuringRun, &meter),
            [
                "the limit `tokens` had no effect: Max did not tell its tokens",
                "the limit `cost` had no effect: Max did not tell its cost",
            ]
        );
        meter.used(&usage(10));
        let untold = "the limit `cost` had no effect: Max did not tell its cost";
        assert_eq!(of(Told::Perhaps, &meter), [untold]);
        assert_eq!(of(Told::AtEnd, &meter).len(), 2);
        meter.used(&usage(11));
        assert_eq!(
            of(Told::AtEnd, &meter),
            [
                "the limit `tokens` of 10 is exceeded: 11, which Max told only when it was done",
                untold
            ]
        );
    }
}
