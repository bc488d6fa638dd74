//! What people set while the gateway runs: stops, grants and keys, as one consistent snapshot.
//!
//! The store counts their changes. A decision names the count it was made under, and the store refuses
//! it when the count has moved: a stop or a revocation holds from the moment it is committed, on every
//! replica.

mod scope;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

pub use scope::{AgentGlob, Scope};

use crate::{
    call::Call,
    grant::{ActiveGrant, Asked, Grant},
    ids::GrantId,
    key::{Key, KeyHash, Role},
    policy::scope::CallScope,
    time::Time,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    pub scope: Scope,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    pub at: Time,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is stopped by {}", self.scope, self.by)?;
        match &self.reasoning {
            Some(reasoning) => write!(f, ": {reasoning}"),
            None => Ok(()),
        }
    }
}

/// As the store holds it.
#[derive(Clone, Debug, Default)]
pub struct ControlRows {
    pub version: u64,
    pub stops: Vec<Stop>,
    pub grants: Vec<Grant>,
    pub keys: Vec<Key>,
}

/// As the gate reads it.
#[derive(Debug, Default)]
pub struct Control {
    pub version: u64,
    pub stops: Vec<Stop>,
    pub grants: Vec<ActiveGrant>,
    keys: HashMap<KeyHash, Arc<Key>>,
    names: HashSet<Arc<str>>,
    agents_keyed: bool,
}

impl Control {
    /// `configured` keys are those of the config file; a stored key never shadows one of them.
    pub fn new(rows: ControlRows, configured: &[Key]) -> Self {
        let all = || rows.keys.iter().chain(configured);
        let keys = all().map(|key| (key.hash, Arc::new(key.clone()))).collect();
        let names = all().map(|key| key.name.to_lowercase().into()).collect();
        let agents_keyed = all().any(|key| key.role == Role::Agent);
        Self {
            version: rows.version,
            stops: rows.stops,
            grants: rows.grants.into_iter().map(ActiveGrant::new).collect(),
            keys,
            names,
            agents_keyed,
        }
    }

    /// Remembers that an agent had a key, though it may be gone by now.
    pub fn after_agents_were_keyed(mut self, keyed: bool) -> Self {
        self.agents_keyed |= keyed;
        self
    }

    /// Whether an agent has a key, or ever had one.
    pub fn are_agents_keyed(&self) -> bool {
        self.agents_keyed
    }

    pub fn stop_for(&self, call: &Call) -> Option<&Stop> {
        self.stop_of(&call.agent, call.session.as_deref())
    }

    pub fn stop_of(&self, agent: &str, session: Option<&str>) -> Option<&Stop> {
        let mut stops = self.stops.iter();
        stops.find(|stop| stop.scope.holds(agent, session))
    }

    pub fn grant_for(&self, asked: &Asked<'_>, now: Time) -> Option<&ActiveGrant> {
        let scope = CallScope::new(asked.call, now);
        let mut grants = self.grants.iter();
        grants.find(|grant| grant.permits_in(asked, &scope, now))
    }

    /// Whether it is neither revoked nor over, though it may be used up.
    pub fn has_grant(&self, id: &GrantId, now: Time) -> bool {
        let mut grants = self.grants.iter().map(|active| &active.grant);
        grants.any(|grant| grant.id == *id && grant.lasts_at(now))
    }

    pub fn key(&self, secret: &str) -> Option<&Arc<Key>> {
        self.key_by_hash(&KeyHash::of(secret))
    }

    pub fn key_by_hash(&self, hash: &KeyHash) -> Option<&Arc<Key>> {
        // The table finds a candidate by its hash; equality is decided in constant time.
        self.keys.get(hash).filter(|key| key.hash.same(hash))
    }

    pub fn keys(&self) -> impl Iterator<Item = &Arc<Key>> {
        self.keys.values()
    }

    /// Whether some key carries this name, in whatever case, so that nobody may merely declare it.
    pub fn is_keyed(&self, name: &str) -> bool {
        let is_lower = name.is_ascii() && !name.bytes().any(|byte| byte.is_ascii_uppercase());
        self.names.contains(name) || (!is_lower && self.names.contains(&*name.to_lowercase()))
    }
}
