//! Numbers, compared exactly: whole numbers of 64 bits by every digit, and texts by what they say
//! rather than by the nearest double. Never NaN or infinite: such a result is null.

mod decimal;

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number as JsonNumber, Value as Json};

use decimal::Decimal;

#[derive(Debug, Clone, Copy)]
pub struct Number(Repr);

#[derive(Debug, Clone, Copy)]
enum Repr {
    Int(i64),
    /// Above `i64::MAX`.
    Large(u64),
    /// Finite.
    Float(f64),
    /// What none of the others says exactly, such as `"9007199254740992.5"`. Never zero. The digits are
    /// two halves, so that a number needs no more than the alignment of the others.
    Exact {
        high: u64,
        low: u64,
        exponent: i16,
        negative: bool,
    },
}

impl Number {
    pub fn from_f64(float: f64) -> Option<Self> {
        /// What is larger is no integer of 64 bits.
        const LARGEST: f64 = 18_446_744_073_709_551_616.0;
        if !float.is_finite() {
            return None;
        }
        // As the digest of a call has it: the double and the integer that it is are one number, and one text.
        let int = (float.fract() == 0.0 && float.abs() < LARGEST).then_some(float as i128);
        Some(
            match int.map(|int| (i64::try_from(int), u64::try_from(int))) {
                Some((Ok(int), _)) => Self(Repr::Int(int)),
                Some((_, Ok(int))) => Self(Repr::Large(int)),
                _ => Self(Repr::Float(float)),
            },
        )
    }

    fn from_int(int: i128) -> Self {
        match (i64::try_from(int), u64::try_from(int)) {
            (Ok(int), _) => Self(Repr::Int(int)),
            (_, Ok(int)) => Self(Repr::Large(int)),
            _ => Self::from_decimal(Decimal::of_int(int)).unwrap_or(Self(Repr::Float(int as f64))),
        }
    }

    /// The plainest form that says exactly this; `None` for what is larger than any double.
    fn from_decimal(decimal: Decimal) -> Option<Self> {
        if let Some(int) = decimal.as_int()
            && (i64::try_from(int).is_ok() || u64::try_from(int).is_ok())
        {
            return Some(Self::from_int(int));
        }
        let float = decimal.as_f64();
        if !float.is_finite() {
            return None;
        }
        // What a double stands for, and what it is written as.
        if [Decimal::of_f64(float), Decimal::shortest(float)] == [Some(decimal); 2] {
            return Some(Self(Repr::Float(float)));
        }
        Some(Self(Repr::Exact {
            high: (decimal.digits >> 64) as u64,
            low: decimal.digits as u64,
            exponent: i16::try_from(decimal.exponent).ok()?,
            negative: decimal.negative,
        }))
    }

    fn decimal(self) -> Option<Decimal> {
        match self.0 {
            Repr::Int(int) => Some(Decimal::of_int(int.into())),
            Repr::Large(int) => Some(Decimal::of_int(int.into())),
            Repr::Float(float) => Decimal::of_f64(float),
            Repr::Exact {
                high,
                low,
                exponent,
                negative,
            } => {
                let digits = u128::from(high) << 64 | u128::from(low);
                Some(Decimal::new(negative, digits, exponent.into()))
            }
        }
    }

    pub fn from_json(number: &JsonNumber) -> Option<Self> {
        if let Some(int) = number.as_i64() {
            Some(Self(Repr::Int(int)))
        } else if let Some(int) = number.as_u64() {
            Some(Self(Repr::Large(int)))
        } else {
            number.as_f64().and_then(Self::from_f64)
        }
    }

