//! What a strict program refuses to convert. A gate asks about one kind of value; one of another
//! kind is no answer to its question, neither yes nor no, so it is an error. What is not set stays
//! null. In lenient programs nothing here refuses anything.

use super::Run;
use crate::expr::ast::{CompareOp, Expr, Step};
use crate::expr::error::{EvalError, Span};
use crate::expr::program::Typing;
use crate::expr::value::Value;

pub(super) type Outcome<'a> = Result<Value<'a>, EvalError>;

pub(super) const TEXT: &str = "text";
pub(super) const NUMBER: &str = "a number";

impl<'a> Run<'a> {
    pub(super) fn is_strict(&self) -> bool {
        self.settings.typing == Typing::Strict
    }

    /// The left side of a comparison.
    pub(super) fn left(&self, op: CompareOp, expr: &'a Expr) -> Outcome<'a> {
        let kinds: fn(&Value<'_>) -> bool = match op {
            CompareOp::Matches
            | CompareOp::StartsWith
            | CompareOp::EndsWith
            | CompareOp::Within => is_text,
            CompareOp::Contains => |value| !matches!(value, Value::Bool(_) | Value::Object(_)),
            _ if op.is_ordering() => is_scalar,
            _ => return self.eval(expr),
        };
        if op == CompareOp::Contains
            && let list @ Value::List(_) = self.open(expr)?
        {
            return Ok(list);
        }
        let expected = if op.is_ordering() { NUMBER } else { TEXT };
        self.checked(expr, expected, kinds)
    }

    /// Its right side, once the left is known.
    pub(super) fn right(&self, op: CompareOp, left: &Value<'a>, expr: &'a Expr) -> Outcome<'a> {
        match op {
            CompareOp::Matches | CompareOp::StartsWith | CompareOp::EndsWith => {
                self.checked(expr, TEXT, is_text)
            }
            CompareOp::Within => self.checked(expr, TEXT, |value| match value {
                Value::List(folders) => folders.iter().all(|folder| is_text(&folder)),
                other => is_text(other),
            }),
            CompareOp::Contains if is_scalar(left) => self.checked(expr, TEXT, is_scalar),
            _ if op.is_ordering() => self.checked(expr, NUMBER, is_scalar),
            CompareOp::In => self.open(expr),
            _ => self.eval(expr),
        }
    }

