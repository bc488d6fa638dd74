//! A grant: a standing permission. It answers what would otherwise be asked; it never beats a deny.

use std::sync::Arc;

use provost_abl::expr::Program;
use serde::{Deserialize, Serialize};

use crate::{call::Call, glob::Glob, ids::GrantId, policy::scope::CallScope, time::Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub id: GrantId,
    pub agent: Glob,
    pub tools: Glob,
    /// Only this session, when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// An expression over the call's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_uses: Option<u64>,
    #[serde(default)]
    pub uses: u64,
    pub granted_by: String,
    pub created_at: Time,
    /// `None` lasts until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Time>,
}

impl Grant {
    pub fn active_at(&self, now: Time) -> bool {
        self.revoked_at.is_none()
            && self.expires_at.is_none_or(|at| now < at)
            && self.max_uses.is_none_or(|max| self.uses < max)
    }
}

/// A grant whose condition was compiled, ready to be matched.
#[derive(Clone, Debug)]
pub struct ActiveGrant {
    pub grant: Grant,
    when: Condition,
}

#[derive(Clone, Debug)]
enum Condition {
    None,
    When(Arc<Program>),
    /// A condition that no longer compiles permits nothing.
    Broken,
}

impl ActiveGrant {
    pub fn new(grant: Grant) -> Self {
        let when = match grant.when.as_deref().map(Program::compile) {
            None => Condition::None,
            Some(Ok(program)) => Condition::When(Arc::new(program)),
            Some(Err(_)) => Condition::Broken,
        };
        Self { grant, when }
    }

    pub fn permits(&self, call: &Call, now: Time) -> bool {
        let grant = &self.grant;
        grant.active_at(now)
            && grant.agent.matches(&call.agent)
            && grant.tools.matches(&call.tool)
            && grant
                .session_id
                .as_ref()
                .is_none_or(|session| call.session.as_ref() == Some(session))
            && match &self.when {
                Condition::None => true,
                Condition::When(program) => {
                    program.test(&CallScope::new(call, now)).unwrap_or(false)
                }
                Condition::Broken => false,
            }
    }
}
