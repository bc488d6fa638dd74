//! YAML as JSON values, read event by event so that deep nesting and multiplying aliases are refused
//! before they cost anything.

use std::{borrow::Cow, collections::HashMap};

use provost_core::call::is_exact_text;
use saphyr::{Scalar, ScalarStyle};
use saphyr_parser::{Event, Parser, Tag};
use serde_json::{Map, Number, Value};

const MAX_DEPTH: usize = 128;
/// Values in the document, those that aliases repeat included.
const MAX_VALUES: usize = 1_000_000;

#[derive(Default)]
struct Builder {
    /// A number that would be rounded is an error.
    exact: bool,
    open: Vec<Open>,
    /// Anchored values with their sizes.
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
    root: Option<Value>,
}

struct Open {
    anchor: usize,
    values_before: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Value>),
    Mapping {
        entries: Map<String, Value>,
        key: Option<String>,
    },
}

/// The one document of the text. Numbers with too many digits are rounded, as everybody reads such documents.
pub fn parse(text: &str) -> Result<Value, String> {
    build(text, Builder::default())
}

/// As [`parse`], for arguments of calls: a number that would be rounded is an error, as it is at every door.
pub fn parse_exact(text: &str) -> Result<Value, String> {
    let exact = Builder {
        exact: true,
        ..Builder::default()
    };
    build(text, exact)
}

fn build(text: &str, mut builder: Builder) -> Result<Value, String> {
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        builder
            .take(event)
            .map_err(|problem| format!("line {}: {problem}", span.start.line()))?;
    }
    builder.root.ok_or_else(|| "it is empty".to_owned())
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, _, anchor, _) if self.wants_key() => {
                self.remember(anchor, &Value::String(text.to_string()), 1)?;
                self.key(text.into_owned());
            }
            Event::Scalar(text, style, anchor, tag) => {
                let written = self.exact.then(|| text.to_string());
                let value = scalar(text, style, tag);
                if let (Some(written), Value::Number(number)) = (written, &value)
                    && number.is_f64()
                    && !is_exact_text(written.trim_start_matches('+'))
                {
                    return Err(format!("`{written}` would be rounded: write it as text"));
                }
                self.count(1)?;
                self.remember(anchor, &value, 1)?;
                self.place(value);
            }
            Event::Alias(anchor) => {
                let (value, size) = self
                    .anchors
                    .get(&anchor)
                    .ok_or("the alias names no anchor before it")?;
                let (value, size) = (value.clone(), *size);
                self.count(size)?;
                match value {
                    Value::String(text) if self.wants_key() => self.key(text),
                    _ if self.wants_key() => return Err("a key must be plain text".into()),
                    value => self.place(value),
                }
            }
            Event::SequenceStart(anchor, _) => self.open(anchor, Content::Sequence(Vec::new()))?,
            Event::MappingStart(anchor, _) => {
                self.open(
                    anchor,
                    Content::Mapping {
                        entries: Map::new(),
                        key: None,
                    },
                )?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close()?,
            Event::DocumentStart(_) if self.root.is_some() => {
                return Err("a second document begins".into());
            }
            Event::DocumentStart(_)
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn wants_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Open {
                content: Content::Mapping { key: None, .. },
                ..
            })
        )
    }

    fn key(&mut self, text: String) {
        if let Some(Open {
            content: Content::Mapping { key, .. },
            ..
        }) = self.open.last_mut()
        {
            *key = Some(text);
        }
    }

    fn open(&mut self, anchor: usize, content: Content) -> Result<(), String> {
        if self.wants_key() {
            return Err("a key must be plain text".into());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("the nesting is deeper than {MAX_DEPTH}"));
        }
        let values_before = self.values;
        self.count(1)?;
        self.open.push(Open {
            anchor,
            values_before,
            content,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let Some(closed) = self.open.pop() else {
            return Ok(());
        };
        let value = match closed.content {
            Content::Sequence(items) => Value::Array(items),
            Content::Mapping { entries, .. } => Value::Object(entries),
        };
        self.remember(closed.anchor, &value, self.values - closed.values_before)?;
        self.place(value);
        Ok(())
    }

    fn place(&mut self, value: Value) {
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.root = Some(value),
            Some(Content::Sequence(items)) => items.push(value),
            Some(Content::Mapping { entries, key }) => match key.take() {
                Some(key) if key == "<<" => merge(entries, value),
                Some(key) => {
                    entries.insert(key, value);
                }
                None => {}
            },
        }
    }

    /// Anchors are numbered from 1; 0 is none.
    fn remember(&mut self, anchor: usize, value: &Value, size: usize) -> Result<(), String> {
        if anchor > 0 {
            self.count(size)?;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        Ok(())
    }

    fn count(&mut self, values: usize) -> Result<(), String> {
        self.values += values;
        if self.values > MAX_VALUES {
            return Err(format!("the document has more than {MAX_VALUES} values"));
        }
        Ok(())
    }
}

