//! What functions are given in strict programs. A function that would read a list as text, or look for a
//! member where there are none, answers another question than the one that was asked.

use super::Run;
use super::strict::{NUMBER, TEXT, is_scalar, wrong};
use crate::expr::ast::Expr;
use crate::expr::error::EvalError;
use crate::expr::functions::Function;
use crate::expr::value::{List, Value, same};

impl<'a> Run<'a> {
    pub(super) fn arguments(
        &self,
        function: Function,
        args: &'a [Expr],
    ) -> Result<Vec<Value<'a>>, EvalError> {
        let values = self.eval_all(args)?;
        if !self.is_strict() {
            return Ok(values);
        }
        for (at, (value, arg)) in values.iter().zip(args).enumerate() {
            if let Some(expected) = refused(function, at, args.len(), value) {
                return Err(wrong(expected, value.kind(), arg.span));
            }
        }
        if matches!(function, Function::ArrayFind | Function::ArrayFindIndex)
            && let (Some(list), Some(arg)) = (values.first(), args.first())
            && !can_be_searched(list, values.get(1..).unwrap_or_default())
        {
            return Err(wrong("members of the same kind", "others", arg.span));
        }
        Ok(values)
    }
}

/// What should have stood there instead, if this may not.
fn refused(
    function: Function,
    at: usize,
    arguments: usize,
    value: &Value<'_>,
) -> Option<&'static str> {
    let plain = |value: &Value<'_>| is_scalar(value) || matches!(value, Value::Bool(_));
    let scalars = |list: &List<'_>| list.iter().all(|item| is_scalar(&item));
    let (accepted, expected) = match (function, value) {
        (_, Value::Null) => return None,
        (Function::Max | Function::Min, Value::List(list)) if arguments == 1 => {
            (scalars(list), NUMBER)
        }
        _ if function.is_numeric() => (is_scalar(value), NUMBER),
        _ if function.is_textual() => (is_scalar(value), TEXT),
        (Function::Join, Value::List(list)) if at == 0 => (scalars(list), "a list of texts"),
        (Function::Join, _) if at == 0 => (false, "a list"),
        (
            Function::Join | Function::FormatCurrency | Function::FormatDate | Function::Ordinal,
            _,
        ) => (is_scalar(value), TEXT),
        (Function::ToString, _) => (plain(value), TEXT),
        (Function::ArrayFind | Function::ArrayFindIndex, _) if at == 0 => {
            (matches!(value, Value::List(_)), "a list")
        }
        (Function::ObjectKeys | Function::ObjectValues | Function::ObjectMerge, _) => {
            (matches!(value, Value::Object(_)), "an object")
        }
        (Function::Length, _) => (value.length().is_some(), "text or a list"),
        _ => (true, ""),
    };
    (!accepted).then_some(expected)
}

/// Whether every member can be compared with what is looked for: the last argument, by the key before it.
fn can_be_searched(list: &Value<'_>, rest: &[Value<'_>]) -> bool {
    let Value::List(list) = list else {
        return true;
    };
    let (key, wanted) = match rest {
        [wanted] => (None, wanted),
        [key, wanted, ..] => (key.as_text(), wanted),
        [] => return true,
    };
    list.iter().all(|item| match (&key, &*item) {
        (None, item) => same(item, wanted).is_some(),
        (Some(key), Value::Object(object)) => object
            .get(key)
            .is_none_or(|found| same(&found, wanted).is_some()),
        (Some(_), _) => false,
    })
}
