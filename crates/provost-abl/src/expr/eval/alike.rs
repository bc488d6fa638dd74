//! Equality and membership in strict programs: values of different kinds cannot be judged, so that
//! `["prod"]` slips past no rule about `"prod"`. The answer has three values, and one member that equals
//! settles a search whatever the others are.

use super::Run;
use super::strict::{Outcome, wrong};
use crate::expr::ast::{CompareOp, Expr};
use crate::expr::error::EvalError;
use crate::expr::value::{Value, same};

/// A value and where it stands.
type Side<'v, 'a> = (&'v Value<'a>, &'v Expr);

const LIST: &str = "a list";

impl<'a> Run<'a> {
    /// `None` for operators that are judged elsewhere, and in lenient programs.
    pub(super) fn judged(
        &self,
        op: CompareOp,
        left: Side<'_, 'a>,
        right: Side<'_, 'a>,
    ) -> Result<Option<bool>, EvalError> {
        if !self.is_strict() {
            return Ok(None);
        }
        match op {
            CompareOp::Equal => equal(left, right).map(Some),
            CompareOp::NotEqual if left.0.is_null() || right.0.is_null() => Ok(Some(true)),
            CompareOp::NotEqual => equal(left, right).map(|equal| Some(!equal)),
            CompareOp::In => has(right, left).map(Some),
            CompareOp::Contains if matches!(left.0, Value::List(_)) => has(left, right).map(Some),
            _ => Ok(None),
        }
    }

    /// `IN` a list that is written in place.
    pub(super) fn listed(
        &self,
        value: &Value<'a>,
        left: &'a Expr,
        items: &'a [Expr],
    ) -> Result<bool, EvalError> {
        search(items.iter().map(|item| self.eval(item)), value, left)
    }
}

fn equal(left: Side<'_, '_>, right: Side<'_, '_>) -> Result<bool, EvalError> {
    same(left.0, right.0).ok_or_else(|| unlike(left, right))
}

fn has<'a>(container: Side<'_, 'a>, wanted: Side<'_, 'a>) -> Result<bool, EvalError> {
    match container.0 {
        Value::Null => Ok(false),
        Value::List(list) => {
            let stray = if container.1.is_literal() {
                wanted.1
            } else {
                container.1
            };
            let found = search(
                list.iter().map(|item| Ok(item.into_owned())),
                wanted.0,
                stray,
            )?;
            if !found && !list.is_whole() {
                let span = container.1.span;
                return Err(EvalError::Unreadable { span });
            }
            Ok(found)
        }
        other => Err(wrong(LIST, other.kind(), container.1.span)),
    }
}

fn search<'a>(
    items: impl Iterator<Item = Outcome<'a>>,
    wanted: &Value<'a>,
    stray: &Expr,
) -> Result<bool, EvalError> {
    let mut unlike = None;
    for item in items {
        let item = item?;
        match same(&item, wanted) {
            Some(true) => return Ok(true),
            Some(false) => {}
            None => unlike = Some((item.kind(), wanted.kind())),
        }
    }
    match unlike {
        Some((item, wanted)) => Err(different(item, wanted, stray)),
        None => Ok(false),
    }
}

/// The side that is not written in the rule is the one to blame.
fn unlike(left: Side<'_, '_>, right: Side<'_, '_>) -> EvalError {
    let (known, stray) = if left.1.is_literal() {
        (left, right)
    } else {
        (right, left)
    };
    different(known.0.kind(), stray.0.kind(), stray.1)
}

fn different(expected: &'static str, found: &'static str, stray: &Expr) -> EvalError {
    if expected == found {
        wrong("members of the same kinds", "others", stray.span)
    } else {
        wrong(expected, found, stray.span)
    }
}
