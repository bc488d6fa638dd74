//! Who decides approvals, and what they may not touch.

use std::sync::Arc;

use crate::{
    approval::{Approval, Level, Status},
    glob::Glob,
    key::{Key, Role, identity, may_see},
    time::Time,
};

pub(super) const NOT_YOUR_TOOL: &str = "this key's tools do not include the tool of this approval";
pub(super) const NOT_YOUR_LEVEL: &str =
    "this approval is for people; a supervisor's key decides only at level supervisor";
const NOT_YOUR_OWN: &str = "nobody approves their own call";

/// Who decides, as authenticated: by a key, or by a channel that knows whom it asked.
#[derive(Clone, Debug)]
pub struct Decider {
    pub name: Arc<str>,
    pub role: Role,
    /// As [`Key::tools`].
    pub tools: Vec<Glob>,
    /// The channel, where it is not the door of keys.
    pub via: Option<Arc<str>>,
    /// As [`Key::person`].
    pub person: Option<Arc<str>>,
}

impl Decider {
    pub fn of(key: &Key) -> Self {
        Self {
            name: key.name.clone(),
            role: key.role,
            tools: key.tools.clone(),
            via: None,
            person: key.person.clone(),
        }
    }

    /// Somebody whom a channel asked.
    pub fn person(name: Arc<str>, role: Role, via: Arc<str>) -> Self {
        Self {
            name,
            role,
            tools: Vec::new(),
            via: Some(via),
            person: None,
        }
    }

    pub fn identity(&self) -> String {
        identity(self.role, &self.name)
    }

    /// Whether this person's yes is counted already, where more than one is needed.
    pub fn has_approved(&self, approval: &Approval) -> bool {
        let person = self.person.as_deref();
        approval.state.has_approved(person, &self.identity())
    }

    pub(super) fn is_supervisor(&self) -> bool {
        self.role == Role::Supervisor
    }

    /// Whether this decider may allow more of the tool than one call.
    pub(super) fn may_open(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.matches(tool))
    }

    /// Why this decider may not touch this approval, whatever it wants to do with it.
    pub(super) fn barred(&self, approval: &Approval, now: Time) -> Option<&'static str> {
        let asked_by = &*approval.question.agent_id;
        if *self.name == *asked_by || self.person.as_deref() == Some(asked_by) {
            return Some(NOT_YOUR_OWN);
        }
        if !self.is_supervisor() {
            return None;
        }
        if !may_see(self.role, &self.tools, &approval.question.tool) {
            return Some(NOT_YOUR_TOOL);
        }
        if approval.state.status_at(now) != Status::Pending {
            return None;
        }
        (approval.state.level_at(now) == Level::Human).then_some(NOT_YOUR_LEVEL)
    }
}
