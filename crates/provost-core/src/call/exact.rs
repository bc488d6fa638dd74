//! Numbers that a double would round, found in the letters of a message, before anything reads them.

use std::borrow::Cow;

use memchr::memchr2;

/// Beyond 64 bits, so that no door takes it.
const REFUSED: &str = "1e300";
/// Every decimal of so few characters, without an exponent, is what a double or 64 bits say it is.
const SHORT: usize = 15;

/// The message, in which every number that would be rounded is one that [`is_exact`](super::is_exact) refuses:
/// what is judged must be what was written. Nearly all messages are returned as they are.
pub fn exact_numbers(json: &[u8]) -> Cow<'_, [u8]> {
    let mut written: Option<Vec<u8>> = None;
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = after_text(json, at + 1),
            b'-' | b'0'..=b'9' => {
                let end = after_number(json, at);
                let token = json.get(at..end).unwrap_or_default();
                if !is_kept(token) {
                    let written = written.get_or_insert_default();
                    written.extend(json.get(copied..at).unwrap_or_default());
                    written.extend(REFUSED.bytes());
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    match written {
        None => Cow::Borrowed(json),
        Some(mut written) => {
            written.extend(json.get(copied..).unwrap_or_default());
            Cow::Owned(written)
        }
    }
}

fn after_text(json: &[u8], mut at: usize) -> usize {
    while let Some(rest) = json.get(at..)
        && let Some(found) = memchr2(b'"', b'\\', rest)
    {
        if rest.get(found) == Some(&b'"') {
            return at + found + 1;
        }
        at += found + 2;
    }
    json.len()
}

fn after_number(json: &[u8], at: usize) -> usize {
    let rest = json.get(at..).unwrap_or_default();
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    at + rest.iter().take_while(|byte| is_part(byte)).count().max(1)
}

/// Whether a number that is written so is read as just that, and not as its neighbour.
pub fn is_exact_text(number: &str) -> bool {
    is_kept(number.as_bytes())
}

/// What is no number at all is left to the reader, who says so.
fn is_kept(token: &[u8]) -> bool {
    if token.len() <= SHORT && !token.iter().any(|byte| b"eE".contains(byte)) {
        return true;
    }
    let Ok(text) = str::from_utf8(token) else {
        return true;
    };
    if text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok() {
        return true;
    }
    let Ok(read) = text.parse::<f64>() else {
        return true;
    };
    decimal(text) == decimal(&said(read))
}

/// What a double stands for: a whole one for exactly that number, any other for the shortest decimal that reads
/// back as it.
fn said(float: f64) -> String {
    if float.fract() == 0.0 {
        format!("{float:.0}")
    } else {
        format!("{float:e}")
    }
}

/// Sign, digits without zeros around them, and the power of ten that they stand for.
fn decimal(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, power) = match text.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, power.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let negative = mantissa.starts_with('-');
    let (whole, fraction) = mantissa
        .trim_start_matches('-')
        .split_once('.')
        .unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let bare = digits.trim_end_matches('0');
    if bare.is_empty() {
        return Some((false, String::new(), 0));
    }
    let zeros = i64::try_from(digits.len() - bare.len()).ok()?;
    let behind = i64::try_from(fraction.len()).ok()?;
    let power = power.checked_add(zeros)?.checked_sub(behind)?;
    Some((negative, bare.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::call::is_exact;

    fn passes(number: &str) -> bool {
        let message = format!(r#"{{"text \" 1.00000000000000000001": [{number}, 1]}}"#);
        let value: Value = serde_json::from_slice(&exact_numbers(message.as_bytes())).unwrap();
        is_exact(&value)
    }

    #[test]
    fn p02_a_number_that_would_be_rounded_is_refused() {
        for number in [
            "9.007199254740993e15",
            "9007199254740993e0",
            "9007199254740993.0",
            "9007199254740992.5",
            "-9007199254740992.5",
            "0.1000000000000000055511151231257827",
            "1.00000000000000000001",
            "1.23456789012345e19",
            "-9223372036854775809",
            "18446744073709551616",
            "1e-400",
            "1E300",
        ] {
            assert!(!passes(number), "{number}");
        }
        for number in [
            "0",
            "-0.0",
            "1.0",
            "0.1",
            "0.30000000000000004",
            "1e3",
            "1.5E-7",
            "9007199254740992.0",
            "9.007199254740992e15",
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "100000000000000000000e-2",
            "3.141592653589793",
            "5e-324",
        ] {
            assert!(passes(number), "{number}");
        }
    }

    #[test]
    fn p02_a_message_without_such_numbers_is_kept_as_it_is() {
        for message in [
            r#"{"a": "9.007199254740993e15", "b\\": [1.5, -2e3]}"#,
            "{\"a\": 01, \"b\": -}",
            "\"unclosed 1.00000000000000000001",
            "",
        ] {
            let kept = exact_numbers(message.as_bytes());
            assert_eq!(kept, message.as_bytes(), "{message}");
        }
    }
}
