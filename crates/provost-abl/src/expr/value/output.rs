//! Text that an evaluation produces, metered before it is allocated: one result may have at most
//! `limit` characters, and all results of one evaluation together at most [`TOTAL`] times that.

use std::cell::Cell;
use std::fmt::Write as _;

use super::{List, Object, Value};

const TOTAL: usize = 10;

/// The cap was reached. The caller knows where, and makes it an error with a span.
#[derive(Debug)]
pub(crate) struct TooLong;

/// Counts what one evaluation has produced so far.
#[derive(Debug)]
pub(crate) struct Meter {
    limit: usize,
    left: Cell<usize>,
}

impl Meter {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            left: Cell::new(limit.saturating_mul(TOTAL)),
        }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// Accounts for `amount` characters, or list members, about to be made.
    pub(crate) fn charge(&self, amount: usize) -> Result<(), TooLong> {
        if amount > self.limit {
            return Err(TooLong);
        }
        let left = self.left.get().checked_sub(amount).ok_or(TooLong)?;
        self.left.set(left);
        Ok(())
    }

    pub(crate) fn output(&self) -> Output<'_> {
        self.extend(String::new())
    }

    /// Goes on with text that was already paid for.
    pub(crate) fn extend(&self, text: String) -> Output<'_> {
        let chars = text.chars().count();
        Output {
            meter: self,
            text,
            chars,
        }
    }
}

/// A string under construction.
#[derive(Debug)]
pub(crate) struct Output<'m> {
    meter: &'m Meter,
    text: String,
    chars: usize,
}

impl Output<'_> {
    pub(crate) fn push(&mut self, text: &str) -> Result<(), TooLong> {
        let chars = text.chars().count();
        if self.chars + chars > self.meter.limit {
            return Err(TooLong);
        }
        self.meter.charge(chars)?;
        self.chars += chars;
        self.text.push_str(text);
        Ok(())
    }

    /// The text form of a value: null is nothing, lists and objects are JSON.
    pub(crate) fn push_value(&mut self, value: &Value<'_>) -> Result<(), TooLong> {
        match value.as_text() {
            Some(text) => self.push(&text),
            None if value.is_null() => Ok(()),
            None => self.push_json(value),
        }
    }

    pub(crate) fn push_json(&mut self, value: &Value<'_>) -> Result<(), TooLong> {
        match value {
            Value::Null => self.push("null"),
            Value::Bool(_) | Value::Number(_) => self.push(&value.as_text().unwrap_or_default()),
            Value::Text(text) => self.push_quoted(text),
            Value::List(list) => self.push_list(list),
            Value::Object(object) => self.push_object(object),
        }
    }

    fn push_list(&mut self, list: &List<'_>) -> Result<(), TooLong> {
        self.push("[")?;
        for (index, item) in list.iter().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.push_json(&item)?;
        }
        self.push("]")
    }

    fn push_object(&mut self, object: &Object<'_>) -> Result<(), TooLong> {
        self.push("{")?;
        for (index, (key, value)) in object.pairs().enumerate() {
            if index > 0 {
                self.push(",")?;
            }
            self.push_quoted(key)?;
            self.push(":")?;
            self.push_json(&value)?;
        }
        self.push("}")
    }

    /// Character by character, so that a huge string stops at the cap.
    fn push_quoted(&mut self, text: &str) -> Result<(), TooLong> {
        self.push("\"")?;
        let mut plain = String::new();
        for character in text.chars() {
            match character {
                '"' | '\\' => plain.extend(['\\', character]),
                '\n' => plain.push_str("\\n"),
                '\r' => plain.push_str("\\r"),
                '\t' => plain.push_str("\\t"),
                control if control.is_ascii_control() => {
                    let _ = write!(plain, "\\u{:04x}", u32::from(control));
                }
                other => plain.push(other),
            }
            if plain.len() > 1024 {
                self.push(&plain)?;
                plain.clear();
            }
        }
        self.push(&plain)?;
        self.push("\"")
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// A value for people: as JSON, at most `longest` characters, cut off with `…`.
pub(crate) fn preview(value: &Value<'_>, longest: usize) -> String {
    // One character more than is shown, to tell a cut from a value that just fits; and room for
    // `push_quoted`, which writes in chunks.
    let meter = Meter::new(longest + 2048);
    let mut output = meter.output();
    let complete = output.push_json(value).is_ok();
    shorten(&output.finish(), longest, complete)
}

/// At most `longest` characters of `text`, cut off with `…`.
pub(crate) fn shorten(text: &str, longest: usize, complete: bool) -> String {
    if complete && text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}
