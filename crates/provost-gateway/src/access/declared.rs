//! Agents that have no key and name themselves. That is for the first minutes: it takes a caller on this
//! machine, and no agent that has, or had, a key.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName};
use provost_core::control::Control;

use super::{
    Access,
    origin::{address, host_of, without_port},
};

/// Headers by which a proxy tells that a request is somebody else's.
const FORWARDED: [&str; 14] = [
    "forwarded",
    "via",
    "cdn-loop",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-forwarded-for",
    "x-original-host",
    "x-envoy-external-address",
    "cf-connecting-ip",
    "true-client-ip",
    "fastly-client-ip",
    "fly-client-ip",
    "tailscale-user-login",
];
/// And all that begin so.
const FORWARDED_PREFIX: &str = "x-forwarded";

/// Who may be an agent by saying so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeclaredAgents {
    /// Callers on this machine, until the first agent has a key.
    #[default]
    UntilFirstKey,
    /// Callers on this machine.
    Loopback,
    /// Nobody: an agent needs a key.
    Never,
}

/// Whether agents may declare themselves now, and why or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declaring {
    Open(&'static str),
    Closed(&'static str),
}

impl Declaring {
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open(_))
    }

    pub fn why(self) -> &'static str {
        match self {
            Self::Open(why) | Self::Closed(why) => why,
        }
    }
}

impl Access {
    /// Whether `auth.declared_agents: loopback` would let agents declare themselves that may not now.
    pub(super) fn opens_by_setting(&self, control: &Control) -> bool {
        let set = Self {
            declared_agents: DeclaredAgents::Loopback,
            ..self.clone()
        };
        let is_unset = self.declared_agents == DeclaredAgents::UntilFirstKey;
        is_unset && !self.declaring(control).is_open() && set.declaring(control).is_open()
    }

    pub fn declaring(&self, control: &Control) -> Declaring {
        if self.declared_agents == DeclaredAgents::Never {
            return Declaring::Closed(
                "agents need a key here: `auth.declared_agents` is `never`, or `auth.require_authentication` is set",
            );
        }
        // Whoever gives it a public name has a proxy in front, which comes from this machine.
        if self.hosts.iter().any(|host| !is_loopback_name(host)) {
            return Declaring::Closed(
                "agents need a key here: the gateway has a public name (`hosts` or `public_url`)",
            );
        }
        match self.declared_agents {
            DeclaredAgents::UntilFirstKey if control.are_agents_keyed() => Declaring::Closed(
                "agents need a key here, because an agent key was made and `auth.declared_agents` is not set",
            ),
            DeclaredAgents::UntilFirstKey => Declaring::Open("no agent key was made yet"),
            _ => Declaring::Open("`auth.declared_agents` is `loopback`"),
        }
    }
}

/// From this machine, and not through a proxy that brings in others; else why not.
pub(super) fn is_local(headers: &HeaderMap, remote: SocketAddr) -> Result<(), &'static str> {
    if !remote.ip().to_canonical().is_loopback() {
        return Err("an agent may declare itself only from this machine");
    }
    let host = host_of(headers).ok().flatten();
    if !host.is_some_and(is_loopback_name) {
        return Err("an agent may declare itself only at a loopback address, such as 127.0.0.1");
    }
    // Requests have few headers: looking at each once is cheaper than asking for names.
    let forwarded = |name: &HeaderName| {
        let name = name.as_str();
        FORWARDED.contains(&name) || name.starts_with(FORWARDED_PREFIX)
    };
    if headers.keys().any(forwarded) {
        return Err("an agent may not declare itself through a proxy");
    }
    Ok(())
}

