//! Functions on text. Null reads as `""`, a number as its digits, lists and objects as JSON.
//! Positions and lengths count characters.

use std::borrow::Cow;

use super::{Args, Function};
use crate::expr::value::{List, Meter, Number, TooLong, Value};

type Outcome<'a> = Result<Value<'a>, TooLong>;

/// The text a value reads as; borrowed if it is text already.
pub(super) fn read<'a>(value: Value<'a>, meter: &Meter) -> Result<Cow<'a, str>, TooLong> {
    match value {
        Value::Text(text) => Ok(text),
        other => {
            let mut output = meter.output();
            output.push_value(&other)?;
            Ok(Cow::Owned(output.finish()))
        }
    }
}

pub(super) fn to_string<'a>(value: Value<'a>, meter: &Meter) -> Outcome<'a> {
    read(value, meter).map(Value::Text)
}

pub(super) fn trim<'a>(value: Value<'a>, meter: &Meter) -> Outcome<'a> {
    Ok(Value::Text(match read(value, meter)? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }))
}

pub(super) fn change_case<'a>(function: Function, value: Value<'a>, meter: &Meter) -> Outcome<'a> {
    let text = read(value, meter)?;
    // One character becomes at most three: bounded before it is made, exact after.
    meter.charge(text.chars().count())?;
    let changed = match function {
        Function::Lower => text.to_lowercase(),
        _ => text.to_uppercase(),
    };
    if changed.chars().count() > meter.limit() {
        return Err(TooLong);
    }
    Ok(Value::text(changed))
}

pub(super) fn join<'a>(mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let value = args.next();
    let separator = match args.given() {
        Some(separator) => read(separator, meter)?,
        None => Cow::Borrowed(","),
    };
    let Value::List(list) = &value else {
        return to_string(value, meter);
    };
    let mut output = meter.output();
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            output.push(&separator)?;
        }
        output.push_value(&item)?;
    }
    Ok(Value::text(output.finish()))
}

/// To a length in characters, with as much of `fill` as fits.
pub(super) fn pad<'a>(function: Function, mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let text = read(args.next(), meter)?;
    let length = count(&args.next());
    let fill = match args.given() {
        Some(fill) => read(fill, meter)?,
        None => Cow::Borrowed(" "),
    };
    let missing = length.saturating_sub(text.chars().count());
    if missing == 0 || fill.is_empty() {
        return Ok(Value::Text(text));
    }
    meter.charge(missing)?;
    let padding: String = fill.chars().cycle().take(missing).collect();
    let mut output = meter.output();
    let (first, second) = match function {
        Function::PadStart => (padding.as_str(), &*text),
        _ => (&*text, padding.as_str()),
    };
    output.push(first)?;
    output.push(second)?;
    Ok(Value::text(output.finish()))
}

pub(super) fn repeat<'a>(mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let text = read(args.next(), meter)?;
    let times = count(&args.next());
    meter.charge(text.chars().count().saturating_mul(times))?;
    // Nothing, however often, is nothing; and `repeat` would overflow on it in no time.
    Ok(Value::text(if text.is_empty() {
        String::new()
    } else {
        text.repeat(times)
    }))
}

/// Every occurrence, read literally. An empty `what` changes nothing.
pub(super) fn replace<'a>(mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let text = read(args.next(), meter)?;
    let what = read(args.next(), meter)?;
    let with = read(args.next(), meter)?;
    if what.is_empty() || !text.contains(&*what) {
        return Ok(Value::Text(text));
    }
    let mut output = meter.output();
    for (index, piece) in text.split(&*what).enumerate() {
        if index > 0 {
            output.push(&with)?;
        }
        output.push(piece)?;
    }
    Ok(Value::text(output.finish()))
}

/// An empty separator splits into characters; null splits into nothing.
pub(super) fn split<'a>(mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let value = args.next();
    if value.is_null() {
        return Ok(Value::List(List::Values(Vec::new())));
    }
    let text = read(value, meter)?;
    let separator = match args.given() {
        Some(separator) => read(separator, meter)?,
        None => Cow::Borrowed(","),
    };
    let pieces = match text {
        Cow::Borrowed(text) => pieces(text, &separator, meter, Value::from)?,
        Cow::Owned(text) => pieces(&text, &separator, meter, |piece| {
            Value::text(piece.to_owned())
        })?,
    };
    Ok(Value::List(List::Values(pieces)))
}

fn pieces<'t, 'a>(
    text: &'t str,
    separator: &str,
    meter: &Meter,
    keep: impl Fn(&'t str) -> Value<'a>,
) -> Result<Vec<Value<'a>>, TooLong> {
    if separator.is_empty() {
        meter.charge(text.chars().count())?;
        let ends = text
            .char_indices()
            .map(|(at, one)| (at, at + one.len_utf8()));
        return Ok(ends
            .filter_map(|(start, end)| text.get(start..end))
            .map(keep)
            .collect());
    }
    meter.charge(text.matches(separator).count() + 1)?;
    Ok(text.split(separator).map(keep).collect())
}

/// From `start` up to but without `end`; the two may stand in either order.
pub(super) fn substring<'a>(mut args: Args<'a>, meter: &Meter) -> Outcome<'a> {
    let text = read(args.next(), meter)?;
    let start = count(&args.next());
    let end = args.given().map_or(usize::MAX, |end| count(&end));
    let (start, end) = (start.min(end), start.max(end));
    let from = offset(&text, start);
    let to = offset(&text, end);
    Ok(Value::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(from..to).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(from..to).unwrap_or_default().to_owned()),
    }))
}

/// The byte at which character `index` starts.
fn offset(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(at, _)| at)
}

/// A count or position; what is no number is 0.
pub(super) fn count(value: &Value<'_>) -> usize {
    value.as_number().map_or(0, Number::as_count)
}
