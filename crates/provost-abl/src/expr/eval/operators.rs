//! The operators of comparison. Each has two steps: evaluate what it needs, then ask a pure
//! question of two values.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::Run;
use crate::expr::ast::{CompareOp, Expr, ExprKind};
use crate::expr::error::EvalError;
use crate::expr::value::{Value, equals, orders};
use crate::expr::{path, pattern};

impl<'a> Run<'a> {
    pub(super) fn compare(
        &self,
        op: CompareOp,
        left: &'a Expr,
        right: &'a Expr,
    ) -> Result<bool, EvalError> {
        let value = self.eval(left)?;
        match (op, &right.kind) {
            (CompareOp::In, ExprKind::List(items)) => {
                self.any_of(items, |item| equals(&value, item))
            }
            (CompareOp::Within, ExprKind::List(items)) => {
                self.any_of(items, |item| within(&value, item))
            }
            (CompareOp::Matches, ExprKind::Pattern(pattern)) => {
                Ok(value.as_text().is_some_and(|text| pattern.is_match(&text)))
            }
            (CompareOp::Matches, _) => self.matches(&value, right),
            _ => Ok(holds(op, &value, &self.eval(right)?)),
        }
    }

    /// A list written in place is not built: the first item that answers ends the search.
    fn any_of(
        &self,
        items: &'a [Expr],
        answers: impl Fn(&Value<'a>) -> bool,
    ) -> Result<bool, EvalError> {
        for item in items {
            if answers(&self.eval(item)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A pattern that is only known now.
    fn matches(&self, value: &Value<'a>, right: &'a Expr) -> Result<bool, EvalError> {
        let source = self.eval(right)?;
        let (Some(text), Some(source)) = (value.as_text(), source.as_text()) else {
            return Ok(false);
        };
        let regex = pattern::compile(&source, "").map_err(|message| EvalError::Pattern {
            message,
            span: right.span,
        })?;
        Ok(regex.is_match(&text))
    }
}

fn holds(op: CompareOp, left: &Value<'_>, right: &Value<'_>) -> bool {
    match op {
        CompareOp::Equal => equals(left, right),
        CompareOp::NotEqual => left.is_null() || right.is_null() || !equals(left, right),
        CompareOp::Less => orders(left, right).is_some_and(Ordering::is_lt),
        CompareOp::LessOrEqual => orders(left, right).is_some_and(Ordering::is_le),
        CompareOp::Greater => orders(left, right).is_some_and(Ordering::is_gt),
        CompareOp::GreaterOrEqual => orders(left, right).is_some_and(Ordering::is_ge),
        CompareOp::In => has(right, left),
        CompareOp::Contains => match (left, right) {
            (Value::List(_) | Value::Object(_), _) => has(left, right),
            _ => texts(left, right).is_some_and(|(text, part)| text.contains(&*part)),
        },
        CompareOp::StartsWith => {
            texts(left, right).is_some_and(|(text, start)| path::starts_with(&text, &start))
        }
        CompareOp::EndsWith => texts(left, right).is_some_and(|(text, end)| text.ends_with(&*end)),
        CompareOp::Within => within(left, right),
        // Answered before the right side became a value.
        CompareOp::Matches => false,
    }
}

/// A list has its items, an object its keys; nothing else has anything.
fn has(container: &Value<'_>, wanted: &Value<'_>) -> bool {
    match container {
        Value::List(list) => list.iter().any(|item| equals(&item, wanted)),
        Value::Object(object) => wanted
            .as_text()
            .is_some_and(|key| object.get(&key).is_some()),
        _ => false,
    }
}

fn texts<'v>(left: &'v Value<'_>, right: &'v Value<'_>) -> Option<(Cow<'v, str>, Cow<'v, str>)> {
    Some((left.as_text()?, right.as_text()?))
}

fn within(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Text(path), Value::Text(folder)) => path::within(path, folder),
        (_, Value::List(folders)) => folders
            .iter()
            .any(|folder| !matches!(&*folder, Value::List(_)) && within(left, &folder)),
        _ => false,
    }
}
