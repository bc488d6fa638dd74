//! Decimal numbers of up to 38 digits, kept exactly: what a text says, before a double would round it.

use std::cmp::Ordering;
use std::fmt;

/// All of these fit into 128 bits.
const MOST_DIGITS: u32 = 38;
/// Far beyond what a double holds; a number outside is none.
const LARGEST_EXPONENT: i32 = 20_000;
/// Whole doubles below this have at most [`MOST_DIGITS`] digits.
const WIDEST_WHOLE: f64 = 8e37;

/// `digits * 10^exponent`, without zeros at the end of `digits`. Zero is never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    pub(super) digits: u128,
    pub(super) exponent: i32,
}

impl Decimal {
    pub(super) fn new(negative: bool, mut digits: u128, mut exponent: i32) -> Self {
        if digits == 0 {
            return Self {
                negative: false,
                digits: 0,
                exponent: 0,
            };
        }
        while digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        Self {
            negative,
            digits,
            exponent,
        }
    }

    pub(super) fn of_int(int: i128) -> Self {
        Self::new(int < 0, int.unsigned_abs(), 0)
    }

    /// A whole double is exactly that number. Any other stands for the shortest decimal that reads back as
    /// it, which is how it was written.
    pub(super) fn of_f64(float: f64) -> Option<Self> {
        if float.fract() == 0.0 && float.abs() < WIDEST_WHOLE {
            Some(Self::new(float < 0.0, float.abs() as u128, 0))
        } else {
            Self::shortest(float)
        }
    }

    pub(super) fn shortest(float: f64) -> Option<Self> {
        Self::parse(&format!("{float:e}"))
    }

    /// Sign, digits with at most one point among them, exponent. `None` for anything else, and for more
    /// digits than can be kept.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match rest.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, exponent(power)?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (digits, dropped) = digits(whole.bytes().chain(fraction.bytes()))?;
        if digits == 0 {
            return Some(Self::new(false, 0, 0));
        }
        let shift = i32::try_from(dropped).ok()? - i32::try_from(fraction.len()).ok()?;
        let exponent = power.checked_add(shift)?;
        (exponent.abs() <= LARGEST_EXPONENT).then(|| Self::new(negative, digits, exponent))
    }

    /// The whole number, if it is one of at most 128 bits.
    pub(super) fn as_int(self) -> Option<i128> {
        let power = u32::try_from(self.exponent).ok()?;
        let digits = self.digits.checked_mul(10_u128.checked_pow(power)?)?;
        let int = i128::try_from(digits).ok()?;
        Some(if self.negative { -int } else { int })
    }

    /// The nearest double.
    pub(super) fn as_f64(self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.digits, self.exponent);
        text.parse().unwrap_or(f64::NAN)
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let sum = self
            .scaled(exponent)?
            .checked_add(other.scaled(exponent)?)?;
        Self::of_int(sum).times_power(exponent)
    }

    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated())
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let exponent = self.exponent.checked_add(other.exponent)?;
        Self::new(self.negative != other.negative, digits, 0).times_power(exponent)
    }

    pub(super) fn negated(self) -> Self {
        Self::new(!self.negative, self.digits, self.exponent)
    }

    fn times_power(self, power: i32) -> Option<Self> {
        let exponent = self.exponent.checked_add(power)?;
        let kept = count(self.digits) <= MOST_DIGITS && exponent.abs() <= LARGEST_EXPONENT;
        kept.then(|| Self::new(self.negative, self.digits, exponent))
    }

    /// With this exponent, which is not above its own.
    fn scaled(self, exponent: i32) -> Option<i128> {
        let power = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        let digits = self.digits.checked_mul(10_u128.checked_pow(power)?)?;
        let int = i128::try_from(digits).ok()?;
        Some(if self.negative { -int } else { int })
    }

    fn magnitude(self, other: Self) -> Ordering {
        if self.digits == 0 || other.digits == 0 {
            return self.digits.cmp(&other.digits);
        }
        let size = |decimal: Self| i64::from(decimal.exponent) + i64::from(count(decimal.digits));
        size(self).cmp(&size(other)).then_with(|| {
            // As many digits before the point: both fill up to the longer of the two, and no further.
            let longest = count(self.digits).max(count(other.digits));
            filled(self.digits, longest).cmp(&filled(other.digits, longest))
        })
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.magnitude(*other),
            (true, true) => other.magnitude(*self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// In full where that is short, else with an exponent. Reads back as the same number.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits = self.digits.to_string();
        let length = digits.len();
        match usize::try_from(self.exponent) {
            Ok(zeros) if length + zeros <= 40 => write!(f, "{sign}{digits}{}", "0".repeat(zeros)),
            Err(_) if self.exponent >= -40 => {
                let places = usize::try_from(-self.exponent).unwrap_or_default();
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                write!(f, "{sign}{whole}.{fraction}")
            }
            _ => write!(f, "{sign}{digits}e{}", self.exponent),
        }
    }
}

fn count(digits: u128) -> u32 {
    digits.checked_ilog10().map_or(1, |log| log + 1)
}

fn filled(digits: u128, longest: u32) -> u128 {
    digits.saturating_mul(10_u128.saturating_pow(longest.saturating_sub(count(digits))))
}

fn exponent(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // So large that nothing but zero is left of it.
    Some(sign * digits.parse().unwrap_or(i32::MAX / 2))
}

/// The digits as a number, and how many zeros at their end were left out of it.
fn digits(bytes: impl Iterator<Item = u8>) -> Option<(u128, usize)> {
    let (mut number, mut zeros) = (0_u128, 0_usize);
    for byte in bytes {
        let digit = match byte {
            b'0' if number == 0 => continue,
            b'0' => {
                zeros += 1;
                continue;
            }
            b'1'..=b'9' => byte - b'0',
            _ => return None,
        };
        let power = u32::try_from(zeros + 1).ok()?;
        let known = if number == 0 { 0 } else { count(number) };
        if known + power > MOST_DIGITS && number != 0 {
            return None;
        }
        number = number * 10_u128.checked_pow(power)? + u128::from(digit);
        zeros = 0;
    }
    Some((number, zeros))
}
