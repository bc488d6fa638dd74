//! Keys and roles: who may ask, and who may decide. Keys are stored hashed and compared in constant time.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::{
    glob::Glob,
    ids::{hex, random_bytes},
    time::Time,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Asks.
    Agent,
    /// Sees and decides approvals at level supervisor, within its tools.
    Supervisor,
    /// Decides everything.
    Human,
    /// Also keys, grants, stop and policy.
    Admin,
    /// Brings replies that were sent by mail, and may do nothing else.
    Inbox,
}

impl Role {
    pub const ALL: [Self; 5] = [
        Self::Agent,
        Self::Supervisor,
        Self::Human,
        Self::Admin,
        Self::Inbox,
    ];

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether its holder is somebody who can be named in `people`.
    pub fn is_person(self) -> bool {
        matches!(self, Self::Human | Self::Admin)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Supervisor => "supervisor",
            Self::Human => "human",
            Self::Admin => "admin",
            Self::Inbox => "inbox",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A key as it is kept: never the secret itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Whose key it is; for an agent's key this is the agent.
    pub name: Arc<str>,
    pub role: Role,
    /// For a supervisor: the tools it may see and decide. Empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Glob>,
    /// Whose it is among `people`: however many keys and addresses they have, they are one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Arc<str>>,
    #[serde(skip)]
    pub hash: KeyHash,
    pub created_at: Time,
}

impl Key {
    pub fn may_see(&self, tool: &str) -> bool {
        may_see(self.role, &self.tools, tool)
    }

    /// How this key's owner is named in approvals and traces: `supervisor:fs-bot`.
    pub fn identity(&self) -> String {
        identity(self.role, &self.name)
    }
}

pub(crate) fn may_see(role: Role, tools: &[Glob], tool: &str) -> bool {
    role != Role::Supervisor || tools.is_empty() || tools.iter().any(|glob| glob.matches(tool))
}

pub(crate) fn identity(role: Role, name: &str) -> String {
    format!("{role}:{name}")
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl KeyHash {
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    pub fn same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A new secret, to be shown once.
pub fn new_secret() -> String {
    format!("pvk_{}", hex(&random_bytes::<32>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_sees_only_its_tools() {
        let key = |role, tools: &[&str]| Key {
            name: "x".into(),
            role,
            tools: tools.iter().map(|t| Glob::new(t).unwrap()).collect(),
            person: None,
            hash: KeyHash::of("secret"),
            created_at: Time::default(),
        };
        for (role, tools, tool, expected) in [
            (Role::Supervisor, &["fs.*"][..], "fs.write", true),
            (Role::Supervisor, &["fs.*"][..], "gmail.send", false),
            (Role::Supervisor, &[][..], "gmail.send", true),
            (Role::Human, &["fs.*"][..], "gmail.send", true),
        ] {
            assert_eq!(key(role, tools).may_see(tool), expected, "{role} {tool}");
        }
    }

    #[test]
    fn secrets_never_print() {
        assert_eq!(format!("{:?}", KeyHash::of("secret")), "…");
        assert_eq!(new_secret().len(), 68);
    }
}
