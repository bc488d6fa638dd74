//! Conditions that are legal and probably not meant: what happens to them when a value is not
//! set. A test for it in the same condition (`x IS SET AND x > 5`) settles the question.

mod strict;
mod types;

use super::ast::{CompareOp, Expr, ExprKind, Step};
use super::error::Span;
use super::functions::Function;

pub use strict::{never_holds, strict_lints};
pub use types::{Type, Types};

/// A remark on an expression that parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

/// All remarks, in source order.
pub fn lints(expr: &Expr) -> Vec<Lint> {
    lints_beside(expr, &[])
}

/// The same, where the host computes these names: what is in them is set, but for positions in lists.
pub fn lints_beside<'e>(expr: &'e Expr, computed: &[&'e str]) -> Vec<Lint> {
    let mut linter = Linter {
        computed: computed.to_vec(),
        known_set: Vec::new(),
        negated: false,
        lints: Vec::new(),
    };
    linter.visit(expr);
    linter.lints.sort_by_key(|lint| lint.span.start);
    linter.lints
}

struct Linter<'e> {
    /// Names that the host computes, and the members of their lists.
    computed: Vec<&'e str>,
    /// What the condition around us has already found to be set.
    known_set: Vec<&'e Expr>,
    /// Inside an odd number of `NOT`.
    negated: bool,
    lints: Vec<Lint>,
}

impl<'e> Linter<'e> {
    fn visit(&mut self, expr: &'e Expr) {
        let outer = self.known_set.len();
        match &expr.kind {
            // In `x IS SET AND …` the rest only matters if x is set; in `x IS NOT SET OR …` too.
            ExprKind::All(operands) => self.learn(operands, false),
            ExprKind::Any(operands) => self.learn(operands, true),
            ExprKind::Compare {
                op,
                negated,
                left,
                right,
            } => {
                self.compare(expr, *op, left, right);
                if *negated != self.negated {
                    self.negation(*op, left, right);
                }
            }
            ExprKind::Each {
                name, list, body, ..
            } => self.unused(expr.span, name, list, body),
            _ => {}
        }
        let around = self.negated;
        // Only through what joins conditions does a `NOT` reach the comparisons below it.
        self.negated = match &expr.kind {
            ExprKind::Not(_) => !around,
            ExprKind::All(_) | ExprKind::Any(_) => around,
            _ => false,
        };
        let computed = self.computed.len();
        if let ExprKind::Each { name, list, .. } = &expr.kind
            && self.is_computed(list)
        {
            self.computed.push(name);
        }
        for child in expr.children() {
            self.visit(child);
        }
        self.computed.truncate(computed);
        self.negated = around;
        self.known_set.truncate(outer);
    }

    fn unused(&mut self, span: Span, name: &str, list: &Expr, body: &Expr) {
        let mut used = false;
        body.walk(&mut |node| {
            used |= matches!(&node.kind, ExprKind::Path { root, .. } if &**root == name);
        });
        if !used {
            self.report(
                span,
                format!("the condition says nothing about `{name}`"),
                format!("write about the members of `{list}` by that name, as in `{name}.x == 1`"),
            );
        }
    }

    fn learn(&mut self, operands: &'e [Expr], wanted: bool) {
        for operand in operands {
            match &operand.kind {
                ExprKind::IsSet { of, negated } if *negated == wanted => self.known_set.push(of),
                ExprKind::Call {
                    function: Function::IsNumber | Function::IsString | Function::IsArray,
                    args,
                } if !wanted => self.known_set.extend(args),
                _ => {}
            }
        }
    }

    fn compare(&mut self, whole: &Expr, op: CompareOp, left: &'e Expr, right: &'e Expr) {
        if matches!(left.kind, ExprKind::Not(_)) && left.span.start == whole.span.start {
            let symbol = op.symbol();
            self.report(
                whole.span,
                format!("`NOT` binds tighter than `{symbol}`"),
                format!("write `NOT (… {symbol} …)`, or `({left}) {symbol} …` if that is meant"),
            );
        }
        let null = |expr: &Expr| matches!(expr.kind, ExprKind::Null);
        match op {
            CompareOp::Equal | CompareOp::NotEqual if null(left) || null(right) => {
                let other = if null(left) { right } else { left };
                self.compare_with_null(whole, op, other);
            }
            CompareOp::NotEqual => {
                for side in [left, right] {
                    self.not_equal(side);
                }
            }
            _ if op.is_ordering() => {
                for side in [left, right] {
                    self.ordering(side, op);
                }
            }
            _ => {}
        }
    }

