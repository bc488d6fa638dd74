//! What a strict program refuses to convert. A gate asks about one kind of value; one of another
//! kind is no answer to its question, neither yes nor no, so it is an error. What is not set stays
//! null. In lenient programs nothing here refuses anything.

use super::Run;
use crate::expr::ast::{CompareOp, Expr, ExprKind, Step};
use crate::expr::error::{EvalError, Span};
use crate::expr::functions::Function;
use crate::expr::program::Typing;
use crate::expr::value::{Number, Value};

type Outcome<'a> = Result<Value<'a>, EvalError>;

const TEXT: &str = "text";
const NUMBER: &str = "a number";

impl<'a> Run<'a> {
    pub(super) fn is_strict(&self) -> bool {
        self.typing == Typing::Strict
    }

    /// The left side of a comparison.
    pub(super) fn left(&self, op: CompareOp, expr: &'a Expr) -> Outcome<'a> {
        let kinds: fn(&Value<'_>) -> bool = match op {
            CompareOp::Matches
            | CompareOp::StartsWith
            | CompareOp::EndsWith
            | CompareOp::Within => is_text,
            CompareOp::Contains => |value| !matches!(value, Value::Bool(_)),
            _ if op.is_ordering() => is_scalar,
            _ => return self.eval(expr),
        };
        let expected = if op.is_ordering() { NUMBER } else { TEXT };
        self.checked(expr, expected, kinds)
    }

    /// Its right side, once the left is known.
    pub(super) fn right(&self, op: CompareOp, left: &Value<'a>, expr: &'a Expr) -> Outcome<'a> {
        match op {
            CompareOp::Matches | CompareOp::StartsWith | CompareOp::EndsWith => {
                self.checked(expr, TEXT, is_text)
            }
            CompareOp::Within => self.checked(expr, TEXT, |value| match value {
                Value::List(folders) => folders.iter().all(|folder| is_text(&folder)),
                other => is_text(other),
            }),
            CompareOp::Contains if is_scalar(left) => self.checked(expr, TEXT, is_scalar),
            _ if op.is_ordering() => self.checked(expr, NUMBER, is_scalar),
            _ => self.eval(expr),
        }
    }

    /// Text that is no number has no place among numbers: `"1,000"` is neither above nor below 5.
    pub(super) fn comparable(
        &self,
        (left, left_span): (&Value<'_>, Span),
        (right, right_span): (&Value<'_>, Span),
    ) -> Result<(), EvalError> {
        let stray = match (left, right) {
            (Value::Text(text), Value::Number(_)) => (text, left_span),
            (Value::Number(_), Value::Text(text)) => (text, right_span),
            _ => return Ok(()),
        };
        if self.is_strict() && Number::parse(stray.0).is_none() {
            return Err(wrong(NUMBER, TEXT, stray.1));
        }
        Ok(())
    }

    /// One folder of a list that is written in place.
    pub(super) fn folder(&self, expr: &'a Expr) -> Outcome<'a> {
        self.checked(expr, TEXT, is_text)
    }

    /// An operand of arithmetic.
    pub(super) fn term(&self, expr: &'a Expr) -> Outcome<'a> {
        self.checked(expr, NUMBER, is_scalar)
    }

    /// The arguments of a function that reads all of them as text, or all as numbers.
    pub(super) fn arguments(
        &self,
        function: Function,
        args: &'a [Expr],
    ) -> Result<Vec<Value<'a>>, EvalError> {
        let numeric = function.is_numeric();
        if !numeric && !function.is_textual() {
            return self.eval_all(args);
        }
        let expected = if numeric { NUMBER } else { TEXT };
        let of_a_list = args.len() == 1 && matches!(function, Function::Max | Function::Min);
        let check = |arg| {
            self.checked(arg, expected, |value| match value {
                Value::List(items) if of_a_list => items.iter().all(|item| is_scalar(&item)),
                other => is_scalar(other),
            })
        };
        args.iter().map(check).collect()
    }

    /// Null from a computation of which nothing was missing: an operand that is no number, a
    /// division by zero, a result that is too large. As null it would be below every limit.
    pub(super) fn computed(&self, value: Value<'a>, missing: bool, span: Span) -> Outcome<'a> {
        if self.is_strict() && value.is_null() && !missing {
            return Err(wrong(NUMBER, "a result that is none", span));
        }
        Ok(value)
    }

    fn checked(
        &self,
        expr: &'a Expr,
        expected: &'static str,
        kinds: impl Fn(&Value<'_>) -> bool,
    ) -> Outcome<'a> {
        if !self.is_strict() {
            return self.eval(expr);
        }
        let value = self.reached(expr)?;
        if kinds(&value) {
            Ok(value)
        } else {
            Err(wrong(expected, value.kind(), expr.span))
        }
    }

    /// `files[0]` of a text is not "not set": it was given, in a shape the rule does not know.
    fn reached(&self, expr: &'a Expr) -> Outcome<'a> {
        let (start, steps) = match &expr.kind {
            ExprKind::Path { root, steps } => (self.scope.root(root).unwrap_or(Value::Null), steps),
            ExprKind::Access { of, steps } => (self.reached(of)?, steps),
            _ => return self.eval(expr),
        };
        steps.iter().try_fold(start, |value, step| {
            if value.has_steps_like(step) {
                Ok(value.step(step))
            } else {
                let expected = match step {
                    Step::Key(_) => "an object",
                    Step::Index(_) => "a list",
                };
                Err(wrong(expected, value.kind(), expr.span))
            }
        })
    }
}

fn wrong(expected: &'static str, found: &'static str, span: Span) -> EvalError {
    EvalError::WrongType {
        expected,
        found,
        span,
    }
}

fn is_text(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(_) | Value::Null)
}

fn is_scalar(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(_) | Value::Number(_) | Value::Null)
}
