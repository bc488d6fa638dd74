//! JSON written by hand where every call writes it: records and answers. Half of what the general writer takes.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::time::Time;

/// An object, member by member. Names are plain words of ours, which need no escapes.
pub struct Object(String);

impl Object {
    pub fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push('{');
        Self(text)
    }

    fn name(&mut self, name: &'static str) -> &mut String {
        let text = &mut self.0;
        text.push_str(if text.len() == 1 { "\"" } else { ",\"" });
        text.push_str(name);
        text.push_str("\":");
        text
    }

    pub fn text(mut self, name: &'static str, value: &str) -> Self {
        write_string(value, self.name(name));
        self
    }

    /// A word that needs no escapes.
    pub fn word(mut self, name: &'static str, value: &str) -> Self {
        let text = self.name(name);
        text.push('"');
        text.push_str(value);
        text.push('"');
        self
    }

    pub fn number(mut self, name: &'static str, value: u64) -> Self {
        let mut digits = itoa::Buffer::new();
        self.name(name).push_str(digits.format(value));
        self
    }

    pub fn time(self, name: &'static str, value: Time) -> Self {
        match value.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => self.word(name, text),
            _ => self.text(name, &value.to_string()),
        }
    }

    /// What is JSON already.
    pub fn json(mut self, name: &'static str, value: &str) -> Self {
        self.name(name).push_str(value);
        self
    }

    pub fn text_if(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// What few calls have.
    pub fn value_if<T: Serialize>(self, name: &'static str, value: Option<&T>) -> Self {
        match value.and_then(|value| serde_json::to_string(value).ok()) {
            Some(value) => self.json(name, &value),
            None => self,
        }
    }

    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some((at, byte)) = first_to_escape(rest.as_bytes()) {
        out.push_str(rest.get(..at).unwrap_or_default());
        escape(byte, out);
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// Most text needs no escapes: it is looked through eight bytes at a time.
fn first_to_escape(bytes: &[u8]) -> Option<(usize, u8)> {
    let (eights, _) = bytes.as_chunks::<8>();
    let plain = eights.iter().take_while(|eight| is_plain(**eight)).count() * 8;
    let rest = bytes.get(plain..).unwrap_or_default();
    let at = rest
        .iter()
        .position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'))?;
    Some((plain + at, *rest.get(at)?))
}

/// Whether none of them is a control character, a quote or a backslash. It may say no where one is none, and
/// never yes where one is.
fn is_plain(eight: [u8; 8]) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES << 7;
    // A byte's top bit is set where it is lower than `limit`, and in bytes above 127 never.
    let lower = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & TOPS;
    let word = u64::from_le_bytes(eight);
    let is = |byte: u8| lower(word ^ (ONES * u64::from(byte)), 1);
    lower(word, 0x20) | is(b'"') | is(b'\\') == 0
}

fn escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        0x08 => out.push_str("\\b"),
        0x09 => out.push_str("\\t"),
        0x0a => out.push_str("\\n"),
        0x0c => out.push_str("\\f"),
        0x0d => out.push_str("\\r"),
        control => {
            // Writing to memory cannot fail.
            let _ = write!(out, "\\u{control:04x}");
        }
    }
}

/// About how long this is as JSON. Costs no more than looking at each value once.
pub fn bytes(params: &Map<String, Value>) -> usize {
    let members = params.iter();
    members
        .map(|(name, value)| name.len() + of_value(value))
        .sum()
}

fn of_value(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.len() + items.iter().map(of_value).sum::<usize>(),
        Value::Object(members) => members.len() + bytes(members),
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn members_follow_one_another() {
        let empty = Object::with_capacity(8).end();
        assert_eq!(empty, "{}");
        let object = Object::with_capacity(8)
            .text("a", "\"\\\u{1}")
            .word("b", "allow")
            .number("c", u64::MAX)
            .json("d", "[1]")
            .text_if("e", None)
            .text_if("f", Some("é\n"))
            .value_if("g", Some(&0.5))
            .end();
        assert_eq!(
            object,
            r#"{"a":"\"\\\u0001","b":"allow","c":18446744073709551615,"d":[1],"f":"é\n","g":0.5}"#
        );
    }

    proptest! {
        #[test]
        fn strings_are_written_as_by_the_general_writer(
            before in "[a-zäöü€😀\u{7f}]{0,20}", text in "\\PC*|[\\x00-\\x7f]{0,40}",
        ) {
            let text = format!("{before}{text}");
            let mut written = String::new();
            write_string(&text, &mut written);
            prop_assert_eq!(written, serde_json::to_string(&text).unwrap());
        }
    }
}
