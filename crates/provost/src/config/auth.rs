//! Who may come in: keys and their roles.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use provost_core::{
    glob::Glob,
    key::{Key, KeyHash, Role},
    people::Directory,
    time::Time,
};
use provost_gateway::{
    access::{DeclaredAgents, is_loopback_name},
    fleet::PREFIX as RUNS,
};

use super::{
    fields::{Field, Map},
    node::{Kind, Span},
    reader::Reader,
    secret::Secret,
};

/// Of characters in a key.
const SHORTEST: usize = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Auth {
    /// Whether those who have no key may decide. Only ever on a loopback address.
    pub(crate) open: bool,
    pub(crate) declared_agents: DeclaredAgents,
    pub(crate) keys: Vec<Key>,
}

const MAKE_ONE: &str = "make one with `openssl rand -hex 24`, or with `provost keys create`";

/// Why no request can bring this key, and what to do.
fn never_accepted(key: &str) -> Option<(&'static str, &'static str)> {
    if key.trim_start().starts_with("agent:") {
        return Some((
            "a key cannot begin with `agent:`: it would never be accepted",
            "`Bearer agent:NAME` means an agent that declares its name; use a random key (`provost keys \
             create` makes one)",
        ));
    }
    let is_printable = key.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    if !is_printable || key.trim() != key {
        return Some((
            "a key is printable ASCII without blanks at its ends: this one could not be sent in a header, and \
             would never be accepted",
            MAKE_ONE,
        ));
    }
    None
}

/// What is read, and where the names of the keys stand.
#[derive(Default)]
pub(super) struct ReadAuth {
    pub(super) auth: Auth,
    pub(super) places: Vec<Span>,
    /// Names of people that keys are tied to: looked up once people are known.
    pub(super) tied: Vec<(String, Span)>,
    /// Where it is written that agents on this machine may declare themselves.
    declared: Option<Span>,
}

