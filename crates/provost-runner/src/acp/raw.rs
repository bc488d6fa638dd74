//! JSON that is looked into without being read whole: every part stays the text it was.

use std::{borrow::Cow, collections::HashMap};

use serde_json::value::RawValue;

pub(crate) type Fields<'a> = HashMap<String, &'a RawValue>;

/// The fields of an object, each as it was written; of a name that occurs twice the last.
pub(crate) fn fields(raw: &RawValue) -> Option<Fields<'_>> {
    serde_json::from_str(raw.get()).ok()
}

pub(crate) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    // A text without escapes needs no copy; `Cow` alone would always make one.
    match serde_json::from_str::<&str>(raw.get()) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str(raw.get()).ok().map(Cow::Owned),
    }
}
