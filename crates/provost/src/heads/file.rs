//! One file of kept heads: read whole, written whole.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use provost_core::{
    ids::hex,
    ports::{Clock as _, SystemClock},
    time::Time,
    trace::kept::KeptHeads,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// More than a store with a hundred thousand chains needs.
const LARGEST: u64 = 16 << 20;
/// Stores of one user that are looked through.
const MOST: usize = 1000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) place: String,
    pub(crate) written_at: Time,
    /// The version of the store's schema.
    #[serde(default)]
    pub(crate) schema: i64,
    #[serde(flatten)]
    pub(crate) heads: KeptHeads,
}

impl Kept {
    /// How many there had ever been.
    pub(crate) fn records(&self) -> u64 {
        let heads = self.heads.chains.values();
        heads.fold(0, |sum, head| sum.saturating_add(head.seq))
    }
}

#[derive(Debug, thiserror::Error)]
#[error(
    "`{file}`, where the heads of the record are kept, cannot be read: {why}\n\
     help: nobody can tell whether records are missing. Look at the record with `provost traces export --data DIR`; \
     `provost traces accept-gap` writes the file anew and notes it in the record"
)]
pub(crate) struct Unreadable {
    file: String,
    why: String,
}

pub(super) fn name(place: &str) -> String {
    let hash = Sha256::digest(place.as_bytes());
    let short = hash.get(..12).map(hex).unwrap_or_default();
    format!("{short}.json")
}

pub(super) fn read(file: &Path) -> Result<Option<Kept>, Unreadable> {
    let unreadable = |why: String| Unreadable {
        file: file.display().to_string(),
        why,
    };
    match fs::metadata(file) {
        // No file is there, nor can one be.
        Err(error) if is_absence(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error.to_string())),
        Ok(found) if found.len() > LARGEST => return Err(unreadable("it is too large".into())),
        Ok(_) => {}
    }
    let text = fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    let kept = serde_json::from_str(&text);
    kept.map(Some)
        .map_err(|error| unreadable(error.to_string()))
}

fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

pub(super) fn write(file: &Path, place: &str, schema: i64, heads: &KeptHeads) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let kept = Kept {
        place: place.to_owned(),
        written_at: SystemClock.now(),
        schema,
        heads: heads.clone(),
    };
    // Made with mode 0600.
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    part.write_all(serde_json::to_string(&kept)?.as_bytes())?;
    // An empty file in its place would be taken for a loss after a power failure.
    part.as_file().sync_data()?;
    part.persist(file)?;
    Ok(())
}

/// Those that can be read.
pub(super) fn all(folder: &Path) -> Vec<(PathBuf, Kept)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    files
        .take(MOST)
        .filter_map(|path| {
            let kept = read(&path).ok()??;
            Some((path, kept))
        })
        .collect()
}
