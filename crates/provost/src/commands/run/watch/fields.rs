//! What an agent wrote, read one level deep: whatever is not looked at may be anything, and of any size.

use std::{borrow::Cow, collections::HashMap};

use serde_json::{Value, value::RawValue};

use super::style::size;
use crate::output;

/// Of what is taken apart for a look: more is told by its size.
const LARGEST: usize = 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Fields<'a>(HashMap<Cow<'a, str>, &'a RawValue>);

impl<'a> Fields<'a> {
    /// Empty where it is no object.
    pub(super) fn read(raw: &'a RawValue) -> Self {
        Self(serde_json::from_str(raw.get()).unwrap_or_default())
    }

    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let raw = self.0.get(name).copied();
        raw.filter(|raw| raw.get() != "null")
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// As [`Self::text`], where it says something: in one line, and short.
    pub(super) fn short(&self, name: &str, most: usize) -> Option<String> {
        let text = self.text(name)?;
        // Cut before it is escaped: what is cut off may be long.
        let text: String = text.trim().chars().take(most + 1).collect();
        (!text.is_empty()).then(|| output::shorten(&text, most))
    }

    pub(super) fn inner(&self, name: &str) -> Fields<'a> {
        self.raw(name).map(Self::read).unwrap_or_default()
    }

    pub(super) fn list(&self, name: &str) -> Vec<&'a RawValue> {
        let list = self.raw(name);
        list.and_then(|list| serde_json::from_str(list.get()).ok())
            .unwrap_or_default()
    }

    /// `None` where it is not there, or too large to be looked at.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let raw = self.raw(name).filter(|raw| raw.get().len() <= LARGEST)?;
        serde_json::from_str(raw.get()).ok()
    }
}

/// A content block as words. What is no text is named.
pub(super) fn words(block: &Fields<'_>) -> String {
    let short = |name: &str| block.short(name, 120).unwrap_or_default();
    let named = |what: &str, detail: &str| format!("[{what} {detail}]").replace(" ]", "]");
    let data = || size(block.raw("data").map_or(0, |data| data.get().len()));
    match block.text("type").as_deref() {
        Some("text") => block.text("text").unwrap_or_default(),
        Some(kind @ ("image" | "audio")) => {
            named(kind, &format!("{} {}", short("mimeType"), data()))
        }
        Some("resource_link") => named("link", &format!("{} {}", short("name"), short("uri"))),
        Some("resource") => {
            let uri = block.inner("resource").short("uri", 120);
            named("resource", &uri.unwrap_or_default())
        }
        Some(kind) => named(&output::shorten(kind, 40), ""),
        None => String::new(),
    }
}

/// `path:12`, for each.
pub(super) fn places(of: &Fields<'_>) -> Vec<String> {
    const MOST: usize = 5;
    let all = of.list("locations");
    let mut places = Vec::new();
    for place in all.iter().take(MOST) {
        let place = Fields::read(place);
        let Some(path) = place.short("path", 200) else {
            continue;
        };
        match place.value("line").and_then(|line| line.as_u64()) {
            Some(line) => places.push(format!("{path}:{line}")),
            None => places.push(path),
        }
    }
    if all.len() > MOST {
        places.push(format!("and {} more", all.len() - MOST));
    }
    places
}

/// JSON in one line, and short.
pub(super) fn compact(raw: &RawValue, most: usize) -> String {
    let text = raw.get();
    let start = text
        .get(..text.floor_char_boundary(most * 4))
        .unwrap_or(text);
    output::shorten(start, most)
}
