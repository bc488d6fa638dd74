//! The prompts that follow in a session that stays: a folder with a numbered file for each. Whoever adds one and
//! the runner that takes it need not live at the same time, and neither waits for the other.
//!
//! `000002.json` is a prompt, `000002.cancel` beside it takes it back, and `closed` says that nobody takes any more:
//! a prompt that was added before that is answered or told as failed.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{config::Prompt, json_error};

#[derive(Clone, Debug)]
pub struct Inbox {
    folder: PathBuf,
}

/// A prompt that follows, as its file has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Followup {
    pub prompt_id: String,
    /// A text, or a list of content blocks.
    pub prompt: Box<RawValue>,
    /// Set before the prompt is sent, and kept from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
    /// The agent's own options, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// A prompt that cannot be given to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// As far as its file says.
    pub prompt_id: Option<String>,
    pub problem: String,
}

#[derive(Debug, thiserror::Error)]
pub enum NotAdded {
    #[error("the session has ended")]
    Closed,
    #[error("the prompt cannot be kept: {0}")]
    Broken(#[from] io::Error),
}

impl Inbox {
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    pub fn make(&self) -> io::Result<()> {
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700).create(&self.folder)
    }

    /// Adds a prompt. It is on disk when this comes back, and whoever runs the session takes it.
    pub fn add(&self, number: u64, followup: &Followup) -> Result<(), NotAdded> {
        let _lock = self.lock()?;
        if self.is_closed() {
            return Err(NotAdded::Closed);
        }
        let path = self.file(number, "json");
        let part = path.with_extension("part");
        let mut file = private().truncate(true).open(&part)?;
        file.write_all(&serde_json::to_vec(followup).map_err(io::Error::from)?)?;
        file.sync_all()?;
        fs::rename(&part, &path)?;
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    /// The prompt of this number, if it is there. One that cannot be read is an error, and will be one again.
    pub fn prompt(&self, number: u64) -> io::Result<Option<Followup>> {
        let text = match fs::read(self.file(number, "json")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(serde_json::from_slice(&text)?))
    }

    /// The same, for whoever takes it: anybody may have written the file.
    pub fn next(&self, number: u64) -> Option<Result<Followup, Unreadable>> {
        let unreadable = |prompt_id, problem: String| {
            Some(Err(Unreadable {
                prompt_id,
                problem: format!("its file cannot be read: {problem}"),
            }))
        };
        let text = match fs::read(self.file(number, "json")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => return unreadable(None, error.to_string()),
        };
        let followup: Followup = match serde_json::from_slice(&text) {
            Ok(followup) => followup,
            Err(error) => return unreadable(named(&text), json_error::told(&error)),
        };
        if followup.content().is_none() {
            let problem = "`prompt` is a text, or a list of content blocks".to_owned();
            return unreadable(Some(followup.prompt_id), problem);
        }
        Some(Ok(followup))
    }

    /// Takes a prompt back, or ends its turn.
    pub fn cancel(&self, number: u64) -> io::Result<()> {
        self.make()?;
        let file = private().truncate(true).open(self.file(number, "cancel"))?;
        file.sync_all()
    }

    pub fn is_cancelled(&self, number: u64) -> bool {
        self.file(number, "cancel").exists()
    }

    /// Nobody takes prompts any more. What was added until now is there.
    pub fn close(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        private()
            .truncate(true)
            .open(self.folder.join("closed"))?
            .sync_all()
    }

    /// A runner takes prompts again.
    pub fn reopen(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join("closed")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    pub fn is_closed(&self) -> bool {
        self.folder.join("closed").exists()
    }

    /// Held while this lives, by one at a time.
    fn lock(&self) -> io::Result<File> {
        self.make()?;
        let lock = private().truncate(false).open(self.folder.join("lock"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    fn file(&self, number: u64, kind: &str) -> PathBuf {
        self.folder.join(format!("{number:06}.{kind}"))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Followup {
    /// What the agent is told; `None`: neither a text nor blocks.
    pub fn content(&self) -> Option<Prompt> {
        if let Ok(text) = serde_json::from_str::<String>(self.prompt.get()) {
            return (!text.trim().is_empty()).then_some(Prompt::Text(text));
        }
        let blocks: Vec<serde_json::Map<String, serde_json::Value>> =
            serde_json::from_str(self.prompt.get()).ok()?;
        (!blocks.is_empty()).then(|| Prompt::Blocks(self.prompt.clone()))
    }
}

/// The id in a file that is no prompt otherwise.
fn named(text: &[u8]) -> Option<String> {
    let file: serde_json::Value = serde_json::from_slice(text).ok()?;
    let id = file.get("promptId")?.as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn followup(prompt: &serde_json::Value) -> Followup {
        Followup {
            prompt_id: "p-2".to_owned(),
            prompt: to_raw_value(prompt).unwrap(),
            mode: None,
            model_id: None,
            options: BTreeMap::new(),
        }
    }

    #[test]
    fn a_prompt_is_taken_in_its_turn_or_taken_back() {
        let place = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(place.path().join("prompts"));
        assert!(inbox.prompt(2).unwrap().is_none());
        inbox.add(2, &followup(&json!("go on"))).unwrap();
        let taken = inbox.prompt(2).unwrap().unwrap();
        assert!(matches!(taken.content(), Some(Prompt::Text(text)) if text == "go on"));
        assert!(!inbox.is_cancelled(2));
        inbox.cancel(2).unwrap();
        assert!(inbox.is_cancelled(2) && !inbox.is_cancelled(3));
    }

    #[test]
    fn nothing_is_added_once_nobody_takes_it() {
        let place = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(place.path().join("prompts"));
        inbox.close().unwrap();
        let refused = inbox.add(2, &followup(&json!("late")));
        assert!(matches!(refused, Err(NotAdded::Closed)));
        assert!(inbox.prompt(2).unwrap().is_none());
        inbox.reopen().unwrap();
        inbox.add(2, &followup(&json!("again"))).unwrap();
    }

    #[test]
    fn a_file_that_is_no_prompt_is_known_by_its_id() {
        let place = tempfile::tempdir().unwrap();
        let inbox = Inbox::at(place.path());
        assert!(inbox.next(2).is_none());
        for (text, id, problem) in [
            (
                r#"{"promptId":"k","prompt":"x","model":"m"}"#,
                Some("k"),
                "unknown field `model`",
            ),
            (
                r#"{"promptId":"k","prompt":" "}"#,
                Some("k"),
                "`prompt` is a text",
            ),
            (r#"{"promptId":7,"prompt":"x"}"#, None, "expected text"),
            ("{", None, "EOF"),
        ] {
            fs::write(inbox.file(2, "json"), text).unwrap();
            let found = inbox.next(2).unwrap().unwrap_err();
            assert_eq!(found.prompt_id.as_deref(), id, "{text}");
            assert!(found.problem.contains(problem), "{found:?}");
        }
    }

    #[test]
    fn what_is_no_prompt_is_none() {
        for (prompt, good) in [
            (json!("x"), true),
            (json!([{"type": "text", "text": "x"}]), true),
            (json!("  "), false),
            (json!([]), false),
            (json!([1]), false),
            (json!({}), false),
        ] {
            assert_eq!(followup(&prompt).content().is_some(), good, "{prompt}");
        }
    }
}
