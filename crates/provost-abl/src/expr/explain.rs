//! Why a condition came out as it did: only the parts that decided it, with the values they saw.
//! The values come from the scope; whoever shows an explanation redacts it first.

use std::fmt;

use super::ast::{Expr, ExprKind};
use super::error::{EvalError, Span};
use super::eval::Run;
use super::program::Program;
use super::scope::Scope;
use super::value::{preview, shorten};

/// The longest value, and the longest piece of source, that is shown.
const LONGEST: usize = 80;

/// The outcome of a condition and what decided it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    pub outcome: Result<bool, EvalError>,
    pub reason: Reason,
}

/// One sub-expression that took part in the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub span: Span,
    /// Its source, shortened.
    pub expression: String,
    pub seen: Seen,
    /// What decided it in turn.
    pub because: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A condition that held or did not.
    Truth(bool),
    /// A value as JSON, shortened.
    Value(String),
    NotSet,
    Error(String),
}

pub(super) fn explain(program: &Program, scope: &dyn Scope) -> Explanation {
    let explainer = Explainer { program, scope };
    Explanation {
        outcome: program.test(scope),
        reason: explainer.condition(program.expr()),
    }
}

struct Explainer<'a> {
    program: &'a Program,
    scope: &'a dyn Scope,
}

impl<'a> Explainer<'a> {
    /// A fresh one for every question: parts are asked again and again, which must not add up.
    fn run(&self) -> Run<'a> {
        Run::new(self.scope, self.program.limits(), self.program.typing())
    }

    /// Where a yes or a no is wanted, a value that is neither is what went wrong.
    fn condition(&self, expr: &'a Expr) -> Reason {
        let mut reason = self.reason(expr);
        if let Err(error) = self.run().test(expr) {
            reason.seen = Seen::Error(error.to_string());
        }
        reason
    }

    fn reason(&self, expr: &'a Expr) -> Reason {
        let because = match &expr.kind {
            ExprKind::All(operands) => self.deciding(operands, false),
            ExprKind::Any(operands) => self.deciding(operands, true),
            ExprKind::Not(of) => vec![self.condition(of)],
            _ => self.inputs(expr),
        };
        Reason {
            span: expr.span,
            expression: shorten(expr.span.text(self.program.source()), LONGEST, true),
            seen: self.seen(expr),
            because,
        }
    }

    /// The operand that settled it, or all of them if none did.
    fn deciding(&self, operands: &'a [Expr], settling: bool) -> Vec<Reason> {
        let settled = operands
            .iter()
            .find(|operand| match self.run().test(operand) {
                Ok(truth) => truth == settling,
                Err(_) => true,
            });
        match settled {
            Some(operand) => vec![self.condition(operand)],
            None => operands
                .iter()
                .map(|operand| self.condition(operand))
                .collect(),
        }
    }

    /// What a comparison or a computation worked on; a path is its own explanation.
    fn inputs(&self, expr: &'a Expr) -> Vec<Reason> {
        let mut inputs: Vec<Reason> = Vec::new();
        for child in expr.children() {
            if child.is_literal() {
                continue;
            }
            let reason = self.reason(child);
            if inputs
                .iter()
                .all(|known| known.expression != reason.expression)
            {
                inputs.push(reason);
            }
        }
        inputs
    }

    fn seen(&self, expr: &'a Expr) -> Seen {
        let outcome = if is_condition(expr) {
            self.run().test(expr).map(Seen::Truth)
        } else {
            self.run().eval(expr).map(|value| {
                if value.is_null() {
                    Seen::NotSet
                } else {
                    Seen::Value(preview(&value, LONGEST))
                }
            })
        };
        outcome.unwrap_or_else(|error| Seen::Error(error.to_string()))
    }
}

fn is_condition(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::All(_)
            | ExprKind::Any(_)
            | ExprKind::Not(_)
            | ExprKind::Empty(_)
            | ExprKind::IsSet { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Bool(_)
    )
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Reason {
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        write!(
            f,
            "{:indent$}`{}` ",
            "",
            self.expression,
            indent = depth * 2
        )?;
        match &self.seen {
            Seen::Truth(truth) => write!(f, "was {truth}")?,
            Seen::Value(value) => write!(f, "is {value}")?,
            Seen::NotSet => f.write_str("is not set")?,
            Seen::Error(error) => write!(f, "failed: {error}")?,
        }
        if !self.because.is_empty() {
            f.write_str(" because")?;
        }
        for reason in &self.because {
            f.write_str("\n")?;
            reason.write(f, depth + 1)?;
        }
        Ok(())
    }
}
