//! Canonical JSON (RFC 8785), with one deliberate difference: whole numbers keep every digit.
//!
//! The RFC prints numbers as doubles, and doubles by as few digits as read back as them. So 9007199254740993
//! and 9007199254740992 would share a digest, and so would 9223372036854776000 and the double
//! 9223372036854775808.0: an approval for one would permit the other, which policy may judge differently.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use crate::json::write_string;

pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => write_object(map, out),
    }
}

pub(super) fn write_object(map: &Map<String, Value>, out: &mut String) {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| compare_keys(a, b));
    out.push('{');
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write_value(value, out);
    }
    out.push('}');
}

/// By UTF-16 code units, as the RFC says; for ASCII that is the order of the bytes.
fn compare_keys(a: &str, b: &str) -> std::cmp::Ordering {
    if a.is_ascii() && b.is_ascii() {
        return a.cmp(b);
    }
    a.encode_utf16().cmp(b.encode_utf16())
}

fn write_number(number: &Number, out: &mut String) {
    /// What is larger is no integer of 64 bits, and cannot be taken for one.
    const EXACT: f64 = 18_446_744_073_709_551_616.0;
    match number.as_f64() {
        Some(float) if number.is_f64() => {
            // 1.0 and 1 are the same number, so they get the same text.
            if float.fract() == 0.0 && float.abs() < EXACT {
                let _ = write!(out, "{}", float as i128);
            } else {
                out.push_str(ryu_js::Buffer::new().format(float));
            }
        }
        _ => {
            let _ = write!(out, "{number}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn canonical(json: &str) -> String {
        canonical_json(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn follows_the_rfc() {
        for (json, expected) in [
            (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
            ("[1.0, 1e3, 0.002, 1e21, -0.0]", "[1,1000,0.002,1e+21,0]"),
            (
                "[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]",
                "[333333333.3333333,1e+30,4.5,0.002,1e-27]",
            ),
            (
                r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#,
                "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"",
            ),
            (
                r#"{"\ud83d\ude00":1,"\ufb33":2}"#,
                "{\"😀\":1,\"\u{fb33}\":2}",
            ),
        ] {
            assert_eq!(canonical(json), expected);
        }
    }

    #[test]
    fn large_integers_keep_every_digit() {
        assert_ne!(canonical("9007199254740993"), canonical("9007199254740992"));
        assert_eq!(canonical("18446744073709551615"), "18446744073709551615");
    }

    #[test]
    fn p02_a_double_shares_its_text_with_the_integer_that_it_is_and_no_other() {
        for (float, integer, other) in [
            (
                "9223372036854775808.0",
                "9223372036854775808",
                "9223372036854776000",
            ),
            (
                "1152921504606846976.0",
                "1152921504606846976",
                "1152921504606847000",
            ),
            ("-9223372036854775808.0", "-9223372036854775808", "0"),
            ("-0.0", "0", "1"),
            ("1.0", "1", "0"),
        ] {
            assert_eq!(canonical(float), canonical(integer), "{float}");
            assert_ne!(canonical(float), canonical(other), "{float}");
        }
    }

    proptest! {
        #[test]
        fn reads_back_as_the_same_value(text in ".*", number in any::<i64>(), float in -1e9..1e9) {
            let value = serde_json::json!({ text.clone(): [number, float, text] });
            let back: Value = serde_json::from_str(&canonical_json(&value)).unwrap();
            prop_assert_eq!(canonical_json(&back), canonical_json(&value));
        }
    }
}