    /// Text that is no number has no place among numbers: `"1,000"` is neither above nor below 5, nor
    /// `"5"`.
    pub(super) fn comparable(
        &self,
        (left, left_span): (&Value<'_>, Span),
        (right, right_span): (&Value<'_>, Span),
    ) -> Result<(), EvalError> {
        let set = |value: &Value<'_>| !value.is_null();
        if !self.is_strict() || !set(left) || !set(right) {
            return Ok(());
        }
        match (left.as_number(), right.as_number()) {
            (None, Some(_)) => Err(wrong(NUMBER, left.kind(), left_span)),
            (Some(_), None) => Err(wrong(NUMBER, right.kind(), right_span)),
            _ => Ok(()),
        }
    }

    /// One folder of a list that is written in place.
    pub(super) fn folder(&self, expr: &'a Expr) -> Outcome<'a> {
        self.checked(expr, TEXT, is_text)
    }

    /// An operand of arithmetic.
    pub(super) fn term(&self, expr: &'a Expr) -> Outcome<'a> {
        self.checked(expr, NUMBER, is_scalar)
    }

    /// Whether `+` joins two values. It does when a side is text, as people expect of `"a" + 1`; a strict
    /// program takes text that is a number for that number, as its comparisons do, or `"-1" + 9999` would be
    /// a text below every limit.
    pub(super) fn joins(&self, left: &Value<'_>, right: &Value<'_>) -> bool {
        match (left, right) {
            (Value::Text(_), Value::Text(_)) if self.is_strict() => {
                left.as_number().is_none() || right.as_number().is_none()
            }
            (Value::Text(_), Value::Number(_)) | (Value::Number(_), Value::Text(_)) => {
                !self.is_strict()
            }
            (Value::Text(_), _) | (_, Value::Text(_)) => true,
            _ => false,
        }
    }

    /// Texts of which one is no number make no number: `"-" + "9999"` is none to compare with a limit.
    pub(super) fn still_text(&self, joined: Value<'a>, missing: bool, span: Span) -> Outcome<'a> {
        if self.is_strict() && !missing && joined.as_number().is_some() {
            return Err(wrong("numbers or texts", "some of each", span));
        }
        Ok(joined)
    }

    /// Null from a computation of which nothing was missing: an operand that is no number, a
    /// division by zero, a result that is too large. As null it would be below every limit.
    pub(super) fn computed(&self, value: Value<'a>, missing: bool, span: Span) -> Outcome<'a> {
        if self.is_strict() && value.is_null() && !missing {
            return Err(wrong(NUMBER, "a result that is none", span));
        }
        Ok(value)
    }

    pub(super) fn checked(
        &self,
        expr: &'a Expr,
        expected: &'static str,
        kinds: impl Fn(&Value<'_>) -> bool,
    ) -> Outcome<'a> {
        let value = self.eval(expr)?;
        if !self.is_strict() || kinds(&value) {
            Ok(value)
        } else {
            Err(wrong(expected, value.kind(), expr.span))
        }
    }

    /// The end of a path. `files[0]` of a text is not "not set": it was given, in a shape the rule does
    /// not know.
    pub(super) fn reached(&self, start: Value<'a>, steps: &[Step], span: Span) -> Outcome<'a> {
        if !self.is_strict() {
            return Ok(steps.iter().fold(start, Value::step));
        }
        steps.iter().try_fold(start, |value, step| {
            if is_beyond(&value, step) {
                Err(EvalError::Unreadable { span })
            } else if has_twin(&value, step) {
                Err(wrong(
                    "a member of exactly that name",
                    "one that differs in case",
                    span,
                ))
            } else if value.has_steps_like(step) {
                Ok(value.step(step))
            } else {
                let expected = match step {
                    Step::Key(_) => "an object",
                    Step::Index(_) => "a list",
                };
                Err(wrong(expected, value.kind(), span))
            }
        })
    }

    /// A value that stands where a condition belongs. For a gate `"no"` and `[false]` are neither true nor
    /// false.
    pub(super) fn truth(&self, expr: &'a Expr) -> Result<bool, EvalError> {
        let value = self.eval(expr)?;
        match value {
            Value::Bool(_) | Value::Null => Ok(value.is_truthy()),
            other if self.is_strict() => Err(wrong("true or false", other.kind(), expr.span)),
            other => Ok(other.is_truthy()),
        }
    }

    /// `EMPTY x`. A number has nothing in it to be empty of, and of `[""]` it depends on who reads it.
    pub(super) fn emptiness(&self, of: &'a Expr) -> Result<bool, EvalError> {
        let value = self.eval(of)?;
        if self.is_strict() {
            if matches!(value, Value::Bool(_) | Value::Number(_)) {
                return Err(wrong("text, a list or an object", value.kind(), of.span));
            }
            if !value.is_empty() && is_hollow(&value) {
                return Err(wrong("something or nothing", "only empty members", of.span));
            }
        }
        Ok(value.is_empty())
    }
}

/// Past the end of a list whose end is not known, or about that end.
fn is_beyond(value: &Value<'_>, step: &Step) -> bool {
    match (value, step) {
        (Value::List(list), Step::Index(index)) => !list.is_whole() && *index >= list.len(),
        (Value::List(list), Step::Key(_)) => !list.is_whole(),
        _ => false,
    }
}

/// Nothing in it, however deep one looks.
fn is_hollow(value: &Value<'_>) -> bool {
    match value {
        Value::List(items) => items.iter().all(|item| is_hollow(&item)),
        Value::Object(members) => members.pairs().all(|(_, member)| is_hollow(&member)),
        other => other.is_empty(),
    }
}

pub(super) fn wrong(expected: &'static str, found: &'static str, span: Span) -> EvalError {
    EvalError::WrongType {
        expected,
        found,
        span,
    }
}

fn is_text(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(_) | Value::Null)
}

pub(super) fn is_scalar(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(_) | Value::Number(_) | Value::Null)
}

/// Whether a program takes a member whose name differs in case is not known.
fn has_twin(value: &Value<'_>, step: &Step) -> bool {
    match (value, step) {
        (Value::Object(object), Step::Key(key)) => object.has_twin(key),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::expr::{JsonScope, Program};

    #[test]
    fn p01_members_that_differ_only_in_case_cannot_be_judged() {
        let program = Program::compile("params.disk == \"prod\"")
            .unwrap()
            .strict();
        for (params, expected) in [
            (json!({"disk": "dev"}), Some(false)),
            (json!({"disk": "dev", "risk": "prod"}), Some(false)),
            (json!({"disk": "dev", "DISK": "prod"}), None),
            (json!({"DISK": "prod"}), None),
            // Some readers take these for `s` and `k`.
            (json!({"disk": "dev", "di\u{17f}k": "prod"}), None),
            (json!({"disk": "dev", "dis\u{212a}": "prod"}), None),
        ] {
            let roots = json!({ "params": params });
            let scope = JsonScope::new(&roots, jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(program.test(&scope).ok(), expected, "{params}");
        }
    }
}
