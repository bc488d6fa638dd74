//! The typed reading of a tree: each function gives a value, or reports what it wanted and gives `None`.

use std::rc::Rc;

use provost_abl::expr::nearest;
use serde_json::Value;

use super::{
    node::{Entry, Kind, Node, Scalar, Span},
    reader::Reader,
};

/// A value and the key it stands under, by which problems name it.
#[derive(Clone, Copy)]
pub(super) struct Field<'n> {
    pub(super) name: &'n str,
    pub(super) node: &'n Node,
    /// One of the list under that key.
    is_item: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Map<'n> {
    node: &'n Node,
    entries: &'n [Entry],
}

impl<'n> Map<'n> {
    pub(super) fn empty(node: &'n Node) -> Self {
        Self { node, entries: &[] }
    }

    /// A key without a value is the same as no key.
    pub(super) fn get(&self, key: &'static str) -> Option<Field<'n>> {
        let entry = self.entry(key)?;
        (!entry.value.is_null()).then_some(Field::new(key, &entry.value))
    }

    /// As [`Map::get`]; the ancestor's files also write `""` for "not set".
    pub(super) fn filled(&self, key: &'static str) -> Option<Field<'n>> {
        self.get(key).filter(|field| {
            field
                .node
                .scalar()
                .is_none_or(|scalar| !scalar.text.is_empty())
        })
    }

    /// The value itself, to be kept beyond the reading.
    pub(super) fn shared(&self, key: &str) -> Option<Rc<Node>> {
        self.entry(key).map(|entry| entry.value.clone())
    }

    pub(super) fn key_span(&self, key: &str) -> Option<Span> {
        self.entry(key).map(|entry| entry.key.span)
    }

    pub(super) fn head(&self) -> Span {
        self.node.head()
    }

    fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries
            .iter()
            .find(|entry| entry.key.scalar().is_some_and(|scalar| scalar.text == key))
    }
}

impl<'n> Field<'n> {
    pub(super) fn new(name: &'n str, node: &'n Node) -> Self {
        Self {
            name,
            node,
            is_item: false,
        }
    }

    /// How a message calls it.
    fn title(&self) -> String {
        match (self.name, self.is_item) {
            ("", _) => "the file".to_owned(),
            (name, true) => format!("each of `{name}`"),
            (name, false) => format!("`{name}`"),
        }
    }

    pub(super) fn span(&self) -> Span {
        self.node.head()
    }
}

impl Reader<'_> {
    /// A map that has these keys and no others.
    pub(super) fn map<'n>(&mut self, field: Field<'n>, known: &[&'static str]) -> Option<Map<'n>> {
        let map = self.any_map(field)?;
        for entry in map.entries {
            match entry.key.scalar() {
                Some(key) if known.contains(&key.text.as_str()) => {}
                Some(key) => self.unknown_key(entry, &key.text, field.name, known),
                None => self.error(entry.key.head(), "a key must be text", "write `key: value`"),
            }
        }
        Some(map)
    }

    /// As [`Reader::map`]; when it is something else, that may be a secret in the wrong place.
    pub(super) fn guarded_map<'n>(
        &mut self,
        field: Field<'n>,
        known: &[&'static str],
    ) -> Option<Map<'n>> {
        if !matches!(field.node.kind, Kind::Map(_)) {
            self.cover(field.node);
        }
        self.map(field, known)
    }

