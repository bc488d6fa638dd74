//! What was said and thought, chunk joined to chunk.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::{Fields, text, written, written_len};

/// A message is cut to its last bytes when it has grown to twice this.
const LONGEST: usize = 20 * 1024;
const OVERHEAD: usize = 96;
const LONGEST_ID: usize = 200;
const OTHER_TYPES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    User,
    Agent,
    Thought,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    text: String,
    /// How many images, links and the like, by type.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    other: BTreeMap<String, u64>,
    #[serde(skip)]
    size: usize,
}

#[derive(Debug, Default)]
pub(super) struct Messages {
    all: BTreeMap<u64, Message>,
    named: HashMap<(Role, String), u64>,
    /// Where a chunk without an id goes, if it is of the same role.
    open: Option<(Role, u64)>,
    size: usize,
}

impl Messages {
    /// Whether all of it was kept.
    pub(super) fn chunk(
        &mut self,
        next: u64,
        role: Role,
        id: Option<&str>,
        content: &Fields<'_>,
    ) -> bool {
        let id = id.filter(|id| id.len() <= LONGEST_ID);
        let place = self.place(role, id).unwrap_or(next);
        self.open = Some((role, place));
        let message = self.all.entry(place).or_insert_with(|| {
            if let Some(id) = id {
                self.named.insert((role, id.to_owned()), place);
            }
            Message::new(role, id)
        });
        let before = message.size;
        message.begin();
        let whole = message.add(content);
        self.size = self.size + message.size - before;
        whole
    }

    fn place(&self, role: Role, id: Option<&str>) -> Option<u64> {
        match id {
            Some(id) => self.named.get(&(role, id.to_owned())).copied(),
            None => self
                .open
                .filter(|(open, _)| *open == role)
                .map(|(_, place)| place),
        }
    }

    /// The next chunk without an id begins a message of its own.
    pub(super) fn part(&mut self) {
        self.open = None;
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Never the last one: it is what is being said.
    pub(super) fn oldest(&self) -> Option<u64> {
        let mut places = self.all.keys();
        let first = places.next().copied();
        places.next().and(first)
    }

    pub(super) fn remove(&mut self, place: u64) -> bool {
        let Some(message) = self.all.remove(&place) else {
            return false;
        };
        self.size -= message.size;
        if let Some(id) = message.message_id {
            self.named.remove(&(message.role, id));
        }
        if self.open.is_some_and(|(_, open)| open == place) {
            self.open = None;
        }
        true
    }

    pub(super) fn list(&self) -> impl Iterator<Item = impl Serialize + '_> {
        self.all.values()
    }
}

impl Message {
    fn new(role: Role, id: Option<&str>) -> Self {
        Self {
            role,
            message_id: id.map(str::to_owned),
            text: String::new(),
            other: BTreeMap::new(),
            size: 0,
        }
    }

    fn begin(&mut self) {
        if self.size == 0 {
            self.size = OVERHEAD + self.message_id.as_deref().map_or(0, written_len);
        }
    }

    fn add(&mut self, content: &Fields<'_>) -> bool {
        let kind = content.get("type").and_then(|kind| text(kind));
        match kind.as_deref() {
            Some("text") => {
                let said = content.get("text").and_then(|said| text(said));
                self.say(said.as_deref().unwrap_or_default())
            }
            kind => self.mention(kind.unwrap_or("unknown")),
        }
    }

    fn say(&mut self, said: &str) -> bool {
        self.text.push_str(said);
        self.size += written_len(said);
        if self.size <= 2 * LONGEST {
            return true;
        }
        let overhead = self.size - written_len(&self.text);
        let (from, kept) = tail(&self.text, LONGEST);
        self.text.drain(..from);
        self.size = overhead + kept;
        false
    }

    fn mention(&mut self, kind: &str) -> bool {
        let known = self.other.contains_key(kind);
        let fits = known || (self.other.len() < OTHER_TYPES && kind.len() <= LONGEST_ID);
        let kind = if fits { kind } else { "other" };
        if !self.other.contains_key(kind) {
            self.size += written_len(kind) + OVERHEAD;
        }
        *self.other.entry(kind.to_owned()).or_default() += 1;
        true
    }
}

/// Where the last characters that fit begin, and how long they are when written.
fn tail(text: &str, most: usize) -> (usize, usize) {
    let (mut from, mut kept) = (text.len(), 0);
    for (place, char) in text.char_indices().rev() {
        if kept + written(char) > most {
            break;
        }
        kept += written(char);
        from = place;
    }
    (from, kept)
}
