//! A compiled expression: parsed once, its patterns compiled, run many times.

use super::ast::{Expr, ExprKind};
use super::error::{EvalError, ExprError, Span};
use super::eval::Run;
use super::explain::{self, Explanation};
use super::functions::Function;
use super::parser::parse;
use super::scope::Scope;
use super::value::Value;

/// What one evaluation may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest text, in characters, that a function or `+` may produce; also the most members
    /// of a list it may make.
    pub output_chars: usize,
    /// How many members of lists the quantifiers of one evaluation may look at.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_chars: 100_000,
            members: 10_000,
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

/// How a program is to be evaluated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Settings {
    pub(super) limits: Limits,
    pub(super) typing: Typing,
    /// It reads names that the host computes.
    pub(super) computed: bool,
}

/// An expression that parsed without errors.
#[derive(Debug, Clone)]
pub struct Program {
    source: Box<str>,
    expr: Expr,
    roots: Vec<(Box<str>, Span)>,
    settings: Settings,
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
                settings: Settings::default(),
            }),
            _ => Err(parsed.errors),
        }
    }

    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// For gates: values of the wrong kind are errors.
    pub fn strict(mut self) -> Self {
        self.settings.typing = Typing::Strict;
        self
    }

    /// Says which names the host computes: for these it is asked how they stand.
    pub fn with_computed(mut self, names: &[&str]) -> Self {
        let computed = self.roots.iter().any(|(root, _)| names.contains(&&**root));
        self.settings.computed = computed;
        self
    }

    /// It reads a name that the host computes.
    pub fn is_computed(&self) -> bool {
        self.settings.computed
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn limits(&self) -> Limits {
        self.settings.limits
    }

    pub fn typing(&self) -> Typing {
        self.settings.typing
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

    pub fn calls(&self, wanted: Function) -> bool {
        let mut calls = false;
        self.expr.walk(&mut |node| {
            calls |= matches!(&node.kind, ExprKind::Call { function, .. } if *function == wanted);
        });
        calls
    }

    /// The value, borrowed from the scope and the program where it can be.
    pub fn eval<'a>(&'a self, scope: &'a dyn Scope) -> Result<Value<'a>, EvalError> {
        Run::new(scope, self.settings).eval(&self.expr)
    }

    /// Whether the value is truthy. An error is for the caller to take as it must: a gate fails
    /// closed.
    pub fn test(&self, scope: &dyn Scope) -> Result<bool, EvalError> {
        Run::new(scope, self.settings).test(&self.expr)
    }

    /// Why `test` says what it says. It shows values from the scope: redact before it leaves.
    pub fn explain(&self, scope: &dyn Scope) -> Explanation {
        explain::explain(self, scope)
    }
}

/// Names that a quantifier gives to members are no roots inside it.
fn roots_of(expr: &Expr) -> Vec<(Box<str>, Span)> {
    fn collect<'e>(expr: &'e Expr, members: &mut Vec<&'e str>, roots: &mut Vec<(Box<str>, Span)>) {
        match &expr.kind {
            ExprKind::Path { root, .. } => {
                let known = roots.iter().any(|(known, _)| known == root);
                if !known && !members.contains(&&**root) {
                    let start = expr.span.start;
                    roots.push((root.clone(), Span::new(start, start + root.len())));
                }
            }
            ExprKind::Each {
                name, list, body, ..
            } => {
                collect(list, members, roots);
                members.push(name);
                collect(body, members, roots);
                members.pop();
            }
            _ => {
                for child in expr.children() {
                    collect(child, members, roots);
                }
            }
        }
    }
    let mut roots = Vec::new();
    collect(expr, &mut Vec::new(), &mut roots);
    roots
}
