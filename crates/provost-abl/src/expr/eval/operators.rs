//! The operators of comparison. Each has two steps: evaluate what it needs, then ask a pure
//! question of two values.

use std::borrow::Cow;

use super::Run;
use crate::expr::ast::{CompareOp, Expr, ExprKind};
use crate::expr::error::{EvalError, Span};
use crate::expr::path::{self, Ambiguous};
use crate::expr::pattern;
use crate::expr::value::{Value, equals, orders};

impl<'a> Run<'a> {
    pub(super) fn compare(
        &self,
        op: CompareOp,
        left: &'a Expr,
        right: &'a Expr,
    ) -> Result<bool, EvalError> {
        let value = self.left(op, left)?;
        let ambiguous = |Ambiguous| EvalError::Ambiguous { span: left.span };
        match (op, &right.kind) {
            (CompareOp::In, ExprKind::List(items)) if self.is_strict() => {
                self.listed(&value, left, items)
            }
            (CompareOp::In, ExprKind::List(items)) => {
                any_of(items, |item| Ok(equals(&value, &self.eval(item)?)))
            }
            (CompareOp::Within, ExprKind::List(items)) => any_of(items, |item| {
                within(&value, &self.folder(item)?).map_err(ambiguous)
            }),
            (CompareOp::Matches, ExprKind::Pattern(pattern)) => {
                Ok(value.as_text().is_some_and(|text| pattern.is_match(&text)))
            }
            (CompareOp::Matches, _) => self.matches(&value, right),
            _ if op.is_ordering() => self.ordered(op, (&value, left.span), right),
            _ => {
                let other = self.right(op, &value, right)?;
                match self.judged(op, (&value, left), (&other, right))? {
                    Some(held) => Ok(held),
                    None => holds(op, &value, &other).map_err(ambiguous),
                }
            }
        }
    }

    fn ordered(
        &self,
        op: CompareOp,
        (value, span): (&Value<'a>, Span),
        right: &'a Expr,
    ) -> Result<bool, EvalError> {
        let other = self.right(op, value, right)?;
        self.comparable((value, span), (&other, right.span))?;
        if self.is_strict() && (value.is_null() || other.is_null()) {
            return Ok(false);
        }
        Ok(orders(value, &other).is_some_and(|order| match op {
            CompareOp::Less => order.is_lt(),
            CompareOp::LessOrEqual => order.is_le(),
            CompareOp::Greater => order.is_gt(),
            _ => order.is_ge(),
        }))
    }

    /// A pattern that is only known now.
    fn matches(&self, value: &Value<'a>, right: &'a Expr) -> Result<bool, EvalError> {
        let source = self.right(CompareOp::Matches, value, right)?;
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

/// A list written in place is not built: the first item that answers ends the search.
fn any_of<'a>(
    items: &'a [Expr],
    answers: impl Fn(&'a Expr) -> Result<bool, EvalError>,
) -> Result<bool, EvalError> {
    for item in items {
        if answers(item)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn holds(op: CompareOp, left: &Value<'_>, right: &Value<'_>) -> Result<bool, Ambiguous> {
    Ok(match op {
        CompareOp::Equal => equals(left, right),
        CompareOp::NotEqual => left.is_null() || right.is_null() || !equals(left, right),
        CompareOp::In => has(right, left),
        CompareOp::Contains => match (left, right) {
            (Value::List(_) | Value::Object(_), _) => has(left, right),
            _ => texts(left, right).is_some_and(|(text, part)| text.contains(&*part)),
        },
        CompareOp::StartsWith => match texts(left, right) {
            Some((text, start)) => path::starts_with(&text, &start)?,
            None => false,
        },
        CompareOp::EndsWith => texts(left, right).is_some_and(|(text, end)| text.ends_with(&*end)),
        CompareOp::Within => within(left, right)?,
        // Answered before the right side became a value.
        CompareOp::Matches
        | CompareOp::Less
        | CompareOp::LessOrEqual
        | CompareOp::Greater
        | CompareOp::GreaterOrEqual => false,
    })
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

/// In one folder, or in one of a list of them.
fn within(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Ambiguous> {
    match (left, right) {
        (Value::Text(path), Value::Text(folder)) => path::within(path, folder),
        (Value::Text(path), Value::List(folders)) => {
            for folder in folders.iter() {
                if let Value::Text(folder) = &*folder
                    && path::within(path, folder)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}
