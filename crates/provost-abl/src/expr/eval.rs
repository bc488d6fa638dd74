//! Tree to value. Pure: the scope is the only thing it can see, the meter the only thing it
//! spends. Recursion is bounded by the depth of the tree.

mod alike;
mod arguments;
mod each;
mod operators;
mod strict;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use super::ast::{ArithmeticOp, Expr, ExprKind};
use super::error::{EvalError, Span};
use super::functions::{self, Function};
use super::program::Settings;
use super::scope::{Scope, Standing};
use super::value::{List, Meter, Number, TooLong, Value};

/// A member of a list under the name that a quantifier gives it.
pub(super) type Member<'a> = (&'a str, Value<'a>);

/// One evaluation.
pub(super) struct Run<'a> {
    scope: &'a dyn Scope,
    meter: Meter,
    settings: Settings,
    /// The members that the quantifiers around us look at, the innermost last.
    members: RefCell<Vec<Member<'a>>>,
    /// How many members may still be looked at.
    left: Cell<usize>,
}

/// What became of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    Yes,
    No,
    /// It is about something that is not there: it does not hold, and neither does its negation.
    Absent,
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Self::Yes } else { Self::No }
    }
}

impl Truth {
    fn negated(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::Absent => Self::Absent,
        }
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(scope: &'a dyn Scope, settings: Settings) -> Self {
        Self {
            scope,
            meter: Meter::new(settings.limits.output_chars),
            settings,
            members: RefCell::default(),
            left: Cell::new(settings.limits.members),
        }
    }

    pub(super) fn with_members(self, members: Vec<Member<'a>>) -> Self {
        Self {
            members: RefCell::new(members),
            ..self
        }
    }

    pub(super) fn test(&self, expr: &'a Expr) -> Result<bool, EvalError> {
        Ok(self.judge(expr)? == Truth::Yes)
    }

    pub(super) fn judge(&self, expr: &'a Expr) -> Result<Truth, EvalError> {
        match &expr.kind {
            ExprKind::All(operands) => self.join(operands, Truth::No),
            ExprKind::Any(operands) => self.join(operands, Truth::Yes),
            ExprKind::Not(of) => Ok(self.judge(of)?.negated()),
            ExprKind::IsSet { of, negated } => {
                let set = self.is_unreadable(of) || !self.open(of)?.is_null();
                Ok(Truth::from(set != *negated))
            }
            ExprKind::Each {
                quantifier,
                name,
                list,
                body,
            } => self.each(*quantifier, (name, body), list, expr.span),
            _ if self.is_absent(expr) => Ok(Truth::Absent),
            ExprKind::Empty(of) => self.emptiness(of).map(Truth::from),
            ExprKind::Compare {
                op,
                negated,
                left,
                right,
            } => Ok(Truth::from(self.compare(*op, left, right)? != *negated)),
            _ => self.truth(expr).map(Truth::from),
        }
    }

    /// Operands joined by `AND` or `OR`: the first that settles it does; what comes after is not looked at.
    /// What is known only in part may still be settled by another operand, whatever it is.
    fn join(&self, operands: &'a [Expr], settling: Truth) -> Result<Truth, EvalError> {
        let (mut joined, mut unreadable) = (settling.negated(), None);
        for operand in operands {
            match self.judge(operand) {
                Ok(truth) if truth == settling => return Ok(settling),
                Ok(Truth::Absent) => joined = Truth::Absent,
                Ok(_) => {}
                Err(error @ EvalError::Unreadable { .. }) => {
                    unreadable.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        unreadable.map_or(Ok(joined), Err)
    }

    /// Whether it reads something computed that is not there.
    fn is_absent(&self, expr: &Expr) -> bool {
        if !self.settings.computed {
            return false;
        }
        let mut absent = false;
        expr.walk(&mut |node| {
            if let ExprKind::Path { root, .. } = &node.kind {
                absent |=
                    self.member(root).is_none() && self.scope.standing(root) == Standing::Absent;
            }
        });
        absent
    }

    /// A name whose value could not be read; it has one.
    fn is_unreadable(&self, expr: &Expr) -> bool {
        self.settings.computed
            && matches!(&expr.kind, ExprKind::Path { root, steps }
                if steps.is_empty() && self.scope.standing(root) == Standing::Unreadable)
    }

    fn member(&self, name: &str) -> Option<Value<'a>> {
        let members = self.members.borrow();
        let found = members.iter().rev().find(|(known, _)| *known == name);
        found.map(|(_, member)| member.clone())
    }

    fn root(&self, name: &str, span: Span) -> Result<Value<'a>, EvalError> {
        if let Some(member) = self.member(name) {
            return Ok(member);
        }
        if self.settings.computed && self.scope.standing(name) == Standing::Unreadable {
            return Err(EvalError::Unreadable { span });
        }
        Ok(self.scope.root(name).unwrap_or(Value::Null))
    }

    /// Like `eval`, for those who can make something of a list that is known in part.
    pub(super) fn open(&self, expr: &'a Expr) -> Result<Value<'a>, EvalError> {
        match &expr.kind {
            ExprKind::Path { root, steps } => {
                let root = self.root(root, expr.span)?;
                self.reached(root, steps, expr.span)
            }
            _ => self.eval(expr),
        }
    }

    fn closed(&self, value: Value<'a>, span: Span) -> Result<Value<'a>, EvalError> {
        if self.settings.computed && !value.is_complete() {
            return Err(EvalError::Unreadable { span });
        }
        Ok(value)
    }

    pub(super) fn eval(&self, expr: &'a Expr) -> Result<Value<'a>, EvalError> {
        Ok(match &expr.kind {
            ExprKind::Null | ExprKind::Missing => Value::Null,
            ExprKind::Bool(truth) => Value::Bool(*truth),
            ExprKind::Number(number) => Value::Number(*number),
            ExprKind::Text(text) => Value::from(&**text),
            ExprKind::Pattern(pattern) => Value::from(pattern.source()),
            ExprKind::List(items) => Value::List(List::Values(self.eval_all(items)?)),
            ExprKind::Path { .. } => self.closed(self.open(expr)?, expr.span)?,
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
            | ExprKind::Each { .. }
            | ExprKind::All(_)
            | ExprKind::Any(_) => Value::Bool(self.test(expr)?),
        })
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
            let value = if *op == ArithmeticOp::Add && self.joins(&total, &operand) {
                let joined = self.joined(total, &operand);
                let joined = joined.map_err(|TooLong| self.too_long(span))?;
                self.still_text(joined, missing, span)?
            } else {
                calculated(*op, &total, &operand)
            };
            total = self.computed(value, missing, span)?;
        }
        Ok(total)
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

/// Null where a side is not a number.
fn calculated<'a>(op: ArithmeticOp, left: &Value<'_>, right: &Value<'_>) -> Value<'a> {
    let (Some(a), Some(b)) = (left.as_number(), right.as_number()) else {
        return Value::Null;
    };
    Value::number(match op {
        ArithmeticOp::Add => a.plus(b),
        ArithmeticOp::Subtract => a.minus(b),
        ArithmeticOp::Multiply => a.times(b),
        ArithmeticOp::Divide => a.over(b),
    })
}
