//! What an expression can see. The host answers for names, clock and ids, so that an evaluation
//! depends on nothing else and can be replayed.

use std::cell::Cell;

use jiff::Timestamp;
use serde_json::Value as Json;

use super::value::Value;

/// How a name stands with the host. Only asked about names that a program was told are
/// [computed](super::Program::with_computed).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its value, or that it has none, is what `root` says.
    Given,
    /// There is no such thing here. A condition on it does not hold, nor does its negation.
    Absent,
    /// There is, and it could not be read: no condition on it can be judged.
    Unreadable,
}

/// The names an expression can read, and the two things that are not values: time and fresh ids.
pub trait Scope {
    /// The value of the first name of a path (`params` in `params.path`). `None` is not set.
    fn root(&self, name: &str) -> Option<Value<'_>>;
    fn standing(&self, _name: &str) -> Standing {
        Standing::Given
    }
    /// The time of this evaluation.
    fn now(&self) -> Timestamp;
    /// A fresh id for every call.
    fn unique_id(&self) -> String;
}

/// A scope over one JSON object whose keys are the roots.
///
/// Its ids are derived from the time and a counter: fine for tests and templates, not a secret.
#[derive(Debug)]
pub struct JsonScope<'a> {
    roots: &'a Json,
    now: Timestamp,
    ids: Cell<u32>,
}

impl<'a> JsonScope<'a> {
    pub fn new(roots: &'a Json, now: Timestamp) -> Self {
        Self {
            roots,
            now,
            ids: Cell::new(0),
        }
    }
}

impl Scope for JsonScope<'_> {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        self.roots.get(name).map(Value::from)
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn unique_id(&self) -> String {
        let count = self.ids.get().wrapping_add(1);
        self.ids.set(count);
        format!("{:x}-{count:x}", self.now.as_nanosecond())
    }
}
