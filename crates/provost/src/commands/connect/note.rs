//! What is kept of a connection beside the backup of its file.

use std::path::{Path, PathBuf};

use provost_core::ids::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What is known of a connection: enough to take it back without the gateway, and under whichever name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The agent, as the command line names it. Older notes do not tell.
    #[serde(default)]
    pub(super) agent: Option<String>,
    /// The path by which the file was connected first, which may lead to it by links.
    #[serde(default)]
    named: Option<PathBuf>,
    /// All that the file was connected with; the newest is the last.
    pub(super) keys: Vec<NotedKey>,
    /// Of what was written, which may hold a key.
    digest: String,
    /// Somebody changed the file between two connections, so that the backup lacks what they wrote.
    #[serde(default)]
    edited: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotedKey {
    /// Also the agent's.
    pub(super) name: String,
    /// Where it lies, if in a file of its own.
    pub(super) file: Option<PathBuf>,
}

/// As whom a file is connected.
pub(super) struct Connection<'a> {
    pub(super) agent: &'a str,
    /// The path of the file, as somebody named it.
    pub(super) named: &'a Path,
    pub(super) key: NotedKey,
}

impl Note {
    /// `before`: what was noted when the file held `found`.
    pub(super) fn new(
        before: Option<Self>,
        connection: Connection<'_>,
        found: &str,
        written: &str,
    ) -> Self {
        let edited = before.as_ref().is_some_and(|note| !note.is_of(found));
        let (named, mut keys) = before
            .map(|note| (note.named, note.keys))
            .unwrap_or_default();
        keys.retain(|known| known.name != connection.key.name);
        keys.push(connection.key);
        Self {
            agent: Some(connection.agent.to_owned()),
            named: named.or_else(|| Some(connection.named.to_owned())),
            keys,
            digest: digest(written),
            edited,
        }
    }

    /// Whether nobody but us has changed the file since the first connection.
    pub(super) fn is_of(&self, text: &str) -> bool {
        !self.edited && self.digest == digest(text)
    }

    /// Whether the file was connected by this path.
    pub(super) fn is_named(&self, path: &Path) -> bool {
        self.named.as_deref() == Some(path)
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(before: Option<Note>, key: &str, found: &str, written: &str) -> Note {
        let connection = Connection {
            agent: "cursor",
            named: Path::new("/p/.cursor/hooks.json"),
            key: NotedKey {
                name: key.to_owned(),
                file: None,
            },
        };
        Note::new(before, connection, found, written)
    }

    #[test]
    fn p17_what_somebody_wrote_between_two_connections_is_known() {
        let first = noted(None, "a", "old", "ours");
        let again = noted(Some(first.clone()), "a", "ours", "ours 2");
        assert!(again.is_of("ours 2") && !again.is_of("ours"));
        let edited = noted(Some(first), "a", "ours and mine", "ours 2 and mine");
        let later = noted(Some(edited), "a", "ours 2 and mine", "ours 3 and mine");
        assert!(!later.is_of("ours 3 and mine"));
    }

    #[test]
    fn p17_every_key_of_a_file_is_noted_once() {
        let note = noted(None, "a", "", "0");
        let note = noted(Some(note), "b", "0", "0");
        let note = noted(Some(note), "a", "0", "1");
        let names: Vec<_> = note.keys.iter().map(|key| &*key.name).collect();
        assert_eq!(names, ["b", "a"]);
    }

    #[test]
    fn p17_a_note_from_before_is_read() {
        let old = r#"{"keys": [{"name": "a", "file": null}], "digest": "0"}"#;
        let old: Note = serde_json::from_str(old).unwrap();
        assert_eq!((old.keys.len(), &old.agent), (1, &None));
        assert!(!old.is_named(Path::new("/p")));
    }
}