impl Reader<'_> {
    pub(super) fn read_auth(&mut self, top: &Map<'_>, listen: SocketAddr) -> ReadAuth {
        const KEYS: [&str; 6] = [
            "open",
            "declared_agents",
            "keys",
            "admin_token",
            "require_authentication",
            "jwt",
        ];
        let mut read = ReadAuth::default();
        let Some(map) = top
            .get("auth")
            .and_then(|field| self.guarded_map(field, &KEYS))
        else {
            return read;
        };
        if let Some(jwt) = map.get("jwt") {
            self.cover(jwt.node);
            let span = map.key_span("jwt").unwrap_or_else(|| jwt.span());
            let help = "give each agent a key in `auth.keys`, and remove `jwt`: without this error its tokens would go unchecked";
            self.error(span, "`jwt` is not supported", help);
        }
        read.auth.declared_agents = self.read_declared(&map);
        if read.auth.declared_agents == DeclaredAgents::Loopback {
            read.declared = map.key_span("declared_agents");
        }
        read.auth.open = self.read_open(&map, listen);
        if let Some(keys) = map.get("keys") {
            if !matches!(keys.node.kind, Kind::List(_)) {
                self.cover(keys.node);
            }
            for item in self.items(keys) {
                self.read_key(item, &mut read);
            }
        }
        self.read_admin_token(&map, &mut read);
        self.check_keys(&read);
        read
    }

    fn read_open(&mut self, map: &Map<'_>, listen: SocketAddr) -> bool {
        let Some(field) = map.get("open") else {
            return false;
        };
        let open = self.boolean(field).unwrap_or(false);
        if open && !listen.ip().is_loopback() {
            let message = format!("`open: true` on {listen} lets everybody who reaches it decide");
            self.error(
                field.span(),
                message,
                "listen on 127.0.0.1, or give out keys and remove `open`",
            );
        }
        open
    }

    fn read_declared(&mut self, map: &Map<'_>) -> DeclaredAgents {
        let choices = [
            ("loopback", DeclaredAgents::Loopback),
            ("never", DeclaredAgents::Never),
        ];
        let required = map
            .get("require_authentication")
            .and_then(|field| self.boolean(field));
        let written = map.get("declared_agents");
        if let (Some(field), Some(true)) = (written, required) {
            let said = self.choice(field, &choices);
            if said == Some(DeclaredAgents::Loopback) {
                let message = "`require_authentication: true` means `declared_agents: never`";
                self.error(field.span(), message, "remove one of them");
            }
            return DeclaredAgents::Never;
        }
        match written {
            Some(field) => self.choice(field, &choices).unwrap_or_default(),
            None if required == Some(true) => DeclaredAgents::Never,
            None => DeclaredAgents::default(),
        }
    }

    fn read_key(&mut self, item: Field<'_>, read: &mut ReadAuth) {
        let Some(map) = self.guarded_map(item, &["name", "role", "tools", "person", "key"]) else {
            return;
        };
        let name = self.require(&map, "name", "a key");
        let place = name.map_or_else(|| map.head(), |name| name.node.span);
        let name = name.and_then(|field| self.name(field)).unwrap_or_default();
        let roles = Role::ALL.map(|role| (role.as_str(), role));
        let role = self
            .require(&map, "role", "a key")
            .and_then(|field| self.choice(field, &roles));
        let tools = map
            .get("tools")
            .map(|field| self.read_tools(field, role))
            .unwrap_or_default();
        let secret = self
            .require(&map, "key", "a key")
            .and_then(|field| self.key_secret(field));
        let hash = secret.map_or_else(KeyHash::default, |secret| KeyHash::of(secret.expose()));
        let person = map.filled("person");
        let person = person.and_then(|field| self.read_tied(field, role, read));
        let role = role.unwrap_or(Role::Agent);
        read.auth.keys.push(Key {
            name: name.into(),
            role,
            tools,
            person,
            hash,
            created_at: Time::default(),
        });
        read.places.push(place);
    }

    fn key_secret(&mut self, field: Field<'_>) -> Option<Secret> {
        let secret = self.secret(field)?;
        if self.stands_in(field, &secret) {
            return Some(secret);
        }
        if let Some((message, help)) = never_accepted(secret.expose()) {
            self.error(field.node.span, message, help);
            return None;
        }
        if secret.expose().len() < SHORTEST {
            let message = format!("a key of fewer than {SHORTEST} characters can be guessed");
            self.warn(field.node.span, message, MAKE_ONE);
        }
        Some(secret)
    }

    fn read_tools(&mut self, field: Field<'_>, role: Option<Role>) -> Vec<Glob> {
        if role.is_some_and(|role| role != Role::Supervisor) {
            let help = "what an agent may call is said by policies";
            self.error(
                field.span(),
                "only a supervisor's key can be limited to `tools`",
                help,
            );
        }
        let texts = self.texts(field);
        if texts.is_empty() {
            self.error(
                field.span(),
                "`tools` is empty",
                "name the tools, or remove it: without it, all tools are meant",
            );
        }
        texts
            .into_iter()
            .filter_map(|(text, span)| self.glob(text, span))
            .collect()
    }

    /// Whose key it is among `people`.
    fn read_tied(
        &mut self,
        field: Field<'_>,
        role: Option<Role>,
        read: &mut ReadAuth,
    ) -> Option<Arc<str>> {
        let name = self.text(field)?;
        if let Some(role) = role.filter(|role| !role.is_person()) {
            let message = format!("a key of role `{role}` belongs to no person");
            let help = "only keys of role human and admin have a `person`: remove it";
            self.error(field.span(), message, help);
            return None;
        }
        read.tied.push((name.to_owned(), field.node.span));
        Some(name.into())
    }

    /// A public name means a proxy, which comes from this machine for everybody.
    pub(super) fn check_declared(&mut self, read: &ReadAuth, hosts: &[String]) {
        let public = hosts.iter().find(|host| !is_loopback_name(host));
        if let (Some(span), Some(public)) = (read.declared, public) {
            let message = format!(
                "`declared_agents: loopback` has no effect, because the gateway is also reached as `{public}`"
            );
            let help = "remove it and give each agent a key, or remove the public name (`hosts`, `public_url`)";
            self.warn(span, message, help);
        }
    }

    pub(super) fn check_tied(&mut self, read: &ReadAuth, people: &Directory) {
        for (name, span) in &read.tied {
            if people.named(name).is_none() {
                let help = "name somebody of `people`, or remove it";
                self.error(*span, format!("there is no person called `{name}`"), help);
            }
        }
    }

    /// Where several must approve, a key that is nobody's is somebody more.
    pub(super) fn lint_untied(&mut self, read: &ReadAuth, people: &Directory) {
        let Some(route) = people.routes.iter().find(|route| route.needed > 1) else {
            return;
        };
        let keys = read.auth.keys.iter().zip(&read.places);
        for (key, place) in keys.filter(|(key, _)| key.role.is_person() && key.person.is_none()) {
            let message = format!(
                "the key `{}` belongs to no person, and {} people must approve what `{}` is about",
                key.name, route.needed, route.name
            );
            let help = "name its owner in `person`: otherwise somebody with this key and another key, or an \
                        address, counts twice";
            self.warn(*place, message, help);
        }
    }

    /// The ancestor's key to its control plane.
    fn read_admin_token(&mut self, map: &Map<'_>, read: &mut ReadAuth) {
        let Some(field) = map.filled("admin_token") else {
            return;
        };
        let Some(secret) = self.key_secret(field) else {
            return;
        };
        read.auth.keys.push(Key {
            name: "admin-token".into(),
            role: Role::Admin,
            tools: Vec::new(),
            person: None,
            hash: KeyHash::of(secret.expose()),
            created_at: Time::default(),
        });
        read.places
            .push(map.key_span("admin_token").unwrap_or_else(|| field.span()));
    }

    /// Two keys of one name, or one secret for two, leave open who is meant.
    fn check_keys(&mut self, read: &ReadAuth) {
        let mut names: HashMap<&str, Span> = HashMap::new();
        let mut secrets: HashMap<KeyHash, &str> = HashMap::new();
        for (key, place) in read.auth.keys.iter().zip(&read.places) {
            if key.name.is_empty() {
                continue;
            }
            if key.name.starts_with(RUNS) {
                let message = format!("the name of a key cannot begin with `{RUNS}`");
                let help = "agents that `runs` starts are called so, and this key would count as one of them; choose another name";
                self.error(*place, message, help);
            }
            if let Some(first) = names.insert(&key.name, *place) {
                let help = format!("the other one is at {}", self.name_place(first));
                self.error(
                    *place,
                    format!("there is another key named `{}`", key.name),
                    help,
                );
            }
            if key.hash == KeyHash::default() {
                continue;
            }
            if let Some(other) = secrets
                .insert(key.hash, &key.name)
                .filter(|other| **other != *key.name)
            {
                let message = format!("`{}` and `{other}` have the same key", key.name);
                self.error(*place, message, "give each a key of its own");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::never_accepted;

    #[test]
    fn p18_a_key_that_no_request_can_bring_is_refused() {
        for key in [
            "agent:xxxxxxxxxxxxxxxxxxxx",
            " agent:xxxxxxxxxxxxxxxxxxxx",
            "ünïcode-key-of-enough-length",
            "trailing-blank-key-xxxxxxx ",
            " leading-blank-key-xxxxxxx",
            "tab\there-key-of-enough-length",
            "line\nbreak-key-of-enough-length",
            "line-break-at-its-end-xxxxxx\n",
        ] {
            assert!(never_accepted(key).is_some(), "{key:?}");
        }
        for key in ["with blanks in the key", "plain-key", "~!@#$%^&*()_+"] {
            assert_eq!(never_accepted(key), None, "{key:?}");
        }
    }
}