    fn compare_with_null(&mut self, whole: &Expr, op: CompareOp, other: &Expr) {
        if op == CompareOp::NotEqual {
            self.report(
                whole.span,
                "`!= null` is always true".to_owned(),
                format!("write `{other} IS SET`"),
            );
        } else {
            self.report(
                whole.span,
                format!("`{other}` is compared with null"),
                format!("write `{other} IS NOT SET`"),
            );
        }
    }

    fn not_equal(&mut self, side: &'e Expr) {
        if self.may_be_null(side) {
            self.report(
                side.span,
                format!("`!=` is true when `{side}` is not set"),
                format!("add `{side} IS SET AND`, or write `NOT (… == …)` if that is meant"),
            );
        }
    }

    fn ordering(&mut self, side: &'e Expr, op: CompareOp) {
        if self.may_be_null(side) {
            self.report(
                side.span,
                format!(
                    "`{side}` counts as 0 in `{}` when it is not set; in a policy it is then false",
                    op.symbol()
                ),
                format!("add `{side} IS SET AND`"),
            );
        }
    }

    /// No comparison but `!=` holds of what is not set, so its negation does.
    fn negation(&mut self, op: CompareOp, left: &'e Expr, right: &'e Expr) {
        if matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            return;
        }
        for side in [subject(left), right] {
            if self.may_be_null(side) {
                self.report(
                    side.span,
                    format!("`NOT … {}` is true when `{side}` is not set", op.symbol()),
                    format!("add `{side} IS SET AND`"),
                );
            }
        }
    }

    fn may_be_null(&self, expr: &Expr) -> bool {
        if self.is_known_set(expr) || self.is_computed(expr) {
            return false;
        }
        match &expr.kind {
            ExprKind::Null | ExprKind::Path { .. } | ExprKind::Access { .. } => true,
            ExprKind::Negate(of) => self.may_be_null(of),
            ExprKind::Arithmetic { first, rest } => {
                self.may_be_null(first) || rest.iter().any(|(_, operand)| self.may_be_null(operand))
            }
            ExprKind::Call { function, args } => match function {
                Function::ArrayFind => true,
                Function::Coalesce => args.iter().all(|arg| self.may_be_null(arg)),
                Function::Abs
                | Function::Add
                | Function::Div
                | Function::Max
                | Function::Min
                | Function::Mul
                | Function::Round
                | Function::Sub
                | Function::ToNumber => args.iter().any(|arg| self.may_be_null(arg)),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_computed(&self, expr: &Expr) -> bool {
        let is_key = |step: &Step| matches!(step, Step::Key(_));
        matches!(&expr.kind, ExprKind::Path { root, steps }
            if self.computed.contains(&&**root) && steps.iter().all(is_key))
    }

    /// Tested itself, or the length of something that was.
    fn is_known_set(&self, expr: &Expr) -> bool {
        let measured = match &expr.kind {
            ExprKind::Path { root, steps } => match steps.split_last() {
                Some((Step::Key(key), of)) if &**key == "length" => Some((root, of)),
                _ => None,
            },
            _ => None,
        };
        self.known_set.iter().any(|known| match &known.kind {
            ExprKind::Path { root, steps } if measured == Some((root, steps)) => true,
            _ => *known == expr,
        })
    }

    fn report(&mut self, span: Span, message: String, help: String) {
        self.lints.push(Lint {
            span,
            message,
            help: Some(help),
        });
    }
}

/// What a comparison is about: in `LOWER(x) IN …`, x.
fn subject(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call {
            function:
                Function::Lower
                | Function::Upper
                | Function::Trim
                | Function::Replace
                | Function::Substring
                | Function::ToString,
            args,
        } => args.first().map_or(expr, subject),
        _ => expr,
    }
}
