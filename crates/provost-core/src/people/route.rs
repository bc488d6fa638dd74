//! Routes: from a question to those who are asked, in turn.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Address, CONSOLE, Directory, FALLBACK, Person};
use crate::{
    approval::{Question, Status},
    delivery::{Plan, Purpose},
    glob::Glob,
    time::Time,
};

/// Nobody is reminded more often of one question.
const MOST_REMINDERS: u32 = 12;
/// How long a question stays open after its fallback was due, so that the fallback decides it.
const GRACE: Duration = Duration::from_mins(1);

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    pub name: Arc<str>,
    /// Empty: every tool.
    pub tools: Vec<Glob>,
    /// Only questions that look risky.
    pub risky: bool,
    /// How many people must approve.
    pub needed: u8,
    pub steps: Vec<Step>,
    /// How long the question stays open, where not as long as usual.
    pub timeout: Option<Duration>,
    pub fallback: Option<Fallback>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How long after the question became a person's.
    pub after: Duration,
    pub people: Vec<Arc<str>>,
    /// How often they are reminded, until the next step.
    pub remind: Option<Duration>,
}

/// What is decided when nobody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    Approve,
    Deny,
}

impl Fallback {
    pub fn status(self) -> Status {
        match self {
            Self::Approve => Status::Approved,
            Self::Deny => Status::Denied,
        }
    }

    /// What a plan of [`FALLBACK`] decides.
    pub fn of(plan: &Plan) -> Option<Self> {
        let planned = || match plan.text("action") {
            "approved" => Self::Approve,
            _ => Self::Deny,
        };
        (&*plan.channel == FALLBACK).then(planned)
    }

    /// For whoever is asked.
    pub fn words(self) -> &'static str {
        match self {
            Self::Approve => "If nobody decides in time, it is approved by itself.",
            Self::Deny => "If nobody decides in time, it is denied by itself.",
        }
    }
}

/// What a route makes of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Routed {
    pub plans: Vec<Plan>,
    pub needed: u8,
    /// How long the question stays open once it is a person's.
    pub timeout: Duration,
}

impl Route {
    fn matches(&self, question: &Question) -> bool {
        let tool = &question.tool;
        (self.tools.is_empty() || self.tools.iter().any(|glob| glob.matches(tool)))
            && (!self.risky || is_risky(question))
    }
}

fn is_risky(question: &Question) -> bool {
    let act = question.summary.as_ref();
    question.injection_risk
        || question.hides_secret
        || act.is_some_and(|summary| !summary.risks.is_empty())
}

impl Directory {
    /// Who is told of a question of the gate's, and for how long it stays open.
    pub fn route(&self, question: &Question, usual: Duration, now: Time) -> Routed {
        let Some(route) = self.routes.iter().find(|route| route.matches(question)) else {
            return Routed {
                plans: self.tell_everybody(now),
                needed: 1,
                timeout: usual,
            };
        };
        let open = route.timeout.unwrap_or(usual);
        let mut plans: Vec<Plan> = self.watching().collect();
        for (at, step) in route.steps.iter().enumerate() {
            let next = route.steps.get(at + 1).map_or(open, |next| next.after);
            plans.extend(self.step(step, next.min(open), now));
        }
        plans.extend(
            route
                .fallback
                .map(|fallback| decides(route, fallback, open)),
        );
        Routed {
            plans,
            needed: route.needed,
            timeout: match route.fallback {
                Some(_) => open + GRACE,
                None => open,
            },
        }
    }

    /// For what is told and not asked: everybody, whatever the routes.
    pub(crate) fn tell_everybody(&self, now: Time) -> Vec<Plan> {
        let everybody = self.people.iter();
        let plans = everybody.flat_map(|person| asked(person, Duration::ZERO, now));
        plans.chain(self.watching()).collect()
    }

    /// Asks the people of a step, and reminds them until the next.
    fn step(&self, step: &Step, until: Duration, now: Time) -> Vec<Plan> {
        let people: Vec<&Person> = step
            .people
            .iter()
            .filter_map(|name| self.named(name))
            .collect();
        let mut plans: Vec<Plan> = people
            .iter()
            .flat_map(|person| asked(person, step.after, now))
            .collect();
        let Some(every) = step.remind.filter(|every| !every.is_zero()) else {
            return plans;
        };
        for person in people {
            plans.extend(reminders(person, step.after, every, until, now));
        }
        plans
    }
}

/// Counted from when they are asked: nobody is asked and reminded in the same moment.
fn reminders(
    person: &Person,
    asked_after: Duration,
    every: Duration,
    until: Duration,
    now: Time,
) -> Vec<Plan> {
    let begin = asked_after + closed(person, now.plus(asked_after));
    let mut last = begin;
    let mut plans = Vec::new();
    for times in 1..=MOST_REMINDERS {
        let after = begin + every * times;
        let after = after + closed(person, now.plus(after));
        if after >= until {
            break;
        }
        if after > last {
            last = after;
            plans.extend(at(person, after, Purpose::Remind));
        }
    }
    plans
}

/// How long their hours have not begun.
fn closed(person: &Person, now: Time) -> Duration {
    let hours = person.hours.as_ref();
    hours.map_or(Duration::ZERO, |hours| hours.until_open(now))
}

/// Not before their hours begin.
fn asked(person: &Person, after: Duration, now: Time) -> impl Iterator<Item = Plan> {
    let begin = after + closed(person, now.plus(after));
    let in_console = person.addresses.is_empty().then(|| Plan {
        channel: CONSOLE.into(),
        address: Value::Null,
        person: Some(person.name.clone()),
        purpose: Purpose::Ask,
        after: begin,
    });
    at(person, begin, Purpose::Ask).chain(in_console)
}

fn at(person: &Person, after: Duration, purpose: Purpose) -> impl Iterator<Item = Plan> {
    let addresses = person.addresses.iter();
    addresses.map(move |Address { channel, address }| Plan {
        channel: channel.clone(),
        address: address.clone(),
        person: Some(person.name.clone()),
        purpose,
        after,
    })
}

fn decides(route: &Route, fallback: Fallback, after: Duration) -> Plan {
    Plan {
        channel: FALLBACK.into(),
        address: json!({"route": &*route.name, "action": fallback.status()}),
        person: None,
        purpose: Purpose::Ask,
        after,
    }
}
