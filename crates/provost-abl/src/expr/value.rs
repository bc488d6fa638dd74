//! Values as expressions see them: borrowed from the host's JSON wherever possible, so that a
//! lookup never copies parameters. Null and undefined are one value here.

mod compare;
mod known;
mod number;
mod output;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

pub use compare::same;
pub(super) use compare::{equals, orders};
pub use known::{Known, KnownList};
pub use number::Number;
pub(super) use output::{Meter, TooLong, preview, shorten};

use super::ast::Step;

/// The result of an expression. Lives as long as the program and the scope it came from.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// `null`, and everything that is not there.
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(List<'a>),
    Object(Object<'a>),
}

#[derive(Debug, Clone)]
pub enum List<'a> {
    Json(&'a [Json]),
    /// What a host computed, perhaps not all of it.
    Known(&'a KnownList),
    Values(Vec<Value<'a>>),
}

#[derive(Debug, Clone)]
pub enum Object<'a> {
    Json(&'a Map<String, Json>),
    /// What a host computed.
    Known(&'a [(&'static str, Known)]),
    /// For hosts whose root is not JSON: a few named values, kept wherever the scope is.
    Fields(&'a [(&'a str, Value<'a>)]),
    Values(BTreeMap<Cow<'a, str>, Value<'a>>),
}

impl<'a> Value<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn empty_text() -> Self {
        Self::Text(Cow::Borrowed(""))
    }

    pub(super) fn number(number: Option<Number>) -> Self {
        number.map_or(Self::Null, Self::Number)
    }

    pub(super) fn count(count: usize) -> Self {
        Self::Number(Number::from(count as u64))
    }

    /// What it is, for a message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Falsy: `false 0 "" "false" null [] {}`.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => *truth,
            Self::Number(number) => !number.is_zero(),
            Self::Text(text) => !text.is_empty() && text != "false",
            Self::List(list) => !list.is_empty(),
            Self::Object(object) => !object.is_empty(),
        }
    }

    /// What `EMPTY` tests: nothing there, or nothing in it.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(_) | Self::Number(_) => false,
            Self::Text(text) => text.is_empty(),
            Self::List(list) => list.is_empty(),
            Self::Object(object) => object.is_empty(),
        }
    }

    /// The number this value counts as: a bool is 0 or 1, a number string its number.
    pub fn as_number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Bool(truth) => Some(Number::from(u64::from(*truth))),
            Self::Text(text) => Number::parse(text),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// The text of a scalar; `None` for null, lists and objects.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Bool(truth) => Some(Cow::Borrowed(if *truth { "true" } else { "false" })),
            Self::Number(number) => Some(Cow::Owned(number.to_string())),
            Self::Null | Self::List(_) | Self::Object(_) => None,
        }
    }

    /// Lists and objects count their members, text its characters.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Self::Text(text) => Some(text.chars().count()),
            Self::List(list) => Some(list.len()),
            Self::Object(object) => Some(object.len()),
            Self::Null | Self::Bool(_) | Self::Number(_) => None,
        }
    }

    /// One step of a path. A step through null, or past an end, is null.
    pub(super) fn step(self, step: &Step) -> Self {
        match (self, step) {
            (Self::Object(object), Step::Key(key)) => object.take(key),
            (Self::List(list), Step::Index(index)) => list.take(*index),
            (value @ (Self::List(_) | Self::Text(_)), Step::Key(key)) if &**key == "length" => {
                value.length().map_or(Self::Null, Self::count)
            }
            _ => Self::Null,
        }
    }

    /// Whether such a step can lead anywhere, or at least not to a surprise.
    pub(super) fn has_steps_like(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Null | Self::Object(_), Step::Key(_))
            | (Self::Null | Self::List(_), Step::Index(_)) => true,
            (Self::List(_) | Self::Text(_), Step::Key(key)) => &**key == "length",
            _ => false,
        }
    }

    /// A deep copy that no longer borrows.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(truth) => Json::Bool(*truth),
            Self::Number(number) => number.to_json(),
            Self::Text(text) => Json::String(text.clone().into_owned()),
            Self::List(List::Json(items)) => Json::Array(items.to_vec()),
            Self::List(list) => list.iter().map(|item| item.to_json()).collect(),
            Self::Object(Object::Json(map)) => Json::Object((*map).clone()),
            Self::Object(object) => object
                .pairs()
                .map(|(key, value)| (key.to_owned(), value.to_json()))
                .collect(),
        }
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    /// Shallow: strings, arrays and objects stay borrowed.
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => Self::number(Number::from_json(number)),
            Json::String(text) => Self::Text(Cow::Borrowed(text)),
            Json::Array(items) => Self::List(List::Json(items)),
            Json::Object(map) => Self::Object(Object::Json(map)),
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl<'a> List<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Known(list) => list.items.len(),
            Self::Values(items) => items.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its members are all there are.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            Self::Known(list) => list.complete,
            Self::Json(_) | Self::Values(_) => true,
        }
    }

    pub fn get(&self, index: usize) -> Option<Cow<'_, Value<'a>>> {
        match self {
            Self::Json(items) => items.get(index).map(|json| Cow::Owned(json.into())),
            Self::Known(list) => list.items.get(index).map(|item| Cow::Owned(item.into())),
            Self::Values(items) => items.get(index).map(Cow::Borrowed),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Value<'a>>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    pub(super) fn take(self, index: usize) -> Value<'a> {
        match self {
            Self::Json(items) => items.get(index).map(Value::from),
            Self::Known(list) => list.items.get(index).map(Value::from),
            Self::Values(items) => items.into_iter().nth(index),
        }
        .unwrap_or(Value::Null)
    }
}

/// Another name under which an object holds the same, to readers that do not tell upper from lower case. It counts
/// also where it stands alone: a rule about `env` must not be passed by `ENV`.
pub fn twin<'m>(map: &'m Map<String, Json>, key: &str) -> Option<&'m str> {
    let fold = |text: &str| text.to_uppercase().to_lowercase();
    let is_same = |other: &str| {
        other.eq_ignore_ascii_case(key)
            || (!(other.is_ascii() && key.is_ascii()) && fold(other) == fold(key))
    };
    let mut names = map.keys().map(String::as_str);
    names.find(|other| *other != key && is_same(other))
}

