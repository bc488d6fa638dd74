//! Values for people: amounts of money, ordinals, masked secrets. English, like the language.

use std::fmt::Write as _;

use super::text::{count, read};
use super::{Args, Meter, TooLong, Value};
use crate::expr::value::Number;

const KEPT_BY_DEFAULT: usize = 4;

/// Symbol and decimals of the currencies that have one people know.
const CURRENCIES: &[(&str, &str, usize)] = &[
    ("USD", "$", 2),
    ("EUR", "€", 2),
    ("GBP", "£", 2),
    ("JPY", "¥", 0),
    ("CNY", "CN¥", 2),
    ("INR", "₹", 2),
    ("KRW", "₩", 0),
    ("CAD", "CA$", 2),
    ("AUD", "A$", 2),
    ("BRL", "R$", 2),
    ("MXN", "MX$", 2),
];

/// `$1,234.50`; a currency without a symbol goes by its code, `CHF 1,234.50`.
pub(super) fn currency<'a>(mut args: Args<'a>, meter: &Meter) -> Result<Value<'a>, TooLong> {
    let Some(amount) = args.next().as_number() else {
        return Ok(Value::empty_text());
    };
    let code = match args.given() {
        Some(code) => read(code, meter)?.trim().to_uppercase(),
        None => "USD".to_owned(),
    };
    let known = CURRENCIES.iter().find(|(known, ..)| *known == code);
    let (symbol, decimals) = match known {
        Some((_, symbol, decimals)) => ((*symbol).to_owned(), *decimals),
        None => (format!("{code} "), 2),
    };
    let digits = match amount.as_int() {
        Some(int) if decimals == 0 => int.unsigned_abs().to_string(),
        Some(int) => format!("{}.{:0decimals$}", int.unsigned_abs(), 0),
        None => format!("{:.decimals$}", amount.as_f64().abs()),
    };
    let nothing = digits.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    let sign = if amount < amount.negated() && !nothing {
        "-"
    } else {
        ""
    };
    let mut output = meter.output();
    output.push(sign)?;
    output.push(&symbol)?;
    output.push(&grouped(&digits))?;
    Ok(Value::text(output.finish()))
}

/// A comma between every three digits before the point.
fn grouped(digits: &str) -> String {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        let _ = write!(text, ".{fraction}");
    }
    text
}

/// All but the last few characters covered. Text no longer than what would be kept is covered
/// whole: a mask must not show a short secret.
pub(super) fn mask<'a>(mut args: Args<'a>, meter: &Meter) -> Result<Value<'a>, TooLong> {
    let text = read(args.next(), meter)?;
    let keep = args.given().map_or(KEPT_BY_DEFAULT, |keep| count(&keep));
    let cover = match args.given() {
        Some(cover) => read(cover, meter)?.chars().next().unwrap_or('*'),
        None => '*',
    };
    let length = text.chars().count();
    meter.charge(length)?;
    let covered = if length > keep { length - keep } else { length };
    let masked = std::iter::repeat_n(cover, covered)
        .chain(text.chars().skip(covered))
        .collect::<String>();
    Ok(Value::text(masked))
}

/// `1st`, `2nd`, `11th`; what is no whole number stays as it is.
pub(super) fn ordinal<'a>(value: Value<'a>, meter: &Meter) -> Result<Value<'a>, TooLong> {
    let Some(int) = value.as_number().and_then(Number::as_int) else {
        return read(value, meter).map(Value::Text);
    };
    let suffix = match (int.unsigned_abs() % 10, int.unsigned_abs() % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    Ok(Value::text(format!("{int}{suffix}")))
}
