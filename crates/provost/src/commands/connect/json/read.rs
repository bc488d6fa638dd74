//! Opening kept text one level at a time, and saying where it is no JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::Json;

/// Why a file cannot be changed: where, what, and what to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum Fault {
    #[error(
        "line {line}, column {column}: a comment; only JSON without comments can be changed safely: \
         remove the comments, or make the change by hand"
    )]
    Comment { line: usize, column: usize },
    #[error("line {line}, column {column}: {why}; correct it and connect again")]
    Broken {
        line: usize,
        column: usize,
        why: String,
    },
}

/// An object's members in their order, their values not looked into.
struct Members(Vec<(String, Json)>);

impl Json {
    /// An empty text is an empty object: some programs make their settings so. Others begin with a mark of
    /// the byte order, which is no JSON, and is not written again.
    pub(in super::super) fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Ok(Self::Object(Vec::new()));
        }
        serde_json::from_str::<Value>(text).map_err(|error| Fault::of(text, &error))?;
        Ok(Self::Kept(text.trim().to_owned()))
    }

    /// Looks one level into what was kept.
    pub(super) fn open(&mut self) {
        let Self::Kept(text) = self else { return };
        if let Ok(Members(members)) = serde_json::from_str(text) {
            *self = Self::Object(members);
        } else if let Ok(items) = serde_json::from_str::<Vec<Box<RawValue>>>(text) {
            *self = Self::Array(items.into_iter().map(Self::from).collect());
        }
    }
}

impl From<Box<RawValue>> for Json {
    fn from(kept: Box<RawValue>) -> Self {
        Self::Kept(kept.get().to_owned())
    }
}

impl Fault {
    fn of(text: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let found = text.lines().nth(line.saturating_sub(1));
        let found = found.and_then(|text| text.as_bytes().get(column.saturating_sub(1)));
        if found == Some(&b'/') {
            return Self::Comment { line, column };
        }
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or(&why).to_owned();
        Self::Broken { line, column, why }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members, M::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    members.push((name, Json::from(value)));
                }
                Ok(Members(members))
            }
        }

        from.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_json_says_where_and_what_to_do() {
        for (text, expected) in [
            ("{\n  // mine\n}", "line 2, column 3: a comment"),
            ("{\"a\": 1 /* one */}", "line 1, column 9: a comment"),
            (
                "{\"a\": 1,}",
                "line 1, column 9: trailing comma; correct it",
            ),
            ("{\"a\": ", "EOF while parsing"),
        ] {
            let said = Json::parse(text).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn an_empty_file_is_an_empty_object_and_a_mark_at_the_beginning_is_nothing() {
        assert!(Json::parse(" \n").unwrap().members().unwrap().is_empty());
        assert!(Json::parse("\u{feff}").unwrap().members().is_some());
        let marked = Json::parse("\u{feff}{\"a\": 1}\n").unwrap();
        assert_eq!(marked.value(), serde_json::json!({"a": 1}));
        assert!(Json::parse("[1]").unwrap().members().is_none());
    }
}
