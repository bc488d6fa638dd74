//! Reports on disk: what is too much for memory while the receiver is away, and what is left when a run ends
//! before it was delivered. One folder per prompt, one file per report, named by sequence and kind.

use std::{
    fmt::Write as _,
    fs, io,
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use serde::{Deserialize, de::IgnoredAny};
use sha2::{Digest as _, Sha256};

use super::body::Kind;

#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
}

/// A report that an earlier process of this prompt could not deliver.
#[derive(Debug)]
pub(super) struct Leftover {
    pub(super) sequence: u64,
    pub(super) kind: Kind,
    pub(super) notifications: usize,
    pub(super) path: PathBuf,
    pub(super) len: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    kind: String,
    #[serde(default)]
    run_id: String,
    prompt_id: String,
    sequence: u64,
    #[serde(default)]
    notifications: Vec<IgnoredAny>,
}

impl Spool {
    /// The prompt's folder, and what an earlier process left there, in order.
    pub(super) fn open(base: &Path, prompt: &str) -> io::Result<(Self, Vec<Leftover>)> {
        let folder = base.join(name(prompt));
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        let mut left = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "part") {
                fs::remove_file(&path)?;
            } else {
                left.extend(leftover(path, prompt)?);
            }
        }
        left.sort_by_key(|one: &Leftover| one.sequence);
        Ok((Self { folder }, left))
    }

    /// Under another name first: a file that has its name is whole.
    pub(super) fn write(&self, sequence: u64, kind: Kind, body: &Bytes) -> io::Result<PathBuf> {
        let path = self
            .folder
            .join(format!("{sequence:020}.{}.json", kind.as_str()));
        let part = path.with_extension("part");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)?;
        let written = file.write_all(body).and_then(|()| fs::rename(&part, &path));
        if let Err(error) = written {
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        Ok(path)
    }

    /// An empty folder says that nothing is owed; it goes.
    pub(super) fn close(&self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The prompts of a run of which something is left, the oldest first.
pub(super) fn prompts(base: &Path, run: &str) -> io::Result<Vec<String>> {
    let folders = match fs::read_dir(base) {
        Ok(folders) => folders,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for folder in folders.flatten() {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_none_or(|end| end != "json") {
                continue;
            }
            let written: Option<Written> = serde_json::from_slice(&fs::read(&path)?).ok();
            let Some(written) = written.filter(|written| written.run_id == run) else {
                continue;
            };
            found.push((file.metadata()?.modified()?, written.prompt_id));
            break;
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, prompt)| prompt).collect())
}

/// A prompt's id may hold anything, a folder's name may not.
fn name(prompt: &str) -> String {
    let digest = Sha256::digest(prompt.as_bytes());
    digest
        .iter()
        .take(12)
        .fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        })
}

fn leftover(path: PathBuf, prompt: &str) -> io::Result<Option<Leftover>> {
    if path.extension().is_none_or(|end| end != "json") {
        return Ok(None);
    }
    let body = fs::read(&path)?;
    let Ok(written) = serde_json::from_slice::<Written>(&body) else {
        return Ok(None);
    };
    let kind = Kind::read(&written.kind).filter(|_| written.prompt_id == prompt);
    Ok(kind.map(|kind| Leftover {
        sequence: written.sequence,
        kind,
        notifications: written.notifications.len(),
        path,
        len: body.len(),
    }))
}
