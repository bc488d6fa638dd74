//! A compiled set of policies and its one question: what about this call?

use std::sync::Arc;

use provost_abl::expr::{EvalError, Program, Scope as _, Value};

use super::{Condition, Policy, RateLimit, Verdict, scope::CallScope};
use crate::{
    call::Call,
    glob::{Glob, GlobIndex},
    time::Time,
};

#[derive(Debug)]
pub struct PolicySet {
    source: Vec<Policy>,
    /// In the order they are asked.
    policies: Vec<CompiledPolicy>,
    agents: GlobIndex,
    no_match: Ruled,
}

#[derive(Debug)]
pub(super) struct CompiledPolicy {
    pub(super) name: Arc<str>,
    pub(super) agent: Glob,
    pub(super) rate_limit: Option<RateLimit>,
    /// Its index in the file.
    pub(super) written_at: usize,
    pub(super) rules: Vec<CompiledRule>,
    pub(super) tools: GlobIndex,
}

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub(super) verdict: Verdict,
    pub(super) name: Arc<str>,
    pub(super) reason: Arc<str>,
    pub(super) globs: Vec<Glob>,
    /// All must hold.
    pub(super) tests: Vec<Test>,
}

#[derive(Debug)]
pub(super) enum Test {
    Condition(Condition),
    When(Program),
}

#[derive(Clone, Debug)]
struct Ruled {
    rule: Arc<str>,
    reason: Arc<str>,
}

/// The rule of a ruling where none matched.
const DEFAULT_RULE: &str = "default";

/// The policy's answer to one call.
#[derive(Clone, Debug)]
pub struct Ruling {
    pub verdict: Verdict,
    /// `policy:rule-N`, or `default` where nothing matched.
    pub rule: Arc<str>,
    pub reason: Arc<str>,
    /// The limit of the most specific policy for this agent that has one.
    pub rate_limit: Option<RateLimit>,
}

impl Ruling {
    /// No rule matched.
    pub fn is_default(&self) -> bool {
        &*self.rule == DEFAULT_RULE
    }
}

impl PolicySet {
    pub(super) fn from_parts(
        source: Vec<Policy>,
        policies: Vec<CompiledPolicy>,
        agents: GlobIndex,
    ) -> Self {
        let no_match = Ruled {
            rule: DEFAULT_RULE.into(),
            reason: "no rule matches, and what no rule allows is denied".into(),
        };
        Self {
            source,
            policies,
            agents,
            no_match,
        }
    }

    /// The policies as written.
    pub fn source(&self) -> &[Policy] {
        &self.source
    }

    pub fn rule_count(&self) -> usize {
        self.policies.iter().map(|policy| policy.rules.len()).sum()
    }

    pub(super) fn policies(&self) -> &[CompiledPolicy] {
        &self.policies
    }

    pub(super) fn policies_for<'a>(
        &'a self,
        agent: &'a str,
    ) -> impl Iterator<Item = &'a CompiledPolicy> {
        self.agents
            .matches(agent)
            .filter_map(|rank| self.policies.get(rank as usize))
    }

    pub fn evaluate(&self, call: &Call, now: Time) -> Ruling {
        let scope = CallScope::new(call, now);
        let mut rate_limit = None;
        let mut found = None;
        for policy in self.policies_for(&call.agent) {
            if rate_limit.is_none() {
                rate_limit = policy.rate_limit;
            }
            if found.is_none() {
                found = policy.first_match(&scope);
            }
            if found.is_some() && rate_limit.is_some() {
                break;
            }
        }
        let (verdict, ruled) = found.unwrap_or_else(|| (Verdict::Deny, self.no_match.clone()));
        Ruling {
            verdict,
            rule: ruled.rule,
            reason: ruled.reason,
            rate_limit,
        }
    }

    /// Whether some rule could let this agent call this tool, given the right arguments and a yes.
    pub fn could_permit(&self, agent: &str, tool: &str) -> bool {
        for policy in self.policies_for(agent) {
            for rule in policy
                .tools
                .matches(tool)
                .filter_map(|number| policy.rules.get(number as usize))
            {
                if rule.verdict != Verdict::Deny {
                    return true;
                }
                if rule.tests.is_empty() {
                    return false;
                }
            }
        }
        false
    }
}

impl CompiledPolicy {
    fn first_match(&self, scope: &CallScope<'_>) -> Option<(Verdict, Ruled)> {
        for number in self.tools.matches(&scope.call().tool) {
            let rule = self.rules.get(number as usize)?;
            match rule.holds(scope) {
                Ok(true) => {
                    return Some((
                        rule.verdict,
                        Ruled {
                            rule: rule.name.clone(),
                            reason: rule.reason.clone(),
                        },
                    ));
                }
                Ok(false) => {}
                // A condition that cannot be judged must neither allow by itself nor let a later rule allow.
                Err(error) => {
                    let reason =
                        format!("the condition of {} cannot be judged: {error}", rule.name);
                    return Some((
                        Verdict::Deny,
                        Ruled {
                            rule: rule.name.clone(),
                            reason: reason.into(),
                        },
                    ));
                }
            }
        }
        None
    }
}

impl CompiledRule {
    fn holds(&self, scope: &CallScope<'_>) -> Result<bool, String> {
        for test in &self.tests {
            let holds = match test {
                Test::Condition(condition) => condition.judge(&scope.call().params)?,
                Test::When(program) => program.test(scope).map_err(|error| told(&error, scope))?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn told(error: &EvalError, scope: &CallScope<'_>) -> String {
    let unreadable = matches!(scope.root("unreadable"), Some(Value::Bool(true)));
    match error {
        EvalError::Unreadable { .. } if unreadable => {
            format!("{error}; a rule with `when: unreadable` before it decides such calls")
        }
        // Every word was read, and one of the programs is not known well enough.
        EvalError::Unreadable { .. } => {
            "it is not known what one of its programs reads, writes or risks; name the command by its words: `part.words == […]`"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
