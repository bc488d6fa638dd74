//! Tree to value. Pure: the scope is the only thing it can see, the meter the only thing it
//! spends. Recursion is bounded by the depth of the tree.

mod alike;
mod arguments;
mod operators;
mod strict;

use std::borrow::Cow;

use super::ast::{ArithmeticOp, Expr, ExprKind};
use super::error::{EvalError, Span};
use super::functions::{self, Function};
use super::program::{Limits, Typing};
use super::scope::Scope;
use super::value::{List, Meter, Number, TooLong, Value};

/// One evaluation.
pub(super) struct Run<'a> {
    scope: &'a dyn Scope,
    meter: Meter,
    typing: Typing,
}

impl<'a> Run<'a> {
    pub(super) fn new(scope: &'a dyn Scope, limits: Limits, typing: Typing) -> Self {
        Self {
            scope,
            meter: Meter::new(limits.output_chars),
            typing,
        }
    }

    pub(super) fn test(&self, expr: &'a Expr) -> Result<bool, EvalError> {
        match &expr.kind {
            ExprKind::All(operands) => self.every(operands),
            ExprKind::Any(operands) => self.some(operands),
            ExprKind::Not(of) => Ok(!self.test(of)?),
            ExprKind::Empty(of) => self.emptiness(of),
            ExprKind::IsSet { of, negated } => Ok(self.eval(of)?.is_null() == *negated),
            ExprKind::Compare {
                op,
                negated,
                left,
                right,
            } => Ok(self.compare(*op, left, right)? != *negated),
            _ => self.truth(expr),
        }
    }

    pub(super) fn eval(&self, expr: &'a Expr) -> Result<Value<'a>, EvalError> {
        Ok(match &expr.kind {
            ExprKind::Null | ExprKind::Missing => Value::Null,
            ExprKind::Bool(truth) => Value::Bool(*truth),
            ExprKind::Number(number) => Value::Number(*number),
            ExprKind::Text(text) => Value::from(&**text),
            ExprKind::Pattern(pattern) => Value::from(pattern.source()),
            ExprKind::List(items) => Value::List(List::Values(self.eval_all(items)?)),
            ExprKind::Path { root, steps } => {
                let root = self.scope.root(root).unwrap_or(Value::Null);
                self.reached(root, steps, expr.span)?
            }
            ExprKind::Access { of, steps } => self.reached(self.eval(of)?, steps, expr.span)?,
            ExprKind::Call { function, args } => self.call(*function, args, expr.span)?,
            ExprKind::Negate(of) => {
                let term = self.term(of)?;
                let negated = Value::number(term.as_number().map(Number::negated));
                self.computed(negated, term.is_null(), expr.span)?
            }
            ExprKind::Arithmetic { first, rest } => self.arithmetic(first, rest, expr.span)?,
            ExprKind::Not(_)
            | ExprKind::Empty(_)
            | ExprKind::IsSet { .. }
            | ExprKind::Compare { .. }
            | ExprKind::All(_)
            | ExprKind::Any(_) => Value::Bool(self.test(expr)?),
        })
    }

    fn every(&self, operands: &'a [Expr]) -> Result<bool, EvalError> {
        for operand in operands {
            if !self.test(operand)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn some(&self, operands: &'a [Expr]) -> Result<bool, EvalError> {
        for operand in operands {
            if self.test(operand)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn eval_all(&self, exprs: &'a [Expr]) -> Result<Vec<Value<'a>>, EvalError> {
        exprs.iter().map(|expr| self.eval(expr)).collect()
    }

    fn call(
        &self,
        function: Function,
        args: &'a [Expr],
        span: Span,
    ) -> Result<Value<'a>, EvalError> {
        match function {
            Function::Coalesce => self.coalesce(args),
            Function::Now => Ok(Value::text(self.scope.now().to_string())),
            Function::UniqueId => Ok(Value::text(self.scope.unique_id())),
            _ => {
                let args = self.arguments(function, args)?;
                let missing = args.iter().any(Value::is_null);
                let value = functions::call(function, args, &self.meter)
                    .map_err(|TooLong| self.too_long(span))?;
                if function.is_numeric() {
                    self.computed(value, missing, span)
                } else {
                    Ok(value)
                }
            }
        }
    }

    /// Lazy: what comes after the first value that is set is not evaluated.
    fn coalesce(&self, args: &'a [Expr]) -> Result<Value<'a>, EvalError> {
        for arg in args {
            let value = self.eval(arg)?;
            if !value.is_null() {
                return Ok(value);
            }
        }
        Ok(Value::Null)
    }

    fn arithmetic(
        &self,
        first: &'a Expr,
        rest: &'a [(ArithmeticOp, Expr)],
        span: Span,
    ) -> Result<Value<'a>, EvalError> {
        let mut total = self.term(first)?;
        for (op, operand) in rest {
            let operand = self.term(operand)?;
            let missing = total.is_null() || operand.is_null();
            total = self
                .combine(*op, total, &operand)
                .map_err(|TooLong| self.too_long(span))?;
            total = self.computed(total, missing, span)?;
        }
        Ok(total)
    }

    /// `+` joins when a side is text, as people expect of `"a" + 1`; all else is numbers, and
    /// null where a side is not one.
    fn combine(
        &self,
        op: ArithmeticOp,
        left: Value<'a>,
        right: &Value<'a>,
    ) -> Result<Value<'a>, TooLong> {
        let text = |value: &Value<'_>| matches!(value, Value::Text(_));
        if op == ArithmeticOp::Add && (text(&left) || text(right)) {
            return self.joined(left, right);
        }
        let (Some(a), Some(b)) = (left.as_number(), right.as_number()) else {
            return Ok(Value::Null);
        };
        Ok(Value::number(match op {
            ArithmeticOp::Add => a.plus(b),
            ArithmeticOp::Subtract => a.minus(b),
            ArithmeticOp::Multiply => a.times(b),
            ArithmeticOp::Divide => a.over(b),
        }))
    }

    fn joined(&self, left: Value<'a>, right: &Value<'a>) -> Result<Value<'a>, TooLong> {
        let mut output = match left {
            Value::Text(Cow::Owned(text)) => self.meter.extend(text),
            other => {
                let mut output = self.meter.output();
                output.push_value(&other)?;
                output
            }
        };
        output.push_value(right)?;
        Ok(Value::text(output.finish()))
    }

    fn too_long(&self, span: Span) -> EvalError {
        EvalError::TooLong {
            limit: self.meter.limit(),
            span,
        }
    }
}
