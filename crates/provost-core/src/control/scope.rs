//! What a stop holds back: everything, agents by a glob, or one session.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::glob::Glob;

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Everything,
    Agent(AgentGlob),
    /// One session by its exact id: ids are made by programs, and no two have a pattern in common.
    Session(Arc<str>),
}

impl Scope {
    pub fn holds(&self, agent: &str, session: Option<&str>) -> bool {
        match self {
            Self::Everything => true,
            Self::Agent(agents) => agents.matches(agent),
            Self::Session(only) => session == Some(&**only),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("everything"),
            Self::Agent(agents) => write!(f, "agent:{}", agents.text),
            Self::Session(session) => write!(f, "session:{session}"),
        }
    }
}

impl std::str::FromStr for Scope {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once(':') {
            Some(("agent", agent)) => Ok(Self::Agent(agent.into())),
            Some(("session", session)) => Ok(Self::Session(session.into())),
            _ if text == "everything" => Ok(Self::Everything),
            _ => Err(()),
        }
    }
}

/// The agents that a stop names, by a glob as in policies. An agent whose name is this very text is meant as
/// well, also where the text is no glob (`bot[`): no name can escape a stop by how it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Arc<str>", into = "Arc<str>")]
pub struct AgentGlob {
    text: Arc<str>,
    glob: Option<Glob>,
}

impl AgentGlob {
    fn matches(&self, agent: &str) -> bool {
        *self.text == *agent || self.glob.as_ref().is_some_and(|glob| glob.matches(agent))
    }
}

impl From<Arc<str>> for AgentGlob {
    fn from(text: Arc<str>) -> Self {
        let glob = Glob::new(&text).ok();
        Self { text, glob }
    }
}

impl From<&str> for AgentGlob {
    fn from(text: &str) -> Self {
        Arc::<str>::from(text).into()
    }
}

impl From<AgentGlob> for Arc<str> {
    fn from(agents: AgentGlob) -> Self {
        agents.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_a_stop_names_agents_by_a_glob_and_every_agent_by_its_name() {
        for (scope, agent, held) in [
            ("claude", "claude", true),
            ("claude", "claude-1", false),
            ("claude*", "claude-1", true),
            ("claude*", "codex", false),
            ("*", "team/claude", true),
            ("team/*", "team/claude", true),
            ("bot[12]", "bot2", true),
            ("bot[12]", "bot[12]", true),
            ("bot[", "bot[", true),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
        ] {
            let scope = Scope::Agent(scope.into());
            assert_eq!(scope.holds(agent, Some("s")), held, "{scope} {agent}");
            let stored = serde_json::to_string(&scope).unwrap();
            assert_eq!(serde_json::from_str::<Scope>(&stored).unwrap(), scope);
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
    }

    #[test]
    fn p17_a_session_is_stopped_by_its_exact_id() {
        let scope = Scope::Session("s*".into());
        assert!(scope.holds("claude", Some("s*")));
        assert!(!scope.holds("claude", Some("s1")) && !scope.holds("claude", None));
    }
}
