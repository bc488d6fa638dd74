//! Compiles the policies as the gate will, and gives its errors and lints the places of the files.

use provost_core::{
    key::Role,
    policy::{CompileError, Lint, LintKind, Place, PolicySet},
};

use super::{
    auth::ReadAuth,
    node::Span,
    policies::{Origin, Policies, PolicyPlace, RulePlace},
    reader::Reader,
};

impl Reader<'_> {
    /// `None` when there are errors, which are then reported.
    pub(super) fn compile(&mut self, policies: &Policies) -> Option<PolicySet> {
        match PolicySet::compile(policies.policies.clone()) {
            Ok(set) => Some(set),
            Err(errors) => {
                for error in errors {
                    self.compile_error(error, policies);
                }
                None
            }
        }
    }

    fn compile_error(&mut self, error: CompileError, policies: &Policies) {
        let span = match error.place {
            Place::Agent { policy } => policies.places.get(policy).map(|place| place.agent),
            Place::Tool { policy, rule, tool } => policies
                .rule(policy, rule)
                .and_then(|rule| rule.tools.get(tool))
                .copied(),
            Place::When { policy, rule } => policies
                .rule(policy, rule)
                .map(|rule| self.inside_when(rule, error.span)),
        };
        if let Some(span) = span.or_else(|| policies.places.first().map(|place| place.name)) {
            self.error(span, error.message, error.help.unwrap_or_default());
        }
    }

    fn inside_when(&self, rule: &RulePlace, part: Option<std::ops::Range<usize>>) -> Span {
        match (&rule.when, part) {
            (Some(when), Some(part)) => self.within(when, part),
            (Some(when), None) => when.span,
            (None, _) => rule.rule,
        }
    }

    /// Of policies that were read without error: a rule that lost its condition would cover all the others.
    pub(super) fn lint(&mut self, set: &PolicySet, policies: &Policies, auth: &ReadAuth) {
        let keys = auth
            .auth
            .keys
            .iter()
            .zip(&auth.places)
            .filter(|(key, _)| key.role == Role::Agent && !key.name.is_empty());
        let agents: Vec<(&str, Span)> = keys.map(|(key, place)| (&*key.name, *place)).collect();
        for lint in set.lints(agents.iter().map(|(name, _)| *name)) {
            let Some(span) = self.lint_place(&lint, policies, &agents) else {
                continue;
            };
            if is_default_action(&lint, policies) {
                let message =
                    "`default_action` never applies: other rules take every call before it";
                self.warn(span, message, "remove it, or narrow those rules");
            } else {
                self.warn(span, lint.message, lint.help);
            }
        }
    }

    fn lint_place(
        &self,
        lint: &Lint,
        policies: &Policies,
        agents: &[(&str, Span)],
    ) -> Option<Span> {
        match lint.kind {
            // What is asked last, where nothing is written, is often covered by what is written: as it should be.
            LintKind::Shadowed { policy, .. }
                if policies.place(policy)?.origin == Origin::Implied =>
            {
                None
            }
            LintKind::Shadowed { policy, rule } => {
                policies.rule(policy, rule).map(|rule| rule.rule)
            }
            LintKind::NoRules { policy } => policies.place(policy).map(|place| place.name),
            LintKind::Expression {
                policy,
                rule,
                span: (start, end),
            } => policies
                .rule(policy, rule)
                .map(|rule| self.inside_when(rule, Some(start..end))),
            LintKind::AgentWithoutRule => {
                let named = |name: &str| lint.message.contains(&format!("agent `{name}`"));
                agents
                    .iter()
                    .find(|(name, _)| named(name))
                    .map(|(_, span)| *span)
            }
            LintKind::WideGrant => None,
        }
    }
}

fn is_default_action(lint: &Lint, policies: &Policies) -> bool {
    let LintKind::Shadowed { policy, .. } = lint.kind else {
        return false;
    };
    policies
        .place(policy)
        .is_some_and(|place| place.origin == Origin::DefaultAction)
}

impl Policies {
    fn place(&self, policy: usize) -> Option<&PolicyPlace> {
        self.places.get(policy)
    }

    fn rule(&self, policy: usize, rule: usize) -> Option<&RulePlace> {
        self.place(policy)?.rules.get(rule)
    }
}