    fn any_map<'n>(&mut self, field: Field<'n>) -> Option<Map<'n>> {
        let Kind::Map(entries) = &field.node.kind else {
            self.expected(field, "a map", "write `key: value` pairs below it");
            return None;
        };
        Some(Map {
            node: field.node,
            entries,
        })
    }

    fn unknown_key(&mut self, entry: &Entry, key: &str, within: &str, known: &[&'static str]) {
        self.cover(&entry.value);
        let place = if within.is_empty() {
            String::new()
        } else {
            format!(" in `{within}`")
        };
        let help = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys are {}", known.join(", ")),
        };
        self.error(entry.key.span, format!("unknown key `{key}`{place}"), help);
    }

    pub(super) fn expected(&mut self, field: Field<'_>, wanted: &str, help: impl Into<String>) {
        let found = field.node.describe();
        // A block of text may have swallowed lines that were meant as keys, secrets among them.
        if self.spans_lines(field.node) {
            self.cover(field.node);
        }
        self.error(
            field.span(),
            format!("{} must be {wanted}, not {found}", field.title()),
            help,
        );
    }

    /// The value of a key that must be there; `what` is whose key it is.
    pub(super) fn require<'n>(
        &mut self,
        map: &Map<'n>,
        key: &'static str,
        what: &str,
    ) -> Option<Field<'n>> {
        let found = map.filled(key);
        if found.is_none() {
            let span = map.key_span(key).unwrap_or_else(|| map.head());
            self.error(
                span,
                format!("{what} needs `{key}`"),
                format!("add `{key}: …`"),
            );
        }
        found
    }

    pub(super) fn list<'n>(&mut self, field: Field<'n>) -> &'n [Rc<Node>] {
        let Kind::List(items) = &field.node.kind else {
            self.expected(field, "a list", "write `[a, b]`, or one `- item` per line");
            return &[];
        };
        items
    }

    /// The items of a list, each named as the list is.
    pub(super) fn items<'n>(
        &mut self,
        field: Field<'n>,
    ) -> impl Iterator<Item = Field<'n>> + use<'n> {
        self.list(field).iter().map(move |node| Field {
            name: field.name,
            node,
            is_item: true,
        })
    }

    /// Any scalar is text: the ancestor's reader takes `version: 1` where text is expected.
    pub(super) fn text<'n>(&mut self, field: Field<'n>) -> Option<&'n str> {
        let scalar = field.node.scalar();
        if scalar.is_none() {
            self.expected(field, "text", "");
        }
        scalar.map(|scalar| scalar.text.as_str())
    }

    /// A list of texts, or one text alone.
    pub(super) fn texts<'n>(&mut self, field: Field<'n>) -> Vec<(&'n str, Span)> {
        if let Some(scalar) = field.node.scalar() {
            return vec![(&scalar.text, field.node.span)];
        }
        let mut texts = Vec::new();
        for item in self.items(field) {
            texts.extend(self.text(item).map(|text| (text, item.node.span)));
        }
        texts
    }

    pub(super) fn strings(&mut self, field: Field<'_>) -> Vec<String> {
        self.texts(field)
            .into_iter()
            .map(|(text, _)| text.to_owned())
            .collect()
    }

    pub(super) fn boolean(&mut self, field: Field<'_>) -> Option<bool> {
        let value = field.node.scalar().and_then(Scalar::boolean);
        if value.is_none() {
            self.expected(field, "true or false", "");
        }
        value
    }

    /// A whole number between these.
    pub(super) fn number(&mut self, field: Field<'_>, least: u64, most: u64) -> Option<u64> {
        let number = field.node.scalar().and_then(Scalar::number);
        let value = number
            .and_then(|number| number.as_u64())
            .filter(|value| (least..=most).contains(value));
        if value.is_none() {
            let message = format!(
                "`{}` must be a whole number from {least} to {most}",
                field.name
            );
            self.error(field.span(), message, "");
        }
        value
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &mut self,
        field: Field<'_>,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(field)?;
        let found = choices.iter().find(|(name, _)| *name == text);
        if found.is_none() {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            let help = match nearest(text, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? It is one of {}", names.join(", ")),
                None => format!("it is one of {}", names.join(", ")),
            };
            self.error(
                field.node.span,
                format!("unknown {} `{text}`", field.name.replace('_', " ")),
                help,
            );
        }
        found.map(|(_, value)| *value)
    }

    /// The pairs of a map with free keys.
    pub(super) fn pairs<'n>(&mut self, field: Field<'n>) -> Vec<(&'n str, Span, Field<'n>)> {
        let Some(map) = self.any_map(field) else {
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for entry in map.entries {
            match entry.key.scalar() {
                Some(key) => {
                    let value = Field::new(&key.text, &entry.value);
                    pairs.push((key.text.as_str(), entry.key.span, value));
                }
                None => self.error(entry.key.head(), "a key must be text", "write `key: value`"),
            }
        }
        pairs
    }

    /// The tree as JSON, for schemas and values that are handed on.
    pub(super) fn json(&mut self, field: Field<'_>) -> Option<Value> {
        match &field.node.kind {
            Kind::Null => Some(Value::Null),
            Kind::Scalar(scalar) => self.exact_value(field, scalar),
            Kind::List(items) => items
                .iter()
                .map(|node| self.json(Field::new(field.name, node)))
                .collect::<Option<_>>()
                .map(Value::Array),
            Kind::Map(_) => {
                let mut object = serde_json::Map::new();
                for (key, _, value) in self.pairs(field) {
                    object.insert(key.to_owned(), self.json(value)?);
                }
                Some(Value::Object(object))
            }
        }
    }

    /// A rule about a number must not become a rule about its neighbour.
    fn exact_value(&mut self, field: Field<'_>, scalar: &Scalar) -> Option<Value> {
        let Some(rounded) = scalar.rounded() else {
            return Some(plain_value(scalar));
        };
        let text = &scalar.text;
        let message = format!("`{text}` cannot be kept as a number: it would be `{rounded}`");
        let help = format!("write it as text, which is compared exactly: `\"{text}\"`");
        self.error(field.node.span, message, help);
        None
    }
}

/// As JSON has it: only `true` and `false` are truth values.
fn plain_value(scalar: &Scalar) -> Value {
    match (scalar.text.as_str(), scalar.boolean(), scalar.number()) {
        ("true" | "false", Some(value), _) => Value::Bool(value),
        (_, _, Some(number)) => Value::Number(number),
        (text, _, _) => Value::String(text.to_owned()),
    }
}
