//! What is kept of a run: a folder of its own, for the gateway's owner alone.
//!
//! `record.json` says what it is, `journal.jsonl` what happened, `end.json` how it ended. What holds secrets
//! (`request.json`, `run.json`) is removed at the end.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use provost_core::time::Time;
use provost_runner::inbox::Inbox;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::prompts::Origin;

/// What is shown of what a runner said last.
const TAIL: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

/// What a run is. It never changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub id: String,
    /// As the configuration calls it.
    pub agent: String,
    /// What it is to do; of a long text the beginning, where it is one of many.
    pub prompt: String,
    pub repo_dir: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    pub created_at: Time,
    pub created_by: String,
    /// How far it may go, as its configuration has it.
    pub limits: Value,
    /// Its session stays for so many seconds without a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<f64>,
    /// What people call its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<Idempotency>,
}

/// By what the same request is known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idempotency {
    pub(super) key: String,
    /// Of what was asked for.
    pub(super) digest: String,
}

impl Folder {
    pub(super) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn make(&self) -> io::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.0)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.0.join("journal.jsonl")
    }

    pub(super) fn config(&self) -> PathBuf {
        self.0.join("run.json")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.0.join("log")
    }

    /// The prompts that follow the first.
    pub(super) fn inbox(&self) -> Inbox {
        Inbox::at(self.0.join("prompts"))
    }

    pub(super) fn spool(&self) -> PathBuf {
        self.0.join("spool")
    }

    /// Whether there are reports that were not delivered.
    pub(super) fn has_spooled(&self) -> bool {
        let prompts = fs::read_dir(self.spool()).into_iter().flatten().flatten();
        let mut files =
            prompts.flat_map(|prompt| fs::read_dir(prompt.path()).into_iter().flatten());
        files.any(|file| {
            file.is_ok_and(|file| file.path().extension().is_some_and(|end| end == "json"))
        })
    }

    /// Who wrote a prompt, beside it.
    pub(super) fn write_origin(&self, number: u64, origin: &Origin) -> io::Result<()> {
        self.inbox().make()?;
        self.write(&origin_name(number), origin)
    }

    pub(super) fn origin(&self, number: u64) -> Option<Origin> {
        self.read(&origin_name(number))
    }

    /// `None`: it is not there, or nothing that could be read.
    pub(super) fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let text = fs::read(self.0.join(name)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Whole or not at all, and on disk when this comes back.
    pub(super) fn write(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        let new = self.0.join(format!("{name}.new"));
        let mut file = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.write_all(&serde_json::to_vec(value)?)?;
        file.sync_all()?;
        fs::rename(&new, self.0.join(name))?;
        File::open(&self.0)?.sync_all()
    }

    /// A line of the gateway's own in the journal. What a runner left unfinished is not continued.
    pub(super) fn append(&self, value: &Value) -> io::Result<()> {
        let mut file = private()
            .read(true)
            .append(true)
            .create(true)
            .open(self.journal())?;
        let mut line = Vec::new();
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                line.push(b'\n');
            }
        }
        serde_json::to_writer(&mut line, value)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()
    }

    pub(super) fn forget_secrets(&self) {
        for name in ["request.json", "run.json"] {
            match fs::remove_file(self.0.join(name)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::error!(%error, file = name, "what a run no longer needs stays");
                }
            }
        }
    }

    pub(super) fn remove(&self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, "an old run cannot be removed");
        }
    }

    /// What its runner said last.
    pub(super) fn last_words(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(self.log())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
            let mut tail = Vec::new();
            file.take(TAIL).read_to_end(&mut tail)?;
            Ok(tail)
        };
        let tail = read().unwrap_or_default();
        String::from_utf8_lossy(&tail).trim().to_owned()
    }
}

fn origin_name(number: u64) -> String {
    format!("prompts/{number:06}.origin")
}

/// For its owner alone.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_left_unfinished_is_not_continued() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path().join("run"));
        folder.make().unwrap();
        folder.append(&json!({"a": 1})).unwrap();
        let mut file = private().append(true).open(folder.journal()).unwrap();
        file.write_all(br#"{"at":1,"in"#).unwrap();
        folder.append(&json!({"b": 2})).unwrap();
        let text = fs::read_to_string(folder.journal()).unwrap();
        assert_eq!(text, "{\"a\":1}\n{\"at\":1,\"in\n{\"b\":2}\n");
    }
}
