//! A file of cases: calls, and what the policy should say of them. Each is judged by itself.

use provost_core::{
    call::Call,
    policy::{Explained, PolicySet, Verdict},
    time::Time,
};
use provost_runner::json_error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use provost_gateway::yaml;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    #[serde(default)]
    pub(super) name: String,
    agent: String,
    tool: String,
    session: Option<String>,
    #[serde(default)]
    params: Map<String, Value>,
    expect: Verdict,
    /// The rule that must decide, as `policy:rule-N`.
    rule: Option<String>,
}

/// What came of a case.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    pub(super) explained: Explained,
}

/// All cases, or everything that is wrong with the file.
pub(super) fn read(text: &str) -> Result<Vec<Case>, Vec<String>> {
    let items = match yaml::parse_exact(text) {
        Ok(Value::Array(items)) if !items.is_empty() => items,
        Ok(_) => {
            return Err(vec![
                "the file is not a list of cases: begin each with `- `".to_owned(),
            ]);
        }
        Err(problem) => return Err(vec![format!("not valid YAML: {problem}")]),
    };
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for (number, item) in (1..).zip(items) {
        let named = item
            .get("name")
            .and_then(Value::as_str)
            .map(|name| format!(" (`{name}`)"))
            .unwrap_or_default();
        match serde_json::from_value::<Case>(item) {
            Ok(mut case) => {
                if case.name.is_empty() {
                    case.name = format!("case {number}");
                }
                cases.push(case);
            }
            Err(error) => {
                let why = json_error::told(&error);
                problems.push(format!("case {number}{named}: {why}"));
            }
        }
    }
    if problems.is_empty() {
        Ok(cases)
    } else {
        Err(problems)
    }
}

pub(super) fn judge(case: Case, policies: &PolicySet, now: Time) -> Judged {
    let call = Call {
        agent: case.agent.into(),
        session: case.session.map(Into::into),
        tool: case.tool.into(),
        params: case.params,
    };
    let explained = policies.explain(&call, now);
    let other_rule = case.rule.filter(|rule| *rule != explained.rule);
    let problem = match other_rule {
        _ if explained.verdict != case.expect => Some(format!(
            "expected {}, but {} says {}",
            case.expect, explained.rule, explained.verdict
        )),
        Some(rule) => Some(format!(
            "expected {rule} to decide, but {} did",
            explained.rule
        )),
        None => None,
    };
    Judged {
        name: case.name,
        passed: problem.is_none(),
        problem,
        explained,
    }
}

#[cfg(test)]
mod tests {
    use provost_core::policy::{Policy, Rule};

    use super::*;

    fn policies() -> PolicySet {
        let rule = |tool: &str, action, when: Option<&str>| Rule {
            tools: vec![tool.to_owned()],
            action,
            when: when.map(str::to_owned),
            condition: None,
        };
        let rules = vec![
            rule("fs.read", Verdict::Allow, None),
            rule(
                "fs.write",
                Verdict::Supervisor,
                Some("params.path WITHIN \"/srv\""),
            ),
        ];
        PolicySet::compile(vec![Policy {
            name: "p".into(),
            agent: "*".into(),
            rate_limit: None,
            rules,
        }])
        .unwrap()
    }

    fn problems(text: &str) -> Vec<Option<String>> {
        let now = Time::from_millis(0);
        let cases = read(text).unwrap();
        cases
            .into_iter()
            .map(|case| judge(case, &policies(), now).problem)
            .collect()
    }

    #[test]
    fn cases_pass_or_say_why_not() {
        let found = problems(
            "- {name: reads, agent: a, tool: fs.read, expect: allow}\n\
             - {agent: a, tool: fs.write, params: {path: /srv/x}, expect: supervisor, rule: 'p:rule-1'}\n\
             - {agent: a, tool: fs.write, params: {path: /etc/x}, expect: supervisor}\n\
             - {agent: a, tool: fs.read, expect: allow, rule: 'p:rule-7'}\n",
        );
        let rule = policies().explain(
            &Call {
                agent: "a".into(),
                session: None,
                tool: "fs.read".into(),
                params: Map::new(),
            },
            Time::from_millis(0),
        );
        assert_eq!(found[0], None);
        assert_eq!(
            found[2].as_deref(),
            Some("expected supervisor, but default says deny")
        );
        assert_eq!(
            found[3],
            Some(format!(
                "expected p:rule-7 to decide, but {} did",
                rule.rule
            ))
        );
    }

    #[test]
    fn every_problem_of_the_file_is_told() {
        let found = read("- {agent: a, tool: b, expect: alow}\n- {name: n, agent: a, tool: b, expect: deny, prams: {}}\n").unwrap_err();
        assert_eq!(found.len(), 2);
        assert!(
            found[0].starts_with("case 1: unknown value `alow`"),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("case 2 (`n`): unknown field `prams`"),
            "{found:?}"
        );
        for text in ["", "a: 1", "[]", "- ["] {
            assert_eq!(read(text).unwrap_err().len(), 1, "{text}");
        }
    }
}
