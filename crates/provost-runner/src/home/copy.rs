//! Copies the files of an agent's user into a home that is being made.

use std::{
    fs, io,
    io::Read as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::logins::Login;
use crate::agents::UseOf;

/// More than any settings have.
pub(super) const LONGEST: u64 = 4 * 1024 * 1024;
/// Of one folder.
const MOST: usize = 100;

/// Of a folder, its files are copied, and nothing below. What is not there is not copied.
pub(super) fn into(
    home: &Path,
    place: &Path,
    from: &Path,
    use_of: UseOf,
) -> io::Result<Vec<Login>> {
    if matches!(use_of, UseOf::Sessions) {
        return Ok(Vec::new());
    }
    let mut copied = Vec::new();
    for (from, place) in files(from, place)? {
        let Some(mut bytes) = read(&from)? else {
            continue;
        };
        if let UseOf::Fields(fields) = use_of {
            bytes = only(&bytes, fields);
        }
        write(&home.join(&place), &bytes)?;
        copied.push(Login::new(home, place, from.canonicalize()?, &bytes));
    }
    Ok(copied)
}

fn files(from: &Path, place: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    if !from.is_dir() {
        return Ok(vec![(from.to_owned(), place.to_owned())]);
    }
    let entries = fs::read_dir(from)?.take(MOST).flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let named = files.map(|entry| (entry.path(), place.join(entry.file_name())));
    Ok(named.collect())
}

/// `None` where there is no such file.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match fs::File::open(path) {
        Ok(file) => file.take(LONGEST).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(bytes))
}

/// Into a home that no agent runs in.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    if let Some(folder) = path.parent() {
        super::private(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}

/// What is not JSON has none of the fields.
fn only(bytes: &[u8], fields: &[&str]) -> Vec<u8> {
    let all: Map<String, Value> = serde_json::from_slice(bytes).unwrap_or_default();
    let kept = all
        .into_iter()
        .filter(|(name, _)| fields.contains(&&**name));
    Value::Object(kept.collect()).to_string().into_bytes()
}
