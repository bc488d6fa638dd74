//! What loads but is probably not meant: rules that can never match, agents nobody wrote a rule for,
//! grants wider than anything that is ever asked.

mod command;
mod subject;

use provost_abl::expr::{Span, lints_beside, strict_lints};

use super::{
    PolicySet, Verdict,
    set::{CompiledPolicy, CompiledRule, Test},
    shape,
};
use crate::{glob::Glob, grant::Grant};

/// What every call has, and what is computed of it, where it is computed at all. A call may have no session,
/// and an address no host.
pub(super) const ALWAYS_SET: [&str; 7] = [
    "agent",
    "tool",
    "now",
    "risks",
    "command",
    "change",
    "unreadable",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    pub kind: LintKind,
    pub message: String,
    pub help: String,
}

/// Places are indexes into the policies as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LintKind {
    Shadowed {
        policy: usize,
        rule: usize,
    },
    NoRules {
        policy: usize,
    },
    AgentWithoutRule,
    WideGrant,
    /// Something an expression's author should know.
    Expression {
        policy: usize,
        rule: usize,
        span: (usize, usize),
    },
}

impl PolicySet {
    /// `agents` are those known by name: the owners of agents' keys.
    pub fn lints<'a>(&self, agents: impl IntoIterator<Item = &'a str>) -> Vec<Lint> {
        let mut found = Vec::new();
        self.lint_rules(&mut found);
        for agent in agents {
            if self.policies_for(agent).next().is_none() {
                found.push(Lint {
                    kind: LintKind::AgentWithoutRule,
                    message: format!("no policy matches agent `{agent}`: all its calls are denied"),
                    help: format!(
                        "add a policy with `agent: \"{agent}\"` or a glob that matches it"
                    ),
                });
            }
        }
        found
    }

    /// Grants that permit more than any rule ever asks about.
    pub fn lint_grants<'a>(&self, grants: impl IntoIterator<Item = &'a Grant>) -> Vec<Lint> {
        let wide = grants.into_iter().filter(|grant| {
            !self.policies().iter().any(|policy| {
                policy.agent.covers(&grant.agent)
                    && policy
                        .rules
                        .iter()
                        .filter(|rule| asks(rule.verdict))
                        .any(|rule| rule.covers(&grant.tools))
            })
        });
        wide.map(|grant| Lint {
            kind: LintKind::WideGrant,
            message: format!(
                "grant {} for agent `{}` and tools `{}` is wider than any rule that asks",
                grant.id, grant.agent, grant.tools
            ),
            help: "revoke it and grant just what is asked".to_owned(),
        })
        .collect()
    }

    fn lint_rules(&self, found: &mut Vec<Lint>) {
        let mut earlier: Vec<(&CompiledPolicy, &CompiledRule)> = Vec::new();
        for policy in self.policies() {
            if policy.rules.is_empty() {
                found.push(Lint {
                    kind: LintKind::NoRules {
                        policy: policy.written_at,
                    },
                    message: format!("policy `{}` has no rules", policy.name),
                    help: "add rules, or remove it".to_owned(),
                });
            }
            for (number, rule) in policy.rules.iter().enumerate() {
                if let Some(by) = shadow(&earlier, policy, rule) {
                    found.push(Lint {
                        kind: LintKind::Shadowed {
                            policy: policy.written_at,
                            rule: number,
                        },
                        message: format!(
                            "{} can never match: {by} takes every call before it",
                            rule.name
                        ),
                        help: "move the narrower rule first, or remove it".to_owned(),
                    });
                }
                lint_expressions(policy, number, rule, found);
                if rule.tests.is_empty() {
                    earlier.push((policy, rule));
                }
            }
        }
    }
}

/// What is wrong with an expression, where, and what to write instead.
struct Remark {
    span: Span,
    message: String,
    help: String,
}

/// The earlier unconditional rules that together take every tool of this one.
fn shadow(
    earlier: &[(&CompiledPolicy, &CompiledRule)],
    policy: &CompiledPolicy,
    rule: &CompiledRule,
) -> Option<String> {
    let mut by = Vec::new();
    for glob in &rule.globs {
        let (_, found) = earlier
            .iter()
            .find(|(before, earlier)| before.agent.covers(&policy.agent) && earlier.covers(glob))?;
        if !by.contains(&&*found.name) {
            by.push(&*found.name);
        }
    }
    (!by.is_empty()).then(|| by.join(" and "))
}

fn lint_expressions(
    policy: &CompiledPolicy,
    number: usize,
    rule: &CompiledRule,
    found: &mut Vec<Lint>,
) {
    for test in &rule.tests {
        let Test::When(program) = test else { continue };
        let mut report = |span: Span, message: String, help: String| {
            found.push(Lint {
                kind: LintKind::Expression {
                    policy: policy.written_at,
                    rule: number,
                    span: (span.start, span.end),
                },
                message,
                help,
            });
        };
        let mut remarks = lints_beside(program.expr(), &ALWAYS_SET);
        remarks.extend(strict_lints(program.expr(), shape::type_of));
        for lint in remarks {
            report(lint.span, lint.message, lint.help.unwrap_or_default());
        }
        let remarks = command::remarks(rule, program).into_iter();
        for remark in remarks.chain(subject::remarks(policy, rule, program)) {
            report(remark.span, remark.message, remark.help);
        }
    }
}

fn asks(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Supervisor | Verdict::HumanApproval)
}

impl CompiledRule {
    fn covers(&self, glob: &Glob) -> bool {
        self.globs.iter().any(|wide| wide.covers(glob))
    }
}
