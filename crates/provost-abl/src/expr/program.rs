//! A compiled expression: parsed once, its patterns compiled, run many times.

use super::ast::{Expr, ExprKind};
use super::error::{EvalError, ExprError, Span};
use super::eval::Run;
use super::explain::{self, Explanation};
use super::parser::parse;
use super::scope::Scope;
use super::value::Value;

/// What one evaluation may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in characters, that a function or `+` may produce; also the most members
    /// of a list it may make.
    pub output_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_chars: 100_000,
        }
    }
}

/// What becomes of a value that is not of the kind an operator works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Typing {
    /// It is converted where that is possible, and otherwise the comparison is false.
    #[default]
    Lenient,
    /// It is an error, so that `["rm -rf"]` does not slip past a rule about text, nor `[1000]`
    /// into one about small amounts. What is not set is no error; no ordering holds of it.
    Strict,
}

/// An expression that parsed without errors.
#[derive(Debug, Clone)]
pub struct Program {
    source: Box<str>,
    expr: Expr,
    roots: Vec<(Box<str>, Span)>,
    limits: Limits,
    typing: Typing,
}

impl Program {
    /// Reads `source`; on failure, all that is wrong with it.
    pub fn compile(source: &str) -> Result<Self, Vec<ExprError>> {
        let parsed = parse(source);
        match parsed.expr {
            Some(expr) if parsed.errors.is_empty() => Ok(Self {
                source: source.into(),
                roots: roots_of(&expr),
                expr,
                limits: Limits::default(),
                typing: Typing::default(),
            }),
            _ => Err(parsed.errors),
        }
    }

    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// For gates: values of the wrong kind are errors.
    pub fn strict(mut self) -> Self {
        self.typing = Typing::Strict;
        self
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    pub fn typing(&self) -> Typing {
        self.typing
    }

    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The names it reads from the scope, each once, in order of appearance.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|(name, _)| &**name)
    }

    /// The same names with the place of their first appearance, for diagnostics.
    pub fn root_spans(&self) -> impl Iterator<Item = (&str, Span)> {
        self.roots.iter().map(|(name, span)| (&**name, *span))
    }

    /// The value, borrowed from the scope and the program where it can be.
    pub fn eval<'a>(&'a self, scope: &'a dyn Scope) -> Result<Value<'a>, EvalError> {
        Run::new(scope, self.limits, self.typing).eval(&self.expr)
    }

    /// Whether the value is truthy. An error is for the caller to take as it must: a gate fails
    /// closed.
    pub fn test(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        Run::new(scope, self.limits, self.typing).test(&self.expr)
    }

    /// Why `test` says what it says. It shows values from the scope: redact before it leaves.
    pub fn explain(&self, scope: &dyn Scope) -> Explanation {
        explain::explain(self, scope)
    }
}

fn roots_of(expr: &Expr) -> Vec<(Box<str>, Span)> {
    let mut roots: Vec<(Box<str>, Span)> = Vec::new();
    expr.walk(&mut |node| {
        if let ExprKind::Path { root, .. } = &node.kind
            && roots.iter().all(|(known, _)| known != root)
        {
            let start = node.span.start;
            roots.push((root.clone(), Span::new(start, start + root.len())));
        }
    });
    roots
}