impl<'a> Object<'a> {
    /// Whether another member has this name but for its case.
    pub(super) fn has_twin(&self, key: &str) -> bool {
        matches!(self, Self::Json(map) if twin(map, key).is_some())
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Json(map) => map.len(),
            Self::Known(fields) => fields.len(),
            Self::Fields(fields) => fields.len(),
            Self::Values(map) => map.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, key: &str) -> Option<Cow<'_, Value<'a>>> {
        match self {
            Self::Json(map) => map.get(key).map(|json| Cow::Owned(json.into())),
            Self::Known(fields) => known(fields, key).map(|field| Cow::Owned(field.into())),
            Self::Fields(fields) => field(fields, key).map(Cow::Borrowed),
            Self::Values(map) => map.get(key).map(Cow::Borrowed),
        }
    }

    pub(super) fn take(self, key: &str) -> Value<'a> {
        match self {
            Self::Json(map) => map.get(key).map(Value::from),
            Self::Known(fields) => known(fields, key).map(Value::from),
            Self::Fields(fields) => field(fields, key).cloned(),
            Self::Values(mut map) => map.remove(key),
        }
        .unwrap_or(Value::Null)
    }

    pub fn pairs(&self) -> Box<dyn Iterator<Item = (&str, Cow<'_, Value<'a>>)> + '_> {
        match self {
            Self::Json(map) => Box::new(
                map.iter()
                    .map(|(key, json)| (key.as_str(), Cow::Owned(json.into()))),
            ),
            Self::Known(fields) => Box::new(
                fields
                    .iter()
                    .map(|(key, field)| (*key, Cow::Owned(field.into()))),
            ),
            Self::Fields(fields) => Box::new(
                fields
                    .iter()
                    .map(|(key, value)| (*key, Cow::Borrowed(value))),
            ),
            Self::Values(map) => Box::new(
                map.iter()
                    .map(|(key, value)| (&**key, Cow::Borrowed(value))),
            ),
        }
    }

    pub(super) fn into_pairs(self) -> Vec<(Cow<'a, str>, Value<'a>)> {
        match self {
            Self::Json(map) => map
                .iter()
                .map(|(key, json)| (Cow::Borrowed(key.as_str()), json.into()))
                .collect(),
            Self::Known(fields) => fields
                .iter()
                .map(|(key, field)| (Cow::Borrowed(*key), field.into()))
                .collect(),
            Self::Fields(fields) => fields
                .iter()
                .map(|(key, value)| (Cow::Borrowed(*key), value.clone()))
                .collect(),
            Self::Values(map) => map.into_iter().collect(),
        }
    }
}

fn field<'f, 'a>(fields: &'f [(&str, Value<'a>)], key: &str) -> Option<&'f Value<'a>> {
    let found = fields.iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| value)
}

fn known<'a>(fields: &'a [(&'static str, Known)], key: &str) -> Option<&'a Known> {
    let found = fields.iter().find(|(name, _)| *name == key);
    found.map(|(_, field)| field)
}
