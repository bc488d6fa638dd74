//! Tool calls, each update merged into its call.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

use super::{Fields, cut, fields, is_null, text, written_len};

/// Kept as the agent wrote them, up to this size each.
const KEPT: [&str; 6] = [
    "title",
    "kind",
    "status",
    "locations",
    "rawInput",
    "rawOutput",
];
/// These go when a finished call must give room.
const LARGE: [&str; 3] = ["locations", "rawInput", "rawOutput"];
const LONGEST_FIELD: usize = 4 * 1024;
const LONGEST_TEXT: usize = 1024;
const MOST_PARTS: usize = 8;
const MOST_NAMES: usize = 100;
const LONGEST_ID: usize = 200;
const OVERHEAD: usize = 64;

/// What a call shows: text as text, anything else by its type.
#[derive(Debug, Serialize)]
struct Part {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

#[derive(Debug, Default)]
struct Tool {
    id: String,
    fields: BTreeMap<&'static str, Box<RawValue>>,
    content: Vec<Part>,
    content_size: usize,
}

#[derive(Debug, Default)]
pub(super) struct Tools {
    all: BTreeMap<u64, Tool>,
    named: HashMap<String, u64>,
    finished: BTreeSet<u64>,
    /// Finished, and nothing left of them but their names.
    stripped: BTreeSet<u64>,
    size: usize,
}

impl Tools {
    /// Whether all of it was kept.
    pub(super) fn merge(&mut self, next: u64, update: &Fields<'_>) -> bool {
        let Some(id) = update.get("toolCallId").and_then(|id| text(id)) else {
            return true;
        };
        if id.len() > LONGEST_ID {
            return false;
        }
        let place = *self.named.entry(id.clone().into_owned()).or_insert(next);
        let tool = self.all.entry(place).or_default();
        let before = if tool.id.is_empty() { 0 } else { tool.size() };
        tool.id = id.into_owned();
        let whole = tool.merge(update);
        self.size = self.size + tool.size() - before;
        self.stripped.remove(&place);
        if tool.is_finished() {
            self.finished.insert(place);
        } else {
            self.finished.remove(&place);
        }
        whole
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Of those that still have contents.
    pub(super) fn oldest_finished(&self) -> Option<u64> {
        self.finished.first().copied()
    }

    /// The call stays, what it did goes.
    pub(super) fn strip(&mut self, place: u64) -> bool {
        self.finished.remove(&place);
        let Some(tool) = self.all.get_mut(&place) else {
            return false;
        };
        let before = tool.size();
        for name in LARGE {
            tool.fields.remove(name);
        }
        tool.content.clear();
        tool.content_size = 0;
        self.stripped.insert(place);
        self.size = self.size + tool.size() - before;
        true
    }

    /// A finished one where there is one: their contents went first.
    pub(super) fn remove_oldest(&mut self) -> bool {
        let first = self.stripped.first().or_else(|| self.all.keys().next());
        let Some(place) = first.copied() else {
            return false;
        };
        if let Some(tool) = self.all.remove(&place) {
            self.size -= tool.size();
            self.named.remove(&tool.id);
        }
        self.finished.remove(&place);
        self.stripped.remove(&place);
        true
    }

    /// So many names that they would crowd out what is being said.
    pub(super) fn is_crowded(&self) -> bool {
        self.stripped.len() > MOST_NAMES
    }

    pub(super) fn list(&self) -> impl Iterator<Item = impl Serialize + '_> {
        self.all.values()
    }
}

impl Tool {
    fn merge(&mut self, update: &Fields<'_>) -> bool {
        let mut whole = true;
        for name in KEPT {
            match update.get(name) {
                Some(value) if is_null(value) => {}
                Some(value) if value.get().len() > LONGEST_FIELD => {
                    self.fields.remove(name);
                    whole = false;
                }
                Some(value) => {
                    self.fields.insert(name, (*value).to_owned());
                }
                None => {}
            }
        }
        if let Some(content) = update.get("content").filter(|content| !is_null(content)) {
            whole &= self.show(content);
        }
        whole
    }

    fn show(&mut self, content: &RawValue) -> bool {
        let parts: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
        let mut whole = parts.len() <= MOST_PARTS;
        self.content.clear();
        for part in parts.into_iter().take(MOST_PARTS).filter_map(fields) {
            let (part, all) = Part::of(&part);
            whole &= all;
            self.content.push(part);
        }
        self.content_size = self.content.iter().map(Part::size).sum();
        whole
    }

    fn is_finished(&self) -> bool {
        let status = self.fields.get("status").and_then(|status| text(status));
        matches!(status.as_deref(), Some("completed" | "failed"))
    }

    fn size(&self) -> usize {
        let fields = self.fields.values().map(|value| value.get().len() + 16);
        fields.sum::<usize>() + self.content_size + written_len(&self.id) + OVERHEAD
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("toolCallId", &self.id)?;
        for name in KEPT {
            if let Some(value) = self.fields.get(name) {
                map.serialize_entry(name, value)?;
            }
        }
        if !self.content.is_empty() {
            map.serialize_entry("content", &self.content)?;
        }
        map.end()
    }
}

impl Part {
    /// And whether that is all of it.
    fn of(part: &Fields<'_>) -> (Self, bool) {
        let said = |part: &Fields<'_>, name| {
            part.get(name)
                .and_then(|value| text(value))
                .map(std::borrow::Cow::into_owned)
        };
        let kind = said(part, "type").unwrap_or_default();
        let inner = part.get("content").and_then(|inner| fields(inner));
        let inner = inner.filter(|_| kind == "content");
        let kind = inner
            .as_ref()
            .and_then(|inner| said(inner, "type"))
            .unwrap_or(kind);
        let (kind, _) = head(&kind);
        let written = inner.as_ref().and_then(|inner| said(inner, "text"));
        let written = written.as_deref().map(head);
        let path = said(part, "path").as_deref().map(head);
        let whole = written.as_ref().is_none_or(|(_, whole)| *whole);
        let part = Self {
            r#type: kind,
            text: written.map(|(text, _)| text),
            path: path.map(|(path, _)| path),
        };
        (part, whole)
    }

    fn size(&self) -> usize {
        let texts = [Some(&self.r#type), self.text.as_ref(), self.path.as_ref()];
        let texts = texts.into_iter().flatten();
        texts.map(|text| written_len(text) + 16).sum()
    }
}

/// The first characters, and whether these are all.
fn head(text: &str) -> (String, bool) {
    let head = cut(text, LONGEST_TEXT);
    (head.to_owned(), head.len() == text.len())
}
