//! Who is calling: keys and roles, declared agents, and what a browser page must never do.

mod attempts;
mod declared;
mod origin;

use std::{net::SocketAddr, sync::Arc};

use http::{HeaderMap, header};
use provost_core::{
    call::is_name,
    control::Control,
    key::{Key, KeyHash, Role},
    time::Time,
};

use crate::fleet::PREFIX;

pub use attempts::Attempts;
pub use declared::{DeclaredAgents, Declaring, is_loopback_name};
pub use origin::{Foreign, check as check_origin};

use declared::is_local;

/// An agent that says nothing of itself.
const ANONYMOUS: &str = "anonymous";

/// How callers are told apart. Part of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Deciding needs no key. Only on a loopback address.
    pub open: bool,
    /// Whether an agent on this machine may name itself.
    pub declared_agents: DeclaredAgents,
    /// Names besides IP addresses and `localhost` under which this gateway is reached.
    pub hosts: Vec<String>,
}

/// Somebody who may do something.
#[derive(Clone, Debug)]
pub enum Caller {
    /// An agent, by its key or, on this machine, by its word.
    Agent(Arc<str>),
    /// A supervisor, a human or an admin.
    Decider(Arc<Key>),
}

/// By what somebody was let in. A stream may outlive the key that opened it, and then says no more.
#[derive(Debug)]
pub struct Standing {
    /// The name of the key; `None` for those who need none.
    key: Option<Arc<str>>,
    /// An agent by its word.
    is_declared: bool,
}

impl Standing {
    pub fn of(caller: &Caller, control: &Control) -> Self {
        let (name, is_agent) = match caller {
            Caller::Agent(name) => (name, true),
            Caller::Decider(key) => (&key.name, false),
        };
        let key = control.is_keyed(name).then(|| name.clone());
        Self {
            is_declared: is_agent && key.is_none() && !name.starts_with(PREFIX),
            key,
        }
    }

    pub fn holds(&self, control: &Control, access: &Access) -> bool {
        if self.is_declared && !access.declaring(control).is_open() {
            return false;
        }
        self.key.as_ref().is_none_or(|name| control.is_keyed(name))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    NoKey,
    UnknownKey,
    /// Declared agents are not let in from there, or at all.
    NotDeclared {
        why: &'static str,
        /// Whether `auth.declared_agents: loopback` would let them in.
        opens_by_setting: bool,
    },
    /// The declared name belongs to a key.
    NameTaken,
    BadName,
}

impl Access {
    pub fn identify(
        &self,
        headers: &HeaderMap,
        remote: SocketAddr,
        control: &Control,
    ) -> Result<Caller, Refused> {
        let Some(given) = headers.get(header::AUTHORIZATION) else {
            return self.without_key(headers, remote, control);
        };
        let secret = given
            .to_str()
            .ok()
            .and_then(|text| text.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| secret.trim());
        let Some(secret) = secret else {
            return Err(Refused::UnknownKey);
        };
        if let Some(name) = secret.strip_prefix("agent:") {
            return self.declared(name, headers, remote, control);
        }
        match control.key(secret) {
            Some(key) if key.role == Role::Agent => Ok(Caller::Agent(key.name.clone())),
            Some(key) => Ok(Caller::Decider(key.clone())),
            None => Err(Refused::UnknownKey),
        }
    }

    fn without_key(
        &self,
        headers: &HeaderMap,
        remote: SocketAddr,
        control: &Control,
    ) -> Result<Caller, Refused> {
        let may = self.declaring(control).is_open() && is_local(headers, remote).is_ok();
        if may && !control.is_keyed(ANONYMOUS) {
            return Ok(Caller::Agent(ANONYMOUS.into()));
        }
        Err(Refused::NoKey)
    }

    fn declared(
        &self,
        name: &str,
        headers: &HeaderMap,
        remote: SocketAddr,
        control: &Control,
    ) -> Result<Caller, Refused> {
        if let Declaring::Closed(why) = self.declaring(control) {
            return Err(Refused::NotDeclared {
                why,
                opens_by_setting: self.opens_by_setting(control),
            });
        }
        is_local(headers, remote).map_err(|why| Refused::NotDeclared {
            why,
            opens_by_setting: false,
        })?;
        if !is_name(name) {
            return Err(Refused::BadName);
        }
        // Agents that are run here have keys of their own.
        if control.is_keyed(name) || name.starts_with(PREFIX) {
            return Err(Refused::NameTaken);
        }
        Ok(Caller::Agent(name.into()))
    }

    /// Whoever decides without a key, where that is allowed.
    pub fn open_decider(&self, headers: &HeaderMap, remote: SocketAddr) -> Option<Arc<Key>> {
        let keyless = !headers.contains_key(header::AUTHORIZATION);
        (self.open && keyless && is_local(headers, remote).is_ok()).then(|| {
            Arc::new(Key {
                name: format!("open:{}", remote.ip()).into(),
                role: Role::Human,
                tools: Vec::new(),
                person: None,
                hash: KeyHash::default(),
                created_at: Time::default(),
            })
        })
    }
}