/// The merge key of YAML 1.1, which documents still use: what is there already stays.
fn merge(entries: &mut Map<String, Value>, value: Value) {
    match value {
        Value::Object(other) => {
            for (key, value) in other {
                entries.entry(key).or_insert(value);
            }
        }
        Value::Array(others) => {
            for other in others.into_iter().filter(Value::is_object) {
                merge(entries, other);
            }
        }
        _ => {}
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<Cow<'_, Tag>>) -> Value {
    let plain = text.clone();
    match Scalar::parse_from_cow_and_metadata(text, style, tag.as_ref()) {
        Some(Scalar::Null) => Value::Null,
        Some(Scalar::Boolean(yes)) => Value::Bool(yes),
        Some(Scalar::Integer(number)) => Value::Number(number.into()),
        Some(Scalar::FloatingPoint(number)) => match plain.parse::<u64>() {
            Ok(whole) => Value::Number(whole.into()),
            Err(_) => Number::from_f64(number.into_inner())
                .map_or_else(|| Value::String(plain.into_owned()), Value::Number),
        },
        Some(Scalar::String(text)) => Value::String(text.into_owned()),
        None => Value::String(plain.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_becomes_json() {
        for (text, expected) in [
            (
                "a: 1\nb: [x, 'true', true, ~, 1.5]",
                json!({"a": 1, "b": ["x", "true", true, null, 1.5]}),
            ),
            (
                "responses:\n  200: {d: ok}\n  default: |\n    two\n    lines\n",
                json!({"responses": {"200": {"d": "ok"}, "default": "two\nlines\n"}}),
            ),
            (
                "a: &x {k: v}\nb: *x",
                json!({"a": {"k": "v"}, "b": {"k": "v"}}),
            ),
            (
                "a: &x {k: v, l: 1}\nb:\n  l: 2\n  <<: *x",
                json!({"a": {"k": "v", "l": 1}, "b": {"k": "v", "l": 2}}),
            ),
            (
                "- yes\n- on: 1\n- 3.10\n- .inf\n- 2020-01-01",
                json!(["yes", {"on": 1}, 3.1, ".inf", "2020-01-01"]),
            ),
            ("a:\nb: ''", json!({"a": null, "b": ""})),
        ] {
            assert_eq!(parse(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn p02_numbers_of_calls_are_read_exactly_or_not_at_all() {
        for (number, expected) in [
            ("9007199254740993", Some(json!(9_007_199_254_740_993_u64))),
            ("18446744073709551615", Some(json!(u64::MAX))),
            ("0.1", Some(json!(0.1))),
            ("'9007199254740993.0'", Some(json!("9007199254740993.0"))),
            ("9007199254740993.0", None),
            ("100000000000000016383", None),
            ("-0.10000000000000000001", None),
        ] {
            let read = parse_exact(&format!("a: [{number}]"));
            assert_eq!(read.ok(), expected.map(|value| json!({"a": [value]})));
        }
        assert!(parse("a: 9007199254740993.0").is_ok());
    }

    #[test]
    fn what_would_cost_too_much_is_refused() {
        let deep = "- ".repeat(5_000) + "x";
        assert!(
            parse(&deep).unwrap_err().contains("nesting"),
            "{:?}",
            parse(&deep)
        );
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
            laughs.extend([format!("a{level}: &a{level} [{aliases}]\n")]);
        }
        assert!(
            parse(&laughs).unwrap_err().contains("more than"),
            "{:?}",
            parse(&laughs)
        );
    }

    #[test]
    fn broken_text_is_an_error() {
        for text in [
            "",
            "a: [1",
            "a: *nobody",
            "? {a: b}\n: c",
            "a: b: c",
            "a: 1\n---\nb: 2",
        ] {
            assert!(parse(text).is_err(), "{text:?} {:?}", parse(text));
        }
    }
}
