//! Who is still asked about a question, and who is asked next if they do not answer.

use std::{collections::BTreeSet, sync::Arc};

use serde::Serialize;

use crate::{
    approval::{Approval, Level},
    delivery::{Plan, Purpose},
    time::Time,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Waiting {
    /// Those who were asked and have not approved it.
    pub people: Vec<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<AskedNext>,
}

/// The next step of a route.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskedNext {
    pub at: Time,
    pub people: Vec<Arc<str>>,
}

impl Waiting {
    /// From what was planned when the question was made.
    pub fn of<'a>(
        approval: &Approval,
        plans: impl Iterator<Item = &'a Plan> + Clone,
        now: Time,
    ) -> Self {
        let since = for_people_since(approval, now);
        let asked = plans.filter_map(|plan| {
            let person = plan
                .person
                .as_ref()
                .filter(|_| plan.purpose == Purpose::Ask)?;
            let voted = approval.state.has_approved(Some(person), "");
            (!voted).then(|| (since.plus(plan.after), person.clone()))
        });
        let with_supervisors = approval.state.level_at(now) == Level::Supervisor;
        let is_asked = |at: Time| at <= now && !with_supervisors;
        let people: BTreeSet<_> = asked
            .clone()
            .filter(|(at, _)| is_asked(*at))
            .map(|(_, person)| person)
            .collect();
        let later = asked.filter(|(at, person)| !is_asked(*at) && !people.contains(person));
        let next = later.clone().map(|(at, _)| at).min().map(|at| {
            let people: BTreeSet<_> = later
                .filter(|(due, _)| *due == at)
                .map(|(_, person)| person)
                .collect();
            AskedNext {
                at,
                people: people.into_iter().collect(),
            }
        });
        Self {
            people: people.into_iter().collect(),
            next,
        }
    }
}

/// When it became a person's, or will.
fn for_people_since(approval: &Approval, now: Time) -> Time {
    let (question, state) = (&approval.question, &approval.state);
    if let Some(escalation) = &state.escalation {
        return escalation.at;
    }
    match state.supervisor_until {
        Some(until) if state.level == Level::Supervisor || until <= now => until,
        _ => question.created_at,
    }
}
