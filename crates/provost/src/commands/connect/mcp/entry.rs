//! What stays of a server's entry when the gate is put in front of it. The client would start the gate with the
//! server's variables, and by some of them it finds its gateway, its key and its libraries: so the server's get a
//! prefix, and `provost mcp` passes them on without it.

use std::collections::HashSet;

use serde_json::Value;

use crate::commands::{connect::json::Json, mcp::PASSED};

/// What an entry of ours may hold: no variables but those that are set anew.
pub(super) const OWN: [&str; 5] = ["command", "args", "timeout", "disabled", "description"];
/// What the entry of a server behind the gate may hold: how it is started, and the client's own settings.
pub(super) const WRAPPED: [&str; 13] = [
    "command",
    "args",
    "env",
    "cwd",
    "timeout",
    "disabled",
    "description",
    "autoApprove",
    "alwaysAllow",
    "disabledTools",
    "includeTools",
    "excludeTools",
    "trust",
];
const ENV: &str = "env";

/// Removes all other members. `None`: it is no object.
pub(super) fn keep(server: &mut Json, names: &[&str]) -> Option<()> {
    let members = server.members()?;
    members.retain(|(name, value)| {
        names.contains(&&**name) || (name == "type" && value.value() == "stdio")
    });
    keep_last(members);
    Some(())
}

/// A member other than `env` by which clients give a server variables, such as `envFile`.
pub(super) fn other_variables(server: &Value) -> Option<&str> {
    let mut names = server.as_object()?.keys();
    let is_other = |name: &&String| *name != ENV && name.to_ascii_lowercase().contains(ENV);
    names.find(is_other).map(String::as_str)
}

/// Renames the variables so that the server alone has them. Of an entry of ours, those that are passed on stay. What
/// would lead to a gateway goes. `None`: `env` is no object of texts.
pub(super) fn pass_variables(server: &mut Json, is_ours: bool) -> Option<()> {
    let Some(env) = server.value().get(ENV).cloned() else {
        return Some(());
    };
    if !env.as_object()?.values().all(Value::is_string) {
        return None;
    }
    let variables = server.member(ENV, Json::object([]))?.members()?;
    let passed = std::mem::take(variables)
        .into_iter()
        .filter_map(|(name, value)| Some((passed_as(name, is_ours)?, value)));
    *variables = passed.collect();
    keep_last(variables);
    if variables.is_empty() {
        server.members()?.retain(|(name, _)| name != ENV);
    }
    Some(())
}

fn passed_as(name: String, is_ours: bool) -> Option<String> {
    if is_ours && name.starts_with(PASSED) {
        return Some(name);
    }
    (!name.starts_with("PROVOST_")).then(|| format!("{PASSED}{name}"))
}

/// Of several members with one name, most readers take the last, and some join them.
fn keep_last(members: &mut Vec<(String, Json)>) {
    let mut seen = HashSet::new();
    members.reverse();
    members.retain(|(name, _)| seen.insert(name.clone()));
    members.reverse();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passed(env: &str, is_ours: bool) -> Option<Value> {
        let mut server = Json::parse(&format!("{{\"env\": {env}}}")).unwrap();
        pass_variables(&mut server, is_ours)?;
        Some(server.value().get(ENV).cloned().unwrap_or_default())
    }

    #[test]
    fn p06_variables_of_a_server_do_not_reach_the_gate() {
        for name in [
            "HOME",
            "PATH",
            "LD_PRELOAD",
            "SSL_CERT_FILE",
            "provost_url",
            "A",
        ] {
            let after = json!({format!("PROVOST_PASS_{name}"): "x"});
            let before = json!({name: "x"}).to_string();
            assert_eq!(passed(&before, false), Some(after.clone()));
            assert_eq!(passed(&before, true), Some(after.clone()));
            assert_eq!(passed(&after.to_string(), true), Some(after));
        }
        for (env, after) in [
            (r#"{"PROVOST_URL": "x"}"#, Value::Null),
            (r#"{"PROVOST_PASS_A": "x"}"#, Value::Null),
            ("{}", Value::Null),
            (
                r#"{"A": "1", "B": "2", "A": "3"}"#,
                json!({"PROVOST_PASS_A": "3", "PROVOST_PASS_B": "2"}),
            ),
        ] {
            assert_eq!(passed(env, false), Some(after), "{env}");
        }
        for env in ["null", "[]", r#"{"A": 1}"#] {
            assert_eq!(passed(env, false), None, "{env}");
        }
    }

    #[test]
    fn p06_members_that_are_not_known_go_and_of_two_the_last_stays() {
        let text = r#"{"env": {"A": "1"}, "url": "http://x", "type": "sse", "command": "a", "Args": [],
            "autoApprove": ["read"], "command": "b", "env": {}}"#;
        let mut server = Json::parse(text).unwrap();
        keep(&mut server, &WRAPPED).unwrap();
        let names = server.members().unwrap().iter();
        let names: Vec<_> = names.map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["autoApprove", "command", "env"]);
        let after = json!({"autoApprove": ["read"], "command": "b", "env": {}});
        assert_eq!(server.value(), after);
        assert_eq!(keep(&mut Json::text("x"), &WRAPPED), None);
    }

    #[test]
    fn p06_other_ways_to_bring_variables_are_known() {
        for name in ["envFile", "ENV", "env_file", "environment", "dotenv"] {
            assert_eq!(other_variables(&json!({"env": {}, name: 1})), Some(name));
        }
        assert_eq!(other_variables(&json!({"env": {}, "command": "x"})), None);
    }
}
