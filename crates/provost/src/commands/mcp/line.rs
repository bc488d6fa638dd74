//! A line that is passed on: one line to everybody. Peers differ in what ends a line; those that also split
//! at a carriage return or at U+2028 would find messages in what is one message to us.

use std::fmt::Write as _;

/// Text without a break that any reader of lines could see.
#[derive(Debug)]
pub(super) struct Line(String);

enum Place {
    Between,
    InText,
    Escaped,
}

impl Line {
    /// Of JSON, the meaning and every digit stay; what is no JSON is one line all the same.
    pub(super) fn new(text: &str) -> Self {
        let mut line = String::with_capacity(text.len() + 1);
        let mut place = Place::Between;
        for c in text.chars() {
            match place {
                Place::InText if is_break(c) => {
                    // Text takes all that is written to it.
                    let _ = write!(line, "\\u{:04x}", u32::from(c));
                }
                _ if is_break(c) => line.push(' '),
                _ => line.push(c),
            }
            place = match (place, c) {
                (Place::Between, '"') | (Place::Escaped, _) => Place::InText,
                (Place::InText, '"') => Place::Between,
                (Place::InText, '\\') => Place::Escaped,
                (place, _) => place,
            };
        }
        Self(line)
    }

    #[cfg(test)]
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// With the one break there is.
    pub(super) fn ended(mut self) -> String {
        self.0.push('\n');
        self.0
    }
}

/// All that Unicode, or a language's own way to split lines, takes for an end of one.
fn is_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn breaks_are_gone_and_all_else_is_as_it_was() {
        for (text, line) in [
            ("{\"a\":\r{\"b\":1e400}\n}", r#"{"a": {"b":1e400} }"#),
            (
                "{\"a\":\"x\u{2028}y\u{2029}z\u{85}\"}",
                r#"{"a":"x\u2028y\u2029z\u0085"}"#,
            ),
            (
                r#"{"a\"":"\\","b":12345678901234567890123}"#,
                r#"{"a\"":"\\","b":12345678901234567890123}"#,
            ),
            ("{\"a\\\\\":\r\"\"}", r#"{"a\\": ""}"#),
            ("starting\r\u{2028}up", "starting  up"),
        ] {
            assert_eq!(Line::new(text).as_str(), line);
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_two_lines(text in "[\"\\\\a\r\n\u{b}\u{c}\u{1c}\u{1e}\u{85}\u{2028}\u{2029}]{0,40}") {
            let line = Line::new(&text);
            prop_assert!(!line.as_str().contains(is_break), "{:?}", line);
        }

        #[test]
        fn json_means_what_it_meant(text in any::<String>(), key in any::<String>()) {
            let value = serde_json::json!({key: [text, 1.5]});
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let line = Line::new(&pretty);
            let read: Value = serde_json::from_str(line.as_str()).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
