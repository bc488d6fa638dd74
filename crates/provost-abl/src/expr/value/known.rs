//! A tree that a host computed and keeps, some of whose lists are known only in part: what is in such a
//! list is certain, and whether there is more is not.

use super::{List, Number, Object, Value};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    Bool(bool),
    Count(u64),
    Text(Box<str>),
    List(KnownList),
    Object(Vec<(&'static str, Known)>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownList {
    pub items: Vec<Known>,
    /// There is nothing else in it.
    pub complete: bool,
}

impl Known {
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub fn texts<'t>(texts: impl IntoIterator<Item = &'t str>, complete: bool) -> Self {
        Self::list(texts.into_iter().map(Self::text), complete)
    }

    pub fn list(items: impl IntoIterator<Item = Self>, complete: bool) -> Self {
        Self::List(KnownList {
            items: items.into_iter().collect(),
            complete,
        })
    }

    /// Every list in it is.
    fn is_complete(&self) -> bool {
        match self {
            Self::List(list) => list.complete && list.items.iter().all(Self::is_complete),
            Self::Object(fields) => fields.iter().all(|(_, field)| field.is_complete()),
            Self::Bool(_) | Self::Count(_) | Self::Text(_) => true,
        }
    }
}

impl<'a> From<&'a Known> for Value<'a> {
    fn from(known: &'a Known) -> Self {
        match known {
            Known::Bool(truth) => Self::Bool(*truth),
            Known::Count(count) => Self::Number(Number::from(*count)),
            Known::Text(text) => Self::from(&**text),
            Known::List(list) => Self::List(List::Known(list)),
            Known::Object(fields) => Self::Object(Object::Known(fields)),
        }
    }
}

impl Value<'_> {
    /// Nothing in it is known only in part.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::List(List::Known(list)) => {
                list.complete && list.items.iter().all(Known::is_complete)
            }
            Self::List(List::Values(items)) => items.iter().all(Self::is_complete),
            Self::Object(Object::Known(fields)) => {
                fields.iter().all(|(_, field)| field.is_complete())
            }
            Self::Object(Object::Fields(fields)) => {
                fields.iter().all(|(_, field)| field.is_complete())
            }
            Self::Object(Object::Values(map)) => map.values().all(Self::is_complete),
            _ => true,
        }
    }
}
