//! What a `when` can see of a call: `params`, `agent`, `session`, `tool`, `now`, and what the gate computed of
//! it.

use std::cell::OnceCell;

use provost_abl::expr::{Object, Scope, Standing, Value};

use super::facts::{COMPUTED, Facts};
use crate::{call::Call, time::Time};

/// What is given with the call. What is computed of it is in [`COMPUTED`].
pub const ROOTS: [&str; 5] = ["params", "agent", "session", "tool", "now"];

/// Of those, what is a text for every call.
pub const TEXTS: [&str; 4] = ["agent", "session", "tool", "now"];

pub struct CallScope<'a> {
    call: &'a Call,
    now: Time,
    /// Made when the first rule asks. Most calls meet none that does.
    facts: OnceCell<Box<Facts>>,
}

impl<'a> CallScope<'a> {
    pub fn new(call: &'a Call, now: Time) -> Self {
        Self {
            call,
            now,
            facts: OnceCell::new(),
        }
    }

    pub fn call(&self) -> &'a Call {
        self.call
    }

    fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| Box::new(Facts::of(self.call)))
    }
}

impl Scope for CallScope<'_> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "params" => Some(Value::Object(Object::Json(&self.call.params))),
            "agent" => Some(Value::text(&*self.call.agent)),
            "session" => self.call.session.as_deref().map(Value::text),
            "tool" => Some(Value::text(&*self.call.tool)),
            "now" => Some(Value::text(self.now.to_string())),
            _ if COMPUTED.contains(&name) => self.facts().root(name),
            _ => None,
        }
    }

    fn standing(&self, name: &str) -> Standing {
        if COMPUTED.contains(&name) {
            self.facts().standing(name)
        } else {
            Standing::Given
        }
    }

    fn now(&self) -> jiff::Timestamp {
        self.now.timestamp()
    }

    /// A policy that depends on chance could not be replayed: the id is the call's own.
    fn unique_id(&self) -> String {
        self.call.digest().to_string()
    }
}