/// A host, with or without its port, that names this machine to itself.
pub fn is_loopback_name(host: &str) -> bool {
    let name = without_port(host);
    name.eq_ignore_ascii_case("localhost")
        || address(name).is_some_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use provost_core::{
        control::ControlRows,
        key::{Key, KeyHash, Role},
        time::Time,
    };

    use http::header;

    use super::*;

    fn control(roles: &[Role]) -> Control {
        let key = |role: &Role| Key {
            name: role.as_str().into(),
            role: *role,
            tools: Vec::new(),
            person: None,
            hash: KeyHash::of(role.as_str()),
            created_at: Time::default(),
        };
        let keys: Vec<_> = roles.iter().map(key).collect();
        Control::new(ControlRows::default(), &keys)
    }

    #[test]
    fn p07_declaring_ends_with_the_first_agent_key_and_with_a_public_name() {
        use DeclaredAgents::{Loopback, Never, UntilFirstKey};
        let others = [Role::Supervisor, Role::Human, Role::Admin, Role::Inbox];
        for (declared_agents, hosts, roles, open) in [
            (UntilFirstKey, &[][..], &[][..], true),
            (UntilFirstKey, &[], &others, true),
            (UntilFirstKey, &[], &[Role::Agent], false),
            (Loopback, &[], &[Role::Agent], true),
            (Never, &[], &[], false),
            (UntilFirstKey, &["gate.example.com"], &[], false),
            (Loopback, &["gate.example.com"], &[], false),
            (Loopback, &["10.0.0.1:9090"], &[], false),
            (
                UntilFirstKey,
                &["localhost", "127.0.0.1:9090", "[::1]"],
                &[],
                true,
            ),
        ] {
            let access = Access {
                declared_agents,
                hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
                ..Access::default()
            };
            let declaring = access.declaring(&control(roles));
            assert_eq!(declaring.is_open(), open, "{access:?} {roles:?}");
        }
        // Who had the last key must not come back by its name.
        let gone = control(&[]).after_agents_were_keyed(true);
        assert!(!Access::default().declaring(&gone).is_open());
    }

    #[test]
    fn p07_declaring_takes_a_loopback_host_and_no_proxy() {
        for (remote, host, header, local) in [
            ("127.0.0.1:1", "127.0.0.1:9090", "accept", true),
            ("127.3.2.1:1", "127.3.2.1:9090", "accept", true),
            ("[::1]:1", "[::1]:9090", "accept", true),
            ("[::ffff:127.0.0.1]:1", "localhost", "accept", true),
            ("10.0.0.1:1", "127.0.0.1", "accept", false),
            ("127.0.0.1:1", "10.0.0.1:9090", "accept", false),
            ("127.0.0.1:1", "192.168.1.2", "accept", false),
            ("127.0.0.1:1", "0.0.0.0:9090", "accept", false),
            ("127.0.0.1:1", "localhost.example.com", "accept", false),
            ("127.0.0.1:1", "127.0.0.1.example.com", "accept", false),
            ("127.0.0.1:1", "", "accept", false),
            ("127.0.0.1:1", "[::1", "accept", false),
            ("127.0.0.1:1", "[::1]]", "accept", false),
            ("127.0.0.1:1", "[[127.0.0.1]]", "accept", false),
            ("127.0.0.1:1", "127.0.0.1]", "accept", false),
            ("127.0.0.1:1", "localhost", "x-forwarded-for", false),
            ("127.0.0.1:1", "localhost", "x-forwarded-port", false),
            ("127.0.0.1:1", "localhost", "Forwarded", false),
            ("127.0.0.1:1", "localhost", "Via", false),
            ("127.0.0.1:1", "localhost", "x-real-ip", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            headers.insert(
                header.to_ascii_lowercase().parse::<HeaderName>().unwrap(),
                "1".parse().unwrap(),
            );
            let remote = remote.parse().unwrap();
            assert_eq!(
                is_local(&headers, remote).is_ok(),
                local,
                "{remote} {host} {header}"
            );
        }
        let remote = "127.0.0.1:1".parse().unwrap();
        assert!(is_local(&HeaderMap::new(), remote).is_err(), "no host");
        let mut two = HeaderMap::new();
        two.append(header::HOST, "localhost".parse().unwrap());
        two.append(header::HOST, "evil.com".parse().unwrap());
        assert!(is_local(&two, remote).is_err(), "two hosts");
    }
}
