//! Agents write some of what people read here. Markup is escaped by the templates; this makes the rest of what
//! could deceive an eye visible: control characters, marks that turn the direction of text, and characters
//! without width. It is applied to whole pages, so that no value can be forgotten.

use std::{borrow::Cow, fmt::Write as _};

use provost_core::review::hides;
use serde::Serialize;

/// Line breaks and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Indented JSON in which whatever is hidden stands as an escape of JSON, so that it means the same when it is
/// read back.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_hidden(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

fn is_hidden(c: char) -> bool {
    hides(c) && c != '\n' && c != '\t'
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_hides_is_shown() {
        for (text, expected) in [
            ("plain — ünïcode 日本\n\t", "plain — ünïcode 日本\n\t"),
            ("rm \u{202e}txt.exe", "rm \\u{202e}txt.exe"),
            ("zero\u{200b}width", "zero\\u{200b}width"),
            ("rm\u{a0}-rf\u{2003}x", "rm\\u{a0}-rf\\u{2003}x"),
            ("\u{1b}[2J\0\r", "\\u{1b}[2J\\u{0}\\u{d}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn json_means_the_same_when_it_is_read_back() {
        let value = json!({"a\u{202e}": ["x\u{e0041}y", "\u{feff}", 1]});
        let text = json(&value);
        assert!(!text.chars().any(is_hidden), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
