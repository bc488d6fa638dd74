//! Whole numbers that a double rounds. The validator compares as doubles, so that one just above a limit would
//! pass for the limit itself.

use serde_json::{Number, Value};

/// Below it every whole number is a double of its own.
const EXACT: i128 = 1 << 53;

/// What a schema says of such numbers.
#[derive(Debug, Default)]
pub(super) struct Large {
    /// Every such number in it: limits, and values that are named.
    named: Vec<i128>,
    multiples: Vec<i128>,
}

impl Large {
    pub(super) fn of(schema: &Value) -> Self {
        let mut large = Self::default();
        large.read(schema);
        large
    }

    fn read(&mut self, schema: &Value) {
        match schema {
            Value::Number(number) => self.named.extend(whole(number).filter(is_large)),
            Value::Array(items) => items.iter().for_each(|item| self.read(item)),
            Value::Object(fields) => {
                let of = fields.get("multipleOf").and_then(Value::as_number);
                self.multiples
                    .extend(of.and_then(whole).filter(|of| *of > 1));
                fields.values().for_each(|field| self.read(field));
            }
            _ => {}
        }
    }

    /// An error where the validator cannot have compared exactly.
    pub(super) fn allows(&self, arguments: &Value) -> Result<(), String> {
        if self.named.is_empty() && self.multiples.is_empty() {
            return Ok(());
        }
        let fits = match arguments {
            Value::Number(number) => whole(number)
                .filter(is_large)
                .is_none_or(|number| self.tells_apart(number)),
            Value::Array(items) => return items.iter().try_for_each(|item| self.allows(item)),
            Value::Object(fields) => {
                return fields.values().try_for_each(|field| self.allows(field));
            }
            _ => true,
        };
        let problem = "a number is so close to a limit that it cannot be held against it exactly";
        fits.then_some(()).ok_or_else(|| problem.to_owned())
    }

    fn tells_apart(&self, number: i128) -> bool {
        let rounded = number as f64 as i128;
        let is_mistaken = |limit: &i128| *limit as f64 as i128 == rounded && *limit != number;
        let is_no_multiple = |of: &i128| rounded % of == 0 && number % of != 0;
        !self.named.iter().any(is_mistaken) && !self.multiples.iter().any(is_no_multiple)
    }
}

fn is_large(number: &i128) -> bool {
    number.abs() >= EXACT
}

fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i128() {
        return Some(number);
    }
    let number = number.as_f64().filter(|number| number.fract() == 0.0)?;
    (number.abs() < 1e30).then_some(number as i128)
}
