//! Numbers: whole numbers are exact over the range of 64 bits (account ids compare by every
//! digit), all others are doubles. Never NaN or infinite: such a result is null.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number as JsonNumber, Value as Json};

#[derive(Debug, Clone, Copy)]
pub struct Number(Repr);

#[derive(Debug, Clone, Copy)]
enum Repr {
    Int(i64),
    /// Above `i64::MAX`.
    Large(u64),
    /// Finite.
    Float(f64),
}

impl Number {
    pub fn from_f64(float: f64) -> Option<Self> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !float.is_finite() {
            None
        } else if float.fract() == 0.0 && float.abs() <= EXACT {
            Some(Self(Repr::Int(float as i64)))
        } else {
            Some(Self(Repr::Float(float)))
        }
    }

    fn from_int(int: i128) -> Self {
        match (i64::try_from(int), u64::try_from(int)) {
            (Ok(int), _) => Self(Repr::Int(int)),
            (_, Ok(int)) => Self(Repr::Large(int)),
            _ => Self(Repr::Float(int as f64)),
        }
    }

    pub(super) fn from_json(number: &JsonNumber) -> Option<Self> {
        if let Some(int) = number.as_i64() {
            Some(Self(Repr::Int(int)))
        } else if let Some(int) = number.as_u64() {
            Some(Self(Repr::Large(int)))
        } else {
            number.as_f64().and_then(Self::from_f64)
        }
    }

    /// Decimal text, with sign and exponent, blanks around it ignored. No hexadecimal, no `inf`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let decimal = text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'+' | b'-' | b'e' | b'E'));
        if !decimal {
            return None;
        }
        match text.parse::<i128>() {
            Ok(int) => Some(Self::from_int(int)),
            Err(_) => text.parse().ok().and_then(Self::from_f64),
        }
    }

    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Int(int) => int as f64,
            Repr::Large(int) => int as f64,
            Repr::Float(float) => float,
        }
    }

    /// The whole number, if this is one of at most 64 bits.
    pub fn as_int(self) -> Option<i128> {
        match self.0 {
            Repr::Int(int) => Some(int.into()),
            Repr::Large(int) => Some(int.into()),
            Repr::Float(_) => None,
        }
    }

    /// As a count or a position: fractions dropped, negative is 0, huge is the largest.
    pub(crate) fn as_count(self) -> usize {
        match self.0 {
            Repr::Int(int) => usize::try_from(int.max(0)).unwrap_or(usize::MAX),
            Repr::Large(int) => usize::try_from(int).unwrap_or(usize::MAX),
            Repr::Float(float) => float as usize,
        }
    }

    pub fn is_zero(self) -> bool {
        matches!(self.0, Repr::Int(0))
    }

    pub fn to_json(self) -> Json {
        match self.0 {
            Repr::Int(int) => Json::from(int),
            Repr::Large(int) => Json::from(int),
            Repr::Float(float) => Json::from(float),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_add, |a, b| a + b)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_sub, |a, b| a - b)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_mul, |a, b| a * b)
    }

    /// `None` for a division by zero.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let exact = |a: i128, b: i128| match a.checked_rem(b) {
            Some(0) => a.checked_div(b),
            _ => None,
        };
        self.combine(other, exact, |a, b| a / b)
    }

    pub(crate) fn negated(self) -> Self {
        match self.0 {
            Repr::Int(int) => Self::from_int(-i128::from(int)),
            Repr::Large(int) => Self::from_int(-i128::from(int)),
            Repr::Float(float) => Self(Repr::Float(-float)),
        }
    }

    pub(crate) fn abs(self) -> Self {
        if self < Self::from(0_u64) {
            self.negated()
        } else {
            self
        }
    }

    fn combine(
        self,
        other: Self,
        ints: impl Fn(i128, i128) -> Option<i128>,
        floats: impl Fn(f64, f64) -> f64,
    ) -> Option<Self> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int())
            && let Some(int) = ints(a, b)
        {
            return Some(Self::from_int(int));
        }
        Self::from_f64(floats(self.as_f64(), other.as_f64()))
    }
}

impl From<u64> for Number {
    fn from(int: u64) -> Self {
        Self::from_int(int.into())
    }
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(Repr::Int(int))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.as_int(), other.as_int()) {
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(a), None) => int_with_float(a, other.as_f64()),
            (None, Some(b)) => int_with_float(b, self.as_f64()).reverse(),
            (None, None) => self.as_f64().total_cmp(&other.as_f64()),
        }
    }
}

/// Exact: the integer is never rounded to a double. The cast saturates, which orders rightly.
fn int_with_float(int: i128, float: f64) -> Ordering {
    let floor = float.floor();
    int.cmp(&(floor as i128)).then(if float > floor {
        Ordering::Less
    } else {
        Ordering::Equal
    })
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Int(int) => write!(f, "{int}"),
            Repr::Large(int) => write!(f, "{int}"),
            Repr::Float(float) => f.write_str(ryu_js::Buffer::new().format_finite(float)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn reads_decimal_text_only() {
        for (text, expected) in [
            ("5", Some("5")),
            (" -5.50 ", Some("-5.5")),
            ("+7", Some("7")),
            ("1e3", Some("1000")),
            (".5", Some("0.5")),
            ("5.", Some("5")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("1e400", None),
            ("", None),
            ("0x10", None),
            ("inf", None),
            ("NaN", None),
            ("1_000", None),
            ("12px", None),
            ("1-2", None),
        ] {
            let found = Number::parse(text).map(|number| number.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn large_whole_numbers_stay_apart() {
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert_ne!(
            number("18446744073709551615"),
            number("18446744073709551614")
        );
        assert!(number("9007199254740993") > number("9007199254740992.0"));
        assert!(number("1e300") > number("18446744073709551615"));
        assert!(number("-1e300") < number("0"));
        assert!(number("2") < number("2.5") && number("2.5") < number("3"));
        assert!(number("-3") < number("-2.5") && number("-2.5") < number("-2"));
    }

    #[test]
    fn arithmetic_is_exact_where_it_can_be() {
        let sum = number("9007199254740993").plus(number("2"));
        assert_eq!(sum, Some(number("9007199254740995")));
        assert_eq!(number("6").over(number("3")), Some(number("2")));
        assert_eq!(number("7").over(number("2")), Some(number("3.5")));
        assert_eq!(number("7").over(number("0")), None);
        assert_eq!(number("0").over(number("0")), None);
        assert_eq!(number("1e308").times(number("10")), None);
        let huge = number("18446744073709551615");
        assert!(huge.times(huge).is_some_and(|square| square > huge));
    }
}