    /// Decimal text, with sign and exponent, blanks around it ignored. No hexadecimal, no `inf`, and no
    /// more than 38 digits.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        match text.parse::<i64>() {
            Ok(int) => Some(Self(Repr::Int(int))),
            Err(_) => Decimal::parse(text).and_then(Self::from_decimal),
        }
    }

    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Int(int) => int as f64,
            Repr::Large(int) => int as f64,
            Repr::Float(float) => float,
            Repr::Exact { .. } => self.decimal().map_or(f64::NAN, Decimal::as_f64),
        }
    }

    /// The whole number, if this is one of at most 64 bits.
    pub fn as_int(self) -> Option<i128> {
        match self.0 {
            Repr::Int(int) => Some(int.into()),
            Repr::Large(int) => Some(int.into()),
            Repr::Float(_) | Repr::Exact { .. } => None,
        }
    }

    fn whole(self) -> i128 {
        self.as_int().unwrap_or_default()
    }

    /// As a count or a position: fractions dropped, negative is 0, huge is the largest.
    pub(crate) fn as_count(self) -> usize {
        match self.0 {
            Repr::Int(int) => usize::try_from(int.max(0)).unwrap_or(usize::MAX),
            Repr::Large(int) => usize::try_from(int).unwrap_or(usize::MAX),
            Repr::Float(_) | Repr::Exact { .. } => self.as_f64() as usize,
        }
    }

    pub fn is_zero(self) -> bool {
        matches!(self.0, Repr::Int(0))
    }

    pub fn to_json(self) -> Json {
        match self.0 {
            Repr::Int(int) => Json::from(int),
            Repr::Large(int) => Json::from(int),
            Repr::Float(_) | Repr::Exact { .. } => Json::from(self.as_f64()),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_add, Decimal::plus, |a, b| a + b)
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_sub, Decimal::minus, |a, b| a - b)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        self.combine(other, i128::checked_mul, Decimal::times, |a, b| a * b)
    }

    /// `None` for a division by zero.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let exact = |a: i128, b: i128| match a.checked_rem(b) {
            Some(0) => a.checked_div(b),
            _ => None,
        };
        self.combine(other, exact, |_, _| None, |a, b| a / b)
    }

    pub(crate) fn negated(self) -> Self {
        match self.0 {
            Repr::Int(int) => Self::from_int(-i128::from(int)),
            Repr::Large(int) => Self::from_int(-i128::from(int)),
            Repr::Float(float) => Self(Repr::Float(-float)),
            Repr::Exact {
                high,
                low,
                exponent,
                negative,
            } => Self(Repr::Exact {
                high,
                low,
                exponent,
                negative: !negative,
            }),
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
        decimals: impl Fn(Decimal, Decimal) -> Option<Decimal>,
        floats: impl Fn(f64, f64) -> f64,
    ) -> Option<Self> {
        if let (Some(a), Some(b)) = (self.as_int(), other.as_int())
            && let Some(int) = ints(a, b)
        {
            return Some(Self::from_int(int));
        }
        if let (Some(a), Some(b)) = (self.decimal(), other.decimal())
            && let Some(number) = decimals(a, b).and_then(Self::from_decimal)
        {
            return Some(number);
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
        match (self.0, other.0) {
            (Repr::Float(a), Repr::Float(b)) => a.total_cmp(&b),
            (Repr::Exact { .. }, _) | (_, Repr::Exact { .. }) => {
                self.decimal().cmp(&other.decimal())
            }
            (Repr::Float(a), _) => int_with_float(other.whole(), a).reverse(),
            (_, Repr::Float(b)) => int_with_float(self.whole(), b),
            _ => self.whole().cmp(&other.whole()),
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
            Repr::Exact { .. } => match self.decimal() {
                Some(decimal) => write!(f, "{decimal}"),
                None => Ok(()),
            },
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
            ("1e", None),
            (".", None),
            ("1.2.3", None),
            ("-0.0", Some("0")),
            ("0e99999999999", Some("0")),
            ("9007199254740993.0", Some("9007199254740993")),
            ("9007199254740992.5", Some("9007199254740992.5")),
            ("0.10", Some("0.1")),
            ("18446744073709551616", Some("18446744073709551616")),
            ("1000000000000000000000000000000000000001e-38", None),
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
    fn p02_numbers_compare_by_what_they_say() {
        let ordered = [
            "-18446744073709551616",
            "-9223372036854775809",
            "-9223372036854775808",
            "-9007199254740993",
            "-9007199254740992.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "9007199254740991.5",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775807.5",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551615.000001",
            "18446744073709551616",
            "18446744073709551617",
            "99999999999999991611392",
            "1e23",
            "100000000000000000000001",
            "1e27",
            "1000000000000000000000000001",
            "1000000000000000013287555071",
            "1000000000000000013287555072",
            "1000000000000000013287555073",
            "99999999999999999999999999999999999999",
            "1e38",
            "1.0000000000000000000000000000000000001e38",
            "1e300",
        ];
        for (at, less) in ordered.iter().enumerate() {
            assert_eq!(number(less), number(less), "{less}");
            for more in &ordered[at + 1..] {
                assert!(number(less) < number(more), "{less} {more}");
                assert!(number(more) > number(less), "{more} {less}");
            }
        }
    }

    #[test]
    fn p02_a_json_number_equals_the_text_of_it() {
        for (json, text) in [
            ("0.1", "0.1"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e3", "1000.0"),
            ("1e22", "1e22"),
            ("1e23", "99999999999999991611392"),
            ("9007199254740993", "9007199254740993.0"),
            ("18446744073709551615", "18446744073709551615.0"),
            ("9223372036854775808.0", "9223372036854775808"),
            ("18446744073709551616.0", "18446744073709551616"),
        ] {
            let json: serde_json::Number = serde_json::from_str(json).unwrap();
            assert_eq!(Number::from_json(&json), Number::parse(text), "{json}");
        }
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
        assert_eq!(number("0.1").plus(number("0.2")), Some(number("0.3")));
        assert_eq!(number("1.1").times(number("100")), Some(number("110")));
        assert_eq!(
            number("18446744073709551615").plus(number("2")),
            Some(number("18446744073709551617"))
        );
        let huge = number("18446744073709551615");
        assert!(huge.times(huge).is_some_and(|square| square > huge));
    }
}
