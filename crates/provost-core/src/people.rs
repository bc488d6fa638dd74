//! People: who is asked about what, where, when, and who is asked next. A plan is a pure function of the
//! question and the time, and is made once, when the question is.

mod hours;
mod route;
mod waiting;

use std::{sync::Arc, time::Duration};

use serde_json::Value;

pub use hours::{BadHours, Hours};
pub use route::{Fallback, Route, Routed, Step};
pub use waiting::{AskedNext, Waiting};

use crate::{
    delivery::{Plan, Purpose},
    key::Role,
    time::Time,
};

/// The channel of [`Plan`]s that decide when nobody did.
pub const FALLBACK: &str = "fallback";
/// The channel of [`Plan`]s for people who are reached nowhere but in the console: nothing is sent. It says that
/// they were asked, and when.
pub const CONSOLE: &str = "console";

#[derive(Clone, Debug, Default)]
pub struct Directory {
    pub people: Vec<Person>,
    /// The first that matches counts. Without any, everybody is asked at once.
    pub routes: Vec<Route>,
    /// What is told of every question beside people.
    pub watchers: Vec<Watcher>,
}

#[derive(Clone, Debug)]
pub struct Person {
    pub name: Arc<str>,
    /// A human or an admin.
    pub role: Role,
    pub addresses: Vec<Address>,
    /// When they may be disturbed; `None`: always.
    pub hours: Option<Hours>,
}

/// Where a person is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    pub channel: Arc<str>,
    pub address: Value,
}

/// A channel that only tells.
#[derive(Clone, Debug)]
pub struct Watcher {
    pub at: Address,
}

impl Directory {
    /// Whose address that is.
    pub fn person(&self, channel: &str, address: &Value) -> Option<&Person> {
        self.people.iter().find(|person| {
            let mut own = person.addresses.iter();
            own.any(|own| &*own.channel == channel && same(&own.address, address))
        })
    }

    /// Whether anybody is reached there. If so, nobody else is asked there: an agent that may name any address
    /// could name its own.
    pub fn has_any_on(&self, channel: &str) -> bool {
        let mut addresses = self.people.iter().flat_map(|person| &person.addresses);
        addresses.any(|address| &*address.channel == channel)
    }

    /// Whether any question may need more than one person.
    pub(crate) fn has_quorum(&self) -> bool {
        self.routes.iter().any(|route| route.needed > 1)
    }

    pub fn named(&self, name: &str) -> Option<&Person> {
        self.people.iter().find(|person| *person.name == *name)
    }

    /// Until when a person is not to be disturbed, where that is later than now.
    pub fn quiet_until(&self, name: &str, now: Time) -> Option<Time> {
        let wait = self.named(name)?.hours.as_ref()?.until_open(now);
        (!wait.is_zero()).then(|| now.plus(wait))
    }

    pub(crate) fn watching(&self) -> impl Iterator<Item = Plan> {
        self.watchers.iter().map(|watcher| Plan {
            channel: watcher.at.channel.clone(),
            address: watcher.at.address.clone(),
            person: None,
            purpose: Purpose::Ask,
            after: Duration::ZERO,
        })
    }
}

/// Whether two addresses mean the same: a number may stand as text, and mail knows no case.
fn same(own: &Value, other: &Value) -> bool {
    let first = |value: &Value| match value {
        Value::Object(fields) => fields.values().next().cloned().unwrap_or_default(),
        plain => plain.clone(),
    };
    let text = |value: Value| match value {
        Value::String(text) => text.trim().to_lowercase(),
        other => other.to_string(),
    };
    let (own, other) = (text(first(own)), text(first(other)));
    !own.is_empty() && own == other
}

#[cfg(test)]
mod tests;
