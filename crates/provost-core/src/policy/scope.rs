//! What a `when` can see of a call: `params`, `agent`, `session`, `tool` and `now`.

use provost_abl::expr::{Object, Scope, Value};

use crate::{call::Call, time::Time};

pub const ROOTS: [&str; 5] = ["params", "agent", "session", "tool", "now"];

pub struct CallScope<'a> {
    call: &'a Call,
    now: Time,
}

impl<'a> CallScope<'a> {
    pub fn new(call: &'a Call, now: Time) -> Self {
        Self { call, now }
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
            _ => None,
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
