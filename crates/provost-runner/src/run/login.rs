//! An agent that needs a login before it works. A run cannot log in for anybody; it says who has to, and how. Only
//! where the agent takes its key from a variable that is set, it is told to.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{Run, stop::Stop};
use crate::{acp::RpcError, agents::Environment, setup::Supervised};

/// The protocol's, for a login that is missing. JSON-RPC has it for any error of a server, too.
const AUTH_REQUIRED: i64 = -32000;
/// Of what an agent says of its methods.
const LONGEST: usize = 200;

/// One of the ways to log in that an agent offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct AuthMethod {
    id: String,
    name: String,
    description: Option<String>,
    r#type: Option<String>,
    /// Of `env_var`: what it takes its key from.
    vars: Vec<Variable>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Variable {
    name: String,
    optional: bool,
}

impl AuthMethod {
    /// The list in the answer to `initialize`, or in the data of an error.
    pub(super) fn list(of: &Value) -> Vec<Self> {
        let methods = of.get("authMethods").and_then(Value::as_array);
        let methods = methods.into_iter().flatten().cloned();
        // One that cannot be read is one that cannot be chosen.
        methods
            .filter_map(|method| serde_json::from_value(method).ok())
            .filter(|method: &Self| !method.id.is_empty())
            .collect()
    }

    /// Whether all that it needs is in the agent's environment.
    fn is_ready(&self, environment: &Environment) -> bool {
        let mut needed = self.vars.iter().filter(|variable| !variable.optional);
        self.r#type.as_deref() == Some("env_var")
            && !self.vars.is_empty()
            && needed.all(|variable| environment.get(&variable.name).is_some())
    }

    fn words(&self) -> String {
        let names: Vec<_> = self.vars.iter().map(|variable| &*variable.name).collect();
        let said = self.description.as_deref().unwrap_or_default();
        let more = match (&*names, said) {
            ([], "") => String::new(),
            ([], said) => format!(": {said}"),
            (names, _) => format!(": set {}", names.join(", ")),
        };
        let words = format!("{} (`{}`){more}", self.name, self.id);
        words.chars().take(LONGEST).collect()
    }
}

impl Run {
    /// Opens a session. An agent that wants its key first is told to take it, once.
    pub(super) async fn opening(
        &mut self,
        method: &'static str,
        place: &RawValue,
    ) -> Result<Option<Box<RawValue>>, Stop> {
        let stop = match self.call(method, &place).await {
            Err(Stop::Refused { method, error }) => {
                let methods = offered(&self.auth_methods, &error);
                if !needs_login(&error, &methods) {
                    return Err(Stop::Refused { method, error });
                }
                let environment = Environment::of_process(&self.config.env);
                let ready = methods.iter().find(|method| method.is_ready(&environment));
                let Some(ready) = ready.map(|method| method.id.clone()) else {
                    return Err(login_needed(&self.supervised, &methods, &error));
                };
                self.authenticate(&ready).await?;
                match self.call(method, &place).await {
                    Err(Stop::Refused { error, .. }) if needs_login(&error, &methods) => {
                        login_needed(&self.supervised, &methods, &error)
                    }
                    opened => return opened,
                }
            }
            opened => return opened,
        };
        Err(stop)
    }

    async fn authenticate(&mut self, method: &str) -> Result<(), Stop> {
        self.journal.event(&json!({ "authenticate": method }));
        let params = json!({ "methodId": method });
        match self.call("authenticate", &params).await {
            Ok(_) => Ok(()),
            Err(Stop::Refused { error, .. }) => {
                Err(login_needed(&self.supervised, &self.auth_methods, &error))
            }
            Err(stop) => Err(stop),
        }
    }

    /// A login that is missing may be found out with the prompt.
    pub(super) fn refused_prompt(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Refused { method, error } => {
                let methods = offered(&self.auth_methods, &error);
                if needs_login(&error, &methods) {
                    login_needed(&self.supervised, &methods, &error)
                } else {
                    Stop::Refused { method, error }
                }
            }
            stop => stop,
        }
    }
}

/// What the error itself offers goes first.
fn offered(known: &[AuthMethod], error: &RpcError) -> Vec<AuthMethod> {
    let told = error.data.as_ref().map(AuthMethod::list);
    told.filter(|methods| !methods.is_empty())
        .unwrap_or_else(|| known.to_vec())
}

fn needs_login(error: &RpcError, methods: &[AuthMethod]) -> bool {
    let message = error.message.to_lowercase();
    let words = ["auth", "log in", "login", "sign in", "api key"];
    let says_so = words.iter().any(|word| message.contains(word));
    // The number alone means nothing if the agent has no ways to log in.
    error.code == AUTH_REQUIRED && (says_so || (!methods.is_empty() && message.is_empty()))
}

fn login_needed(supervised: &Supervised, methods: &[AuthMethod], error: &RpcError) -> Stop {
    let title = supervised
        .profile
        .map_or("the agent", |profile| profile.title);
    let how = match supervised.profile {
        Some(profile) => format!("run `{}` in a terminal, and then this again", profile.login),
        None => "log in with the agent's own program, and then run this again".to_owned(),
    };
    let offers: Vec<_> = methods.iter().map(AuthMethod::words).collect();
    let offers = if offers.is_empty() {
        String::new()
    } else {
        format!(". It offers: {}", offers.join("; "))
    };
    let ids: Vec<_> = methods.iter().map(|method| &method.id).collect();
    Stop::Failed {
        code: "auth_required",
        message: format!("{title} needs a login ({}): {how}{offers}", error.message),
        data: json!({"authMethods": ids, "error": error}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(value: Value) -> AuthMethod {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_a_method_whose_variables_are_set_is_ready() {
        let mut environment = Environment::default();
        environment.given.insert("KEY".into(), "x".into());
        environment.given.insert("EMPTY".into(), String::new());
        for (given, ready) in [
            (
                json!({"id": "a", "type": "env_var", "vars": [{"name": "KEY"}]}),
                true,
            ),
            (
                json!({"id": "a", "type": "env_var", "vars": [{"name": "KEY"}, {"name": "MORE", "optional": true}]}),
                true,
            ),
            (
                json!({"id": "a", "type": "env_var", "vars": [{"name": "KEY"}, {"name": "OTHER"}]}),
                false,
            ),
            (
                json!({"id": "a", "type": "env_var", "vars": [{"name": "EMPTY"}]}),
                false,
            ),
            (json!({"id": "a", "type": "env_var"}), false),
            (
                json!({"id": "a", "type": "terminal", "vars": [{"name": "KEY"}]}),
                false,
            ),
            (json!({"id": "a", "name": "Agent"}), false),
        ] {
            assert_eq!(
                method(given.clone()).is_ready(&environment),
                ready,
                "{given}"
            );
        }
    }

    #[test]
    fn a_login_is_told_from_other_errors() {
        let one = [method(json!({"id": "a", "name": "A"}))];
        for (code, message, methods, needs) in [
            (-32000, "Authentication required", &[][..], true),
            (-32000, "log in first", &[], true),
            (-32000, "", &one, true),
            (-32000, "", &[], false),
            (-32000, "out of credit", &one, false),
            (-32603, "Authentication required", &one, false),
        ] {
            let error = RpcError::new(code, message);
            assert_eq!(needs_login(&error, methods), needs, "{code} {message}");
        }
    }
}
