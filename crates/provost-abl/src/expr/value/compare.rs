//! Equality and order between values of any kind, with the coercions of the language.

use std::cmp::Ordering;

use super::{List, Number, Object, Value};

/// `==`: null equals undefined, strings compare by case, a number string equals its number, lists
/// and objects compare member by member. Nothing else is converted: `true` is not `1`.
pub(crate) fn equals(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Number(number), Value::Text(text)) | (Value::Text(text), Value::Number(number)) => {
            Number::parse(text) == Some(*number)
        }
        (Value::List(a), Value::List(b)) => lists_equal(a, b),
        (Value::Object(a), Value::Object(b)) => objects_equal(a, b),
        _ => false,
    }
}

/// `==` for those who must not guess: `None` where the two are of different kinds (text and a list, a
/// bool and a number), so that neither yes nor no is an answer. Numbers and texts compare as in
/// [`equals`], and null equals null alone. One pair of members that differs for certain settles it.
pub fn same(left: &Value<'_>, right: &Value<'_>) -> Option<bool> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Some(left.is_null() && right.is_null()),
        (Value::Bool(_), Value::Bool(_))
        | (Value::Number(_) | Value::Text(_), Value::Number(_) | Value::Text(_)) => {
            Some(equals(left, right))
        }
        (Value::List(a), Value::List(b)) if a.len() != b.len() => Some(false),
        (Value::List(a), Value::List(b)) => {
            all_same(a.iter().zip(b.iter()).map(|(a, b)| same(&a, &b)))
        }
        (Value::Object(a), Value::Object(b)) if a.len() != b.len() => Some(false),
        (Value::Object(a), Value::Object(b)) => all_same(
            a.pairs()
                .map(|(key, value)| b.get(key).map_or(Some(false), |other| same(&value, &other))),
        ),
        _ => None,
    }
}

fn all_same(pairs: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for pair in pairs {
        match pair {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

fn lists_equal(left: &List<'_>, right: &List<'_>) -> bool {
    left.len() == right.len() && left.iter().zip(right.iter()).all(|(a, b)| equals(&a, &b))
}

fn objects_equal(left: &Object<'_>, right: &Object<'_>) -> bool {
    left.len() == right.len()
        && left
            .pairs()
            .all(|(key, value)| right.get(key).is_some_and(|other| equals(&value, &other)))
}

/// The order of two values; `None` when they have none, and then every ordering is false.
///
/// A bool is 0 or 1, a list its length, undefined 0, a number string its number. Two strings that
/// are not both numbers compare character by character, so ISO dates order as they should.
pub(crate) fn orders(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (rank(left), rank(right)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => match (left, right) {
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            _ => None,
        },
    }
}

fn rank(value: &Value<'_>) -> Option<Number> {
    match value {
        Value::Null => Some(Number::from(0_u64)),
        Value::List(list) => Some(Number::from(list.len() as u64)),
        other => other.as_number(),
    }
}
