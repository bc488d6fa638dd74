//! The session as it stands, folded from its notifications: what a receiver that lost a report can fall back
//! on. Reading is lenient (what is not understood is counted and left out) and the whole is bounded: the oldest
//! goes first, and the snapshot says that it did.

mod latest;
mod messages;
mod snapshot;
mod tools;

use serde_json::value::RawValue;

use crate::acp::raw::{Fields, fields, text};

use latest::Latest;
use messages::{Messages, Role};
pub(super) use snapshot::Snapshot;
use tools::Tools;

/// Bytes of a serialised snapshot.
pub(super) const CAP: usize = 128 * 1024;
/// Of these: for permissions, the end, counts and names.
const RESERVED: usize = 24 * 1024;

#[derive(Debug, Default)]
pub(super) struct Fold {
    count: u64,
    /// Gives messages and tool calls one common order.
    next: u64,
    messages: Messages,
    tools: Tools,
    latest: Latest,
    truncated: bool,
}

impl Fold {
    /// The params of one `session/update`.
    pub(super) fn take(&mut self, params: &RawValue) {
        self.count += 1;
        let update = fields(params).and_then(|params| fields(params.get("update")?));
        let Some(update) = update else { return };
        let kind = update.get("sessionUpdate").and_then(|kind| text(kind));
        match kind.as_deref() {
            Some("user_message_chunk") => self.message(Role::User, &update),
            Some("agent_message_chunk") => self.message(Role::Agent, &update),
            Some("agent_thought_chunk") => self.message(Role::Thought, &update),
            Some("tool_call" | "tool_call_update") => self.tool(&update),
            Some(kind) => self.truncated |= !self.latest.take(kind, &update),
            None => return,
        }
        self.shrink();
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    fn message(&mut self, role: Role, update: &Fields<'_>) {
        let Some(content) = update.get("content").and_then(|content| fields(content)) else {
            return;
        };
        let id = update.get("messageId").and_then(|id| text(id));
        self.next += 1;
        let whole = self
            .messages
            .chunk(self.next, role, id.as_deref(), &content);
        self.truncated |= !whole;
    }

    fn tool(&mut self, update: &Fields<'_>) {
        self.next += 1;
        self.truncated |= !self.tools.merge(self.next, update);
        // Text after a tool call is not the same paragraph as the text before it.
        self.messages.part();
    }

    /// Each thing is removed once, so this costs no more than what was added.
    fn shrink(&mut self) {
        let budget = CAP.saturating_sub(RESERVED + self.latest.size());
        while self.messages.size() + self.tools.size() > budget {
            self.truncated = true;
            let gone = match (self.messages.oldest(), self.tools.oldest_finished()) {
                _ if self.tools.is_crowded() => self.tools.remove_oldest(),
                (Some(message), Some(tool)) if tool < message => self.tools.strip(tool),
                (Some(message), _) => self.messages.remove(message),
                (None, Some(tool)) => self.tools.strip(tool),
                (None, None) => self.tools.remove_oldest(),
            };
            if !gone {
                break;
            }
        }
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// The length of a character inside a JSON text.
fn written(char: char) -> usize {
    match char {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => char.len_utf8(),
    }
}

fn written_len(text: &str) -> usize {
    text.chars().map(written).sum()
}

/// The first characters whose length, written, is not over the bound.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut length = 0;
    for (place, char) in text.char_indices() {
        length += written(char);
        if length > most {
            return text.get(..place).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests;
