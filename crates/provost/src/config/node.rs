//! The tree of a YAML file: every node knows its file and bytes, so that any later complaint has a place.
//!
//! Scalars keep their text; what type they are is the reader's question, because only it knows the schema.

use std::rc::Rc;

use provost_core::call::is_exact_text;

/// Bytes of one of the files that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) file: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Span,
    pub(super) kind: Kind,
    /// How many nodes this one stands for once its aliases are followed.
    pub(super) weight: usize,
}

#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Scalar(Scalar),
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) text: String,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// `|` and `>`
    Block,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Rc<Node>,
    pub(super) value: Rc<Node>,
}

impl Node {
    pub(super) fn scalar(&self) -> Option<&Scalar> {
        if let Kind::Scalar(scalar) = &self.kind {
            Some(scalar)
        } else {
            None
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// Where to point at when the whole node is meant: a caret below forty lines helps nobody.
    pub(super) fn head(&self) -> Span {
        match &self.kind {
            Kind::Map(entries) => entries.first().map_or(self.span, |entry| entry.key.head()),
            Kind::List(items) => items.first().map_or(self.span, |item| item.head()),
            Kind::Null | Kind::Scalar(_) => self.span,
        }
    }

    /// What it is, in the words of an error message.
    pub(super) fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "nothing",
            Kind::Scalar(scalar) if scalar.style != Style::Plain => "text",
            Kind::Scalar(scalar) if scalar.boolean().is_some() => "true or false",
            Kind::Scalar(scalar) if scalar.number().is_some() => "a number",
            Kind::Scalar(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

impl Scalar {
    /// The ancestor's reader takes the words of YAML 1.1 where a truth value is expected, so we do too.
    pub(super) fn boolean(&self) -> Option<bool> {
        if self.style != Style::Plain {
            return None;
        }
        match self.text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<serde_json::Number> {
        if self.style != Style::Plain {
            return None;
        }
        let text = self.text.strip_prefix('+').unwrap_or(&self.text);
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok().map(Into::into);
        }
        if let Some(digits) = text.strip_prefix("0o") {
            return u64::from_str_radix(digits, 8).ok().map(Into::into);
        }
        if let Ok(number) = text.parse::<i64>() {
            return Some(number.into());
        }
        if let Ok(number) = text.parse::<u64>() {
            return Some(number.into());
        }
        // Rust also reads `inf` and `nan`, which are words here.
        let looks_numeric = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
        let number = text.parse::<f64>().ok().filter(|_| looks_numeric)?;
        serde_json::Number::from_f64(number)
    }

    /// The number that it would be read as, where that is not the one that is written.
    pub(super) fn rounded(&self) -> Option<serde_json::Number> {
        let text = self.text.strip_prefix('+').unwrap_or(&self.text);
        self.number()
            .filter(|number| number.is_f64() && !is_exact_text(text))
    }
}
