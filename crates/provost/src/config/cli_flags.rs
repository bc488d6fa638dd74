//! Rules about `params.flags` of a command-line tool: the same flag may stand in `params.args`, where they do not
//! see it.

use provost_abl::expr::{ExprKind, Step, parse};
use provost_core::{glob::Glob, policy::Rule};
use provost_gateway::backends::{BackendsConfig, CliToolConfig};

use super::{
    policies::{Origin, Policies},
    reader::Reader,
};

const MESSAGE: &str = "`params.flags` has not the flags that are given in `params.args`";
const HELP: &str =
    "deny those first: `when: 'ANY arg IN params.args SATISFY (TO_STRING(arg) STARTS_WITH \"-\")'`";

impl Reader<'_> {
    pub(super) fn lint_cli_flags(&mut self, policies: &Policies, backends: &BackendsConfig) {
        for (policy, place) in policies.policies.iter().zip(&policies.places) {
            if place.origin != Origin::Written {
                continue;
            }
            let mut told_of_args = false;
            for (rule, at) in policy.rules.iter().zip(&place.rules) {
                told_of_args |= reads(rule, "args");
                if !told_of_args && reads(rule, "flags") && takes_flags(rule, &backends.cli_tools) {
                    self.warn(at.rule, MESSAGE, HELP);
                }
            }
        }
    }
}

/// Whether the rule is for a command that may be given flags.
fn takes_flags(rule: &Rule, tools: &[CliToolConfig]) -> bool {
    let globs: Vec<_> = rule.tools.iter().flat_map(|tool| Glob::new(tool)).collect();
    let is_for = |name: &str| globs.iter().any(|glob| glob.matches(name));
    let may = |allowed: &Option<Vec<String>>| allowed.as_ref().is_none_or(|list| !list.is_empty());
    tools.iter().any(|tool| {
        let bare = tool.bare.iter().map(|settings| ("run", settings));
        let declared = tool.commands.iter().map(|(name, of)| (name.as_str(), of));
        let mut known = bare.chain(declared);
        let undeclared = !tool.strict && tool.bare.is_none();
        let is_other = |pattern: &String| {
            let name = pattern
                .strip_prefix(&*tool.name)
                .and_then(|rest| rest.strip_prefix('.'));
            name.is_some_and(|name| !tool.commands.contains_key(name))
        };
        known.any(|(name, of)| may(&of.allowed_args) && is_for(&format!("{}.{name}", tool.name)))
            || (undeclared
                && (is_for(&format!("{}.\u{1}", tool.name)) || rule.tools.iter().any(is_other)))
    })
}

/// Whether a condition of the rule is about an argument, or about all of them.
fn reads(rule: &Rule, argument: &str) -> bool {
    let field = rule.condition.as_ref().map(|condition| {
        let field = condition.field.as_str();
        let field = field.strip_prefix("params.").unwrap_or(field);
        field.split(['.', '[']).next() == Some(argument)
    });
    let mut found = field.unwrap_or(false);
    let expr = rule.when.as_deref().and_then(|when| parse(when).expr);
    if let Some(expr) = expr {
        expr.walk(&mut |node| {
            found |= matches!(&node.kind, ExprKind::Path { root, steps } if &**root == "params"
                && matches!(steps.first(), Some(Step::Key(name)) if &**name == argument));
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::config::tests::{load_text, messages};

    const FLAGS: &str = "when: 'params.flags.env == \"prod\"'";

    #[test]
    fn p01_rules_about_flags_that_args_may_hold_are_told() {
        let by_condition = "condition: {field: flags.env, operator: '==', value: prod}";
        let other = "when: 'params.stdin == \"x\"'";
        let args = "when: 'ANY arg IN params.args SATISFY (TO_STRING(arg) STARTS_WITH \"-\")'";
        for (strict, rules, told) in [
            (false, &[("k.*", FLAGS)][..], true),
            (false, &[("k.get", FLAGS)], true),
            (false, &[("k.undeclared", FLAGS)], true),
            (false, &[("*", by_condition)], true),
            (false, &[("k.none", FLAGS)], false),
            (true, &[("k.none", FLAGS)], false),
            (true, &[("k.get", FLAGS)], true),
            (false, &[("other.get", FLAGS)], false),
            (false, &[("k.*", other)], false),
            (false, &[("k.*", args), ("k.*", FLAGS)], false),
            (false, &[("k.*", FLAGS), ("k.*", args)], true),
        ] {
            let written: Vec<String> = rules
                .iter()
                .map(|(tool, when)| {
                    format!("      - {{tools: ['{tool}'], {when}, action: deny}}\n")
                })
                .collect();
            let text = format!(
                "cli_tools:\n  - {{name: k, bin: /bin/echo, strict: {strict}, commands: {{get: {{}}, none: {{allowed_args: []}}}}}}\npolicies:\n  - name: p\n    agent: '*'\n    rules:\n{}      - {{tools: ['*'], action: allow}}\n",
                written.concat()
            );
            let loaded = load_text(&text);
            assert!(!loaded.has_errors(), "{text}{:?}", messages(&loaded));
            let found = messages(&loaded).contains(&super::MESSAGE);
            assert_eq!(found, told, "{text}{:?}", messages(&loaded));
        }
    }
}
