//! Why a call was ruled as it was: every rule that was looked at, and what decided.

use std::fmt;

use serde::Serialize;

use super::{
    PolicySet, Verdict,
    scope::CallScope,
    set::{CompiledRule, Test},
};
use crate::{call::Call, time::Time};

#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    pub verdict: Verdict,
    pub rule: String,
    pub reason: String,
    /// In the order they were asked; the last one decided, unless nothing matched.
    pub considered: Vec<Considered>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Considered {
    pub rule: String,
    pub action: Verdict,
    pub matched: bool,
    /// One entry per condition that was judged.
    pub tests: Vec<String>,
}

impl PolicySet {
    pub fn explain(&self, call: &Call, now: Time) -> Explained {
        let ruling = self.evaluate(call, now);
        let mut considered = Vec::new();
        'all: for policy in self.policies_for(&call.agent) {
            for rule in policy
                .tools
                .matches(&call.tool)
                .filter_map(|number| policy.rules.get(number as usize))
            {
                let decided = *rule.name == *ruling.rule;
                considered.push(rule.considered(call, now, decided));
                if decided {
                    break 'all;
                }
            }
        }
        Explained {
            verdict: ruling.verdict,
            rule: ruling.rule.to_string(),
            reason: ruling.reason.to_string(),
            considered,
        }
    }
}

impl CompiledRule {
    fn considered(&self, call: &Call, now: Time, matched: bool) -> Considered {
        let tests = self
            .tests
            .iter()
            .map(|test| test.explained(call, now))
            .collect();
        Considered {
            rule: self.name.to_string(),
            action: self.verdict,
            matched,
            tests,
        }
    }
}

impl Test {
    fn explained(&self, call: &Call, now: Time) -> String {
        match self {
            Self::When(program) => program.explain(&CallScope::new(call, now)).to_string(),
            Self::Condition(condition) => {
                let seen = match condition.lookup(&call.params) {
                    Ok(Some(seen)) => seen.to_string(),
                    Ok(None) => "not set".to_owned(),
                    Err(_) => "of another shape".to_owned(),
                };
                let (field, operator) = (&condition.field, condition.operator.as_str());
                let held = match condition.judge(&call.params) {
                    Ok(held) => format!("is {held}"),
                    Err(error) => format!("cannot be judged: {error}"),
                };
                format!(
                    "{field} {operator} {} {held} ({field} is {seen})",
                    condition.value
                )
            }
        }
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for considered in &self.considered {
            let mark = if considered.matched {
                "matches"
            } else {
                "does not match"
            };
            writeln!(f, "{} ({}) {mark}", considered.rule, considered.action)?;
            for line in considered.tests.iter().flat_map(|test| test.lines()) {
                writeln!(f, "    {line}")?;
            }
        }
        write!(f, "{}: {}", self.verdict, self.reason)
    }
}
