//! Conditions that hold of no call, whatever it says: constants that are false, and comparisons that can never
//! match or be judged.

use jiff::Timestamp;
use serde_json::Value as Json;

use super::{
    super::types::{Type, Types},
    Lint, Linter,
};
use crate::expr::ast::{CompareOp, Expr, ExprKind, Step};
use crate::expr::eval::Run;
use crate::expr::functions::Function;
use crate::expr::program::{Settings, Typing};
use crate::expr::scope::JsonScope;

/// Why a condition of a gate can never hold. `always_set` are the names of the host that have a value in every
/// evaluation.
pub fn never_holds(expr: &Expr, types: Types, always_set: &[&str]) -> Option<Lint> {
    let linter = Linter::read(expr, types);
    if linter.outcomes(expr, always_set).may_be_true {
        return None;
    }
    let first = linter
        .dead
        .first()
        .and_then(|(_, at)| linter.lints.get(*at));
    Some(first.cloned().unwrap_or_else(|| Lint {
        span: expr.span,
        message: "the condition never holds, whatever is called".to_owned(),
        help: Some("write what it is about, or remove the rule".to_owned()),
    }))
}

/// What may come of a condition. Neither: it can never be judged.
#[derive(Clone, Copy)]
struct Outcomes {
    may_be_true: bool,
    may_be_false: bool,
}

impl Outcomes {
    const EITHER: Self = Self::new(true, true);
    const FALSE: Self = Self::new(false, true);
    const NEITHER: Self = Self::new(false, false);

    const fn new(may_be_true: bool, may_be_false: bool) -> Self {
        Self {
            may_be_true,
            may_be_false,
        }
    }

    fn negated(self) -> Self {
        Self::new(self.may_be_false, self.may_be_true)
    }
}

impl Linter<'_> {
    /// Never fewer than there are.
    fn outcomes(&self, expr: &Expr, always_set: &[&str]) -> Outcomes {
        let below = |operands: &[Expr]| -> Vec<_> {
            let outcomes = operands.iter().map(|it| self.outcomes(it, always_set));
            outcomes.collect()
        };
        if is_constant(expr) {
            return evaluated(expr);
        }
        match &expr.kind {
            ExprKind::Not(of) => self.outcomes(of, always_set).negated(),
            ExprKind::All(operands) => {
                let operands = below(operands);
                Outcomes::new(
                    operands.iter().all(|it| it.may_be_true),
                    operands.iter().any(|it| it.may_be_false),
                )
            }
            ExprKind::Any(operands) => {
                let operands = below(operands);
                Outcomes::new(
                    operands.iter().any(|it| it.may_be_true),
                    operands.iter().all(|it| it.may_be_false),
                )
            }
            _ if self.dead.iter().any(|(dead, _)| std::ptr::eq(*dead, expr)) => {
                self.of_dead(expr, always_set)
            }
            _ => Outcomes::EITHER,
        }
    }

    /// Nothing holds of what is not set but `!=` and negations, which cannot be judged otherwise.
    fn of_dead(&self, expr: &Expr, always_set: &[&str]) -> Outcomes {
        let is_set = |side: &Expr| match &side.kind {
            ExprKind::Path { root, steps } => {
                let is_key = |step: &Step| matches!(step, Step::Key(_));
                always_set.contains(&&**root)
                    && steps.iter().all(is_key)
                    && !matches!(self.known.type_of(side), Some(Type::Open))
            }
            _ => is_constant(side),
        };
        match &expr.kind {
            ExprKind::Compare {
                op,
                negated,
                left,
                right,
            } if *negated || *op == CompareOp::NotEqual => {
                if is_set(left) && is_set(right) {
                    Outcomes::NEITHER
                } else {
                    Outcomes::EITHER
                }
            }
            ExprKind::Compare { left, right, .. } if is_set(left) && is_set(right) => {
                Outcomes::NEITHER
            }
            // `NONE x IN agent SATISFY (…)`, where there is no such thing.
            ExprKind::Each { list, .. } if !is_set(list) => Outcomes::EITHER,
            _ => Outcomes::FALSE,
        }
    }
}

/// It reads nothing that changes from call to call.
fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |node| {
        constant &= !matches!(
            &node.kind,
            ExprKind::Path { .. }
                | ExprKind::Missing
                | ExprKind::Call {
                    function: Function::Now | Function::UniqueId,
                    ..
                }
        );
    });
    constant
}

fn evaluated(expr: &Expr) -> Outcomes {
    let settings = Settings {
        typing: Typing::Strict,
        ..Settings::default()
    };
    let scope = JsonScope::new(&Json::Null, Timestamp::UNIX_EPOCH);
    match Run::new(&scope, settings).test(expr) {
        Ok(holds) => Outcomes::new(holds, !holds),
        Err(_) => Outcomes::NEITHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::parse;

    #[test]
    fn p17_a_condition_that_holds_of_no_call_is_found() {
        let types: Types = |name| match name {
            "agent" => Some(&Type::Name),
            "risks" => Some(&Type::List(&Type::Word)),
            "command" => Some(&Type::Object(&[("programs", Type::List(&Type::Text))])),
            "url" => Some(&Type::Object(&[("port", Type::Number)])),
            "params" => Some(&Type::Open),
            _ => None,
        };
        let found = |source: &str| {
            let expr = parse(source).expr.unwrap();
            never_holds(&expr, types, &["agent", "risks", "command"])
        };
        for source in [
            "false",
            "1 == 2",
            "NOT true",
            "'a' IN ['b']",
            "0",
            "1 == 2 AND params.x == 1",
            "params.x == 1 AND false",
            "1 == 2 OR NOT (1 == 1)",
            "1 < 'x'",
            "risks == 'deletes'",
            "risks != 'deletes'",
            "NOT (risks == 'deletes')",
            "command == 'ls'",
            "command.programs == 'ls'",
            "command == 'ls' AND agent == 'claude'",
            "command == 'ls' OR risks == 'deletes'",
            "'deletes' IN agent",
            "risks STARTS_WITH 'd'",
            "url.port == 'https'",
            "EMPTY agent",
            "ANY a IN agent SATISFY (a == 'x')",
        ] {
            assert!(found(source).is_some(), "{source}");
        }
        for source in [
            "true",
            "1 == 1",
            "params.x",
            "params.x == 1 OR false",
            "NOT false AND agent == 'claude'",
            "command == 'ls' OR agent == 'claude'",
            "NOT (risks == 'deletes' AND agent == 'claude')",
            "NOT (url.port == 'https')",
            "url.port != 'https'",
            "url != 'x'",
            "NOT (EMPTY agent)",
            "'deletes' IN risks",
            "NOW() > '2026-01-01'",
            "UNIQUE_ID() == 'x'",
            "ANY r IN risks SATISFY (r == 5)",
            "NONE p IN url.port SATISFY (p == 1)",
        ] {
            assert_eq!(found(source), None, "{source}");
        }
    }
}
