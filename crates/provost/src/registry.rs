//! The gateways that this user has started: a small file for each, in the user's own folder. A gateway holds
//! a lock on its file for as long as it lives, so that a file left behind by a crash is told from a running
//! gateway, whatever has its process id or its port by now.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use provost_core::{
    ids::{hex, random_bytes},
    time::Time,
};
use serde::{Deserialize, Serialize};

use crate::user_folder::user_folder;

const FOLDER: &str = "gateways";
const ENDING: &str = "json";
/// Of bytes. Larger files are not ours.
const LARGEST: u64 = 64 * 1024;
/// More files than that are not looked at.
const MOST: usize = 1000;

/// A gateway that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) url: String,
    /// Its data folder, behind all links.
    pub(crate) data: PathBuf,
    /// The folder that it was started in.
    pub(crate) folder: PathBuf,
    pub(crate) config: Option<PathBuf>,
    pub(crate) pid: u32,
    pub(crate) started: Time,
}

/// Why what the registry says does not count.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    #[error("there is no folder for it: neither PROVOST_STATE nor HOME is set")]
    NoFolder,
    #[error(
        "`{0}` is not yours alone: others own it or may write to it; run `chmod 700` on it, or remove it"
    )]
    NotOurs(PathBuf),
    #[error("`{0}`: {1}")]
    Io(PathBuf, #[source] io::Error),
}

/// That this process is in the registry. It is taken out when this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    path: PathBuf,
    _locked: File,
}

impl Drop for Registration {
    fn drop(&mut self) {
        // What stays is not locked any more, and so counts for nothing.
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) fn register(entry: &Entry) -> Result<Registration, RegistryError> {
    register_in(&user_folder().ok_or(RegistryError::NoFolder)?, entry)
}

/// Those that run. No folder means that none does.
pub(crate) fn running() -> Result<Vec<Entry>, RegistryError> {
    running_in(&user_folder().ok_or(RegistryError::NoFolder)?)
}

fn register_in(user: &Path, entry: &Entry) -> Result<Registration, RegistryError> {
    let folder = user.join(FOLDER);
    let failed = |error| RegistryError::Io(folder.clone(), error);
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700);
    private.create(&folder).map_err(failed)?;
    ensure_ours(&folder)?;
    forget_the_dead(&folder);
    let name = hex(&random_bytes::<8>());
    let (new, path) = (
        folder.join(format!("{name}.new")),
        folder.join(format!("{name}.{ENDING}")),
    );
    let locked = write(&new, entry).map_err(failed)?;
    // It gets its name when it is locked: a file of that name without a lock is a dead one's.
    fs::rename(&new, &path).map_err(failed)?;
    Ok(Registration {
        path,
        _locked: locked,
    })
}

fn write(path: &Path, entry: &Entry) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.lock()?;
    file.write_all(&serde_json::to_vec_pretty(entry)?)?;
    Ok(file)
}

fn running_in(user: &Path) -> Result<Vec<Entry>, RegistryError> {
    let folder = user.join(FOLDER);
    match fs::symlink_metadata(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RegistryError::Io(folder, error)),
        Ok(_) => ensure_ours(&folder)?,
    }
    let mut running: Vec<_> = files(&folder)
        .filter_map(|path| match look(&path) {
            Look::Alive(entry) => Some(entry),
            Look::Dead | Look::Foreign => None,
        })
        .collect();
    running.sort_by_key(|entry| entry.started);
    Ok(running)
}

/// Whoever can write there could send our keys anywhere.
fn ensure_ours(folder: &Path) -> Result<(), RegistryError> {
    let about = fs::symlink_metadata(folder)
        .map_err(|error| RegistryError::Io(folder.to_owned(), error))?;
    if about.is_dir() && is_ours(&about, this_user()) {
        return Ok(());
    }
    Err(RegistryError::NotOurs(folder.to_owned()))
}

fn is_ours(about: &Metadata, user: u32) -> bool {
    about.uid() == user && about.mode() & 0o022 == 0
}

pub(crate) fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .take(MOST)
}

enum Look {
    Alive(Entry),
    Dead,
    /// Not written by us, or not to be read.
    Foreign,
}

fn look(path: &Path) -> Look {
    read(path).unwrap_or(Look::Foreign)
}

fn read(path: &Path) -> io::Result<Look> {
    // A link, or something that blocks when it is opened, is not ours.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(Look::Foreign);
    }
    let file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || !is_ours(&about, this_user()) {
        return Ok(Look::Foreign);
    }
    // Shared: two who look at the same time must not take each other for the gateway.
    match file.try_lock_shared() {
        Ok(()) => return Ok(Look::Dead),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut text = Vec::new();
    file.take(LARGEST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).map_or(Look::Foreign, Look::Alive))
}

fn forget_the_dead(folder: &Path) {
    for path in files(folder) {
        if matches!(look(&path), Look::Dead) {
            // Another gateway that starts may have been quicker.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn entry(port: u16) -> Entry {
        Entry {
            url: format!("http://127.0.0.1:{port}"),
            data: "/data".into(),
            folder: "/".into(),
            config: None,
            pid: std::process::id(),
            started: Time::from_millis(i64::from(port)),
        }
    }

    #[test]
    fn p06_a_gateway_is_found_while_it_lives_and_no_longer() {
        let user = tempfile::tempdir().unwrap();
        assert_eq!(running_in(user.path()).unwrap(), []);
        let second = register_in(user.path(), &entry(2)).unwrap();
        let first = register_in(user.path(), &entry(1)).unwrap();
        assert_eq!(running_in(user.path()).unwrap(), [entry(1), entry(2)]);
        let mode = fs::metadata(&first.path).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600);
        drop(first);
        assert_eq!(running_in(user.path()).unwrap(), [entry(2)]);
        drop(second);
        assert_eq!(running_in(user.path()).unwrap(), []);
    }

    #[test]
    fn p06_what_a_crash_left_behind_is_not_taken_for_a_gateway() {
        let user = tempfile::tempdir().unwrap();
        let alive = register_in(user.path(), &entry(1)).unwrap();
        let left = user.path().join(FOLDER).join("left.json");
        // Of a process that lives, even: what counts is the lock.
        fs::write(&left, serde_json::to_vec(&entry(2)).unwrap()).unwrap();
        fs::set_permissions(&left, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(running_in(user.path()).unwrap(), [entry(1)]);
        let _next = register_in(user.path(), &entry(3)).unwrap();
        assert!(!left.exists(), "the next gateway tidies up");
        assert!(alive.path.exists());
    }

    #[test]
    fn p06_what_others_may_have_written_is_not_trusted() {
        let user = tempfile::tempdir().unwrap();
        let folder = user.path().join(FOLDER);
        let alive = register_in(user.path(), &entry(1)).unwrap();
        for mode in [0o770, 0o707, 0o777] {
            fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
            let refused = running_in(user.path()).unwrap_err();
            assert!(matches!(refused, RegistryError::NotOurs(_)), "{mode:o}");
            assert!(register_in(user.path(), &entry(2)).is_err(), "{mode:o}");
        }
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        // A locked file that others may change says nothing either.
        fs::set_permissions(&alive.path, Permissions::from_mode(0o666)).unwrap();
        assert_eq!(running_in(user.path()).unwrap(), []);
        let about = fs::metadata(&folder).unwrap();
        assert!(is_ours(&about, this_user()) && !is_ours(&about, this_user() + 1));

        let linked = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&folder, linked.path().join(FOLDER)).unwrap();
        assert!(running_in(linked.path()).is_err());
    }
}
