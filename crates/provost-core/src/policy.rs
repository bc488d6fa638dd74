//! Policy: ordered rules, compiled once, asked in a microsecond. Level 0 of the judgement.

mod compile;
mod condition;
#[cfg(test)]
mod exact;
mod explain;
mod facts;
mod lint;
pub mod replay;
pub mod scope;
mod set;
mod shape;

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

pub use compile::{CompileError, Place, PolicyError, compile_when};
pub use condition::{Condition, Operator};
pub use explain::{Considered, Explained};
pub use facts::COMPUTED;
pub use lint::{Lint, LintKind};
pub use scope::TEXTS;
pub use set::{PolicySet, Ruling};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allow,
    Deny,
    Supervisor,
    HumanApproval,
}

impl Verdict {
    pub const ALL: [Self; 4] = [
        Self::Allow,
        Self::Deny,
        Self::Supervisor,
        Self::HumanApproval,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Supervisor => "supervisor",
            Self::HumanApproval => "human_approval",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == text)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A policy as written: the rules for the agents a glob names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub name: Arc<str>,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    pub rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    pub tools: Vec<String>,
    pub action: Verdict,
    /// An expression with `params`, `agent`, `session`, `tool` and `now` in scope, and with what the gate
    /// computed of the call: `risks`, `command`, `change`, `url` and `unreadable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_per_minute: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_total: Option<u64>,
}
