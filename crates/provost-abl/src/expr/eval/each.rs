//! Quantifiers. The answer has more values than two: one member that settles it settles it whatever the
//! others are, and a list that is known in part never tells that there is nothing else in it.

use super::strict::wrong;
use super::{Run, Truth};
use crate::expr::ast::{Expr, Quantifier};
use crate::expr::error::{EvalError, Span};
use crate::expr::value::{List, Value};

impl<'a> Run<'a> {
    pub(super) fn each(
        &self,
        quantifier: Quantifier,
        (name, body): (&'a str, &'a Expr),
        list: &'a Expr,
        span: Span,
    ) -> Result<Truth, EvalError> {
        let Some(items) = self.items(list)? else {
            return Ok(self.of_nothing());
        };
        let settling = match quantifier {
            Quantifier::All => Truth::No,
            Quantifier::Any | Quantifier::None => Truth::Yes,
        };
        let answer = |settled: bool| match quantifier {
            Quantifier::Any => Truth::from(settled),
            Quantifier::All | Quantifier::None => Truth::from(!settled),
        };
        let (mut absent, mut failed) = (false, None);
        for item in items.iter() {
            self.look(span)?;
            match self.of_member((name, item.into_owned()), body) {
                Ok(truth) if truth == settling => return Ok(answer(true)),
                Ok(truth) => absent |= truth == Truth::Absent,
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        match failed {
            Some(error) => Err(error),
            None if !items.is_whole() => Err(EvalError::Unreadable { span: list.span }),
            None if items.is_empty() => Ok(self.of_nothing()),
            None if absent => Ok(Truth::Absent),
            None => Ok(answer(false)),
        }
    }

    /// The condition of a quantifier, of one member.
    pub(in crate::expr) fn of_member(
        &self,
        member: (&'a str, Value<'a>),
        body: &'a Expr,
    ) -> Result<Truth, EvalError> {
        self.members.borrow_mut().push(member);
        let truth = self.judge(body);
        self.members.borrow_mut().pop();
        truth
    }

    /// The members; `None` where there is no list.
    pub(in crate::expr) fn items(&self, list: &'a Expr) -> Result<Option<List<'a>>, EvalError> {
        if self.is_absent(list) {
            return Ok(None);
        }
        match self.open(list)? {
            Value::List(items) => Ok(Some(items)),
            Value::Null => Ok(None),
            other if self.is_strict() => Err(wrong("a list", other.kind(), list.span)),
            _ => Ok(None),
        }
    }

    /// A gate takes it neither for a yes nor for a no that could be turned into one.
    fn of_nothing(&self) -> Truth {
        if self.is_strict() {
            Truth::Absent
        } else {
            Truth::No
        }
    }

    fn look(&self, span: Span) -> Result<(), EvalError> {
        let Some(left) = self.left.get().checked_sub(1) else {
            let limit = self.settings.limits.members;
            return Err(EvalError::TooMany { limit, span });
        };
        self.left.set(left);
        Ok(())
    }
}
