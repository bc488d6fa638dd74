//! Arithmetic by name. An argument that is no number makes the result null, and so do a division
//! by zero and a result too large to write down.

use super::{Args, Function};
use crate::expr::value::{List, Number, Value};

/// More digits than a double holds change nothing.
const MOST_DIGITS: i128 = 15;

pub(super) fn of_one(function: Function, mut args: Args<'_>) -> Value<'_> {
    let Some(number) = args.next().as_number() else {
        return Value::Null;
    };
    Value::number(match function {
        Function::Abs => Some(number.abs()),
        _ => round(number, args.given().as_ref()),
    })
}

/// Folds the arguments, or the items of the only argument if it is a list.
pub(super) fn of_many(function: Function, mut args: Args<'_>) -> Value<'_> {
    let first = args.next();
    let mut total: Option<Number> = None;
    let mut add = |value: &Value<'_>| -> Option<()> {
        let number = value.as_number()?;
        total = Some(match total {
            None => number,
            Some(total) => fold(function, total, number)?,
        });
        Some(())
    };
    let complete = match (&first, args.left()) {
        (Value::List(list), 0) => fold_list(list, &mut add),
        _ => add(&first).and_then(|()| args.rest().try_for_each(|value| add(&value))),
    };
    Value::number(complete.and(total))
}

fn fold_list(list: &List<'_>, add: &mut dyn FnMut(&Value<'_>) -> Option<()>) -> Option<()> {
    list.iter().try_for_each(|item| add(&item))
}

fn fold(function: Function, total: Number, number: Number) -> Option<Number> {
    match function {
        Function::Add => total.plus(number),
        Function::Sub => total.minus(number),
        Function::Mul => total.times(number),
        Function::Div => total.over(number),
        Function::Max => Some(total.max(number)),
        _ => Some(total.min(number)),
    }
}

/// Half away from zero. Negative digits round to tens and hundreds.
fn round(number: Number, digits: Option<&Value<'_>>) -> Option<Number> {
    let digits = match digits {
        None => 0,
        Some(digits) => digits.as_number()?.as_int()?,
    };
    if number.as_int().is_some() && digits >= 0 {
        return Some(number);
    }
    let scale = 10_f64.powi(digits.clamp(-MOST_DIGITS, MOST_DIGITS) as i32);
    let scaled = number.as_f64() * scale;
    if scaled.is_finite() {
        Number::from_f64(scaled.round() / scale)
    } else {
        Some(number)
    }
}
