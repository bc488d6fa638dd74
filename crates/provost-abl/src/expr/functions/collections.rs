//! Lists and objects. Members stay borrowed: a merge copies keys and references, not contents.

use std::collections::BTreeMap;

use super::{Args, Function, Meter, TooLong, Value};
use crate::expr::value::{List, Object, equals};

/// `ARRAY_FIND(list, key, value)`: the first object whose `key` equals `value`;
/// `ARRAY_FIND(list, value)`: the first item that equals `value`. None is null, or index -1.
pub(super) fn find(function: Function, mut args: Args<'_>) -> Value<'_> {
    let list = args.next();
    let key = if args.left() == 2 {
        Some(args.next())
    } else {
        None
    };
    let wanted = args.next();
    let position = match &list {
        Value::List(list) => list
            .iter()
            .position(|item| answers(&item, key.as_ref(), &wanted)),
        _ => None,
    };
    match (function, position, list) {
        (Function::ArrayFindIndex, Some(index), _) => Value::count(index),
        (Function::ArrayFindIndex, None, _) => Value::Number((-1_i64).into()),
        (_, Some(index), Value::List(list)) => list.take(index),
        _ => Value::Null,
    }
}

fn answers(item: &Value<'_>, key: Option<&Value<'_>>, wanted: &Value<'_>) -> bool {
    let Some(key) = key else {
        return equals(item, wanted);
    };
    match (item, key.as_text()) {
        (Value::Object(object), Some(key)) => object
            .get(&key)
            .map_or(wanted.is_null(), |found| equals(&found, wanted)),
        _ => false,
    }
}

/// Null has length 0; numbers and bools have none.
pub(super) fn length<'a>(value: &Value<'_>) -> Value<'a> {
    match value {
        Value::Null => Value::count(0),
        other => other.length().map_or(Value::Null, Value::count),
    }
}

/// The keys or the values; of anything but an object, none.
pub(super) fn members<'a>(
    function: Function,
    value: Value<'a>,
    meter: &Meter,
) -> Result<Value<'a>, TooLong> {
    let Value::Object(object) = value else {
        return Ok(Value::List(List::Values(Vec::new())));
    };
    meter.charge(object.len())?;
    let pairs = object.into_pairs().into_iter();
    let members = match function {
        Function::ObjectKeys => pairs.map(|(key, _)| Value::Text(key)).collect(),
        _ => pairs.map(|(_, value)| value).collect(),
    };
    Ok(Value::List(List::Values(members)))
}

/// Shallow; later objects win; anything but an object is left out.
pub(super) fn merge<'a>(args: Args<'a>, meter: &Meter) -> Result<Value<'a>, TooLong> {
    let mut merged = BTreeMap::new();
    for value in args.rest() {
        if let Value::Object(object) = value {
            meter.charge(object.len())?;
            merged.extend(object.into_pairs());
        }
    }
    Ok(Value::Object(Object::Values(merged)))
}
