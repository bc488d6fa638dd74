//! The files of a folder, as far as they are looked at. Nothing of the folder is run: no `git`, no hook, no filter.
//! The walk goes through directory handles and follows no link, so that nothing outside is read, whatever the agent
//! does meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Component, Path},
};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, readlinkat, statat};
use serde::{Deserialize, Serialize};

const MOST_FILES: usize = 50_000;
const MOST_DEPTH: usize = 64;
/// Of a larger file, only that it changed is told.
pub(super) const LARGEST: u64 = 256 * 1024;
/// What programs fetch and build, and nobody reads.
const SKIPPED: [&str; 9] = [
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".gradle",
    ".next",
];
/// Of `.git` this is looked at: it runs, or says what runs.
const OF_GIT: [&str; 2] = ["hooks", "config"];
const MOST_TOLD: usize = 20;

/// A file, by what shows that it changed. The time of its last change is the kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    inode: u64,
    pub(super) size: u64,
    modified: i64,
    changed: i64,
    link: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) files: BTreeMap<String, Mark>,
    /// What was not looked at, in words.
    pub(super) left_out: BTreeSet<String>,
}

/// A folder that is held open.
pub(super) struct Root(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Root {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, folder, FOLDER, Mode::empty())?))
    }

    pub(super) fn walk(&self) -> io::Result<Tree> {
        let mut tree = Tree::default();
        let top = openat(&self.0, ".", FOLDER, Mode::empty())?;
        tree.enter(&top, "", 0);
        Ok(tree)
    }

    /// What is in a file, or where a link leads; `None` where it is too large or cannot be read.
    pub(super) fn read(&self, path: &str, mark: Mark) -> Option<Vec<u8>> {
        if mark.size > LARGEST {
            return None;
        }
        let path = Path::new(path);
        let name = path.file_name()?;
        let folder = self.folder(path.parent()?).ok()?;
        if mark.link {
            let target = readlinkat(&folder, name, Vec::new()).ok()?;
            return Some([b"link to ", target.as_bytes(), b"\n"].concat());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&folder, name, flags, Mode::empty()).ok()?;
        let file = std::fs::File::from(file);
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= LARGEST).then_some(bytes)
    }

    fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut at = openat(&self.0, ".", FOLDER, Mode::empty())?;
        for part in path.components() {
            let Component::Normal(name) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            at = openat(&at, name, FOLDER, Mode::empty())?;
        }
        Ok(at)
    }
}

impl Tree {
    fn enter(&mut self, folder: &OwnedFd, at: &str, depth: usize) {
        if depth > MOST_DEPTH {
            return self.leave_out(format!("{at}: too deep"));
        }
        let Ok(entries) = Dir::read_from(folder) else {
            return self.leave_out(format!("{at}: cannot be read"));
        };
        for entry in entries.flatten() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            // Names that are no text are few, and cannot be shown.
            let Some(name) = name.to_str().filter(|name| !matches!(*name, "." | "..")) else {
                continue;
            };
            let in_git = at == ".git" || at.ends_with("/.git");
            if in_git && !OF_GIT.contains(&name) {
                continue;
            }
            if self.files.len() >= MOST_FILES {
                return self.leave_out(format!("all but the first {MOST_FILES} files"));
            }
            self.take(folder, at, name, depth);
        }
    }

    fn take(&mut self, folder: &OwnedFd, at: &str, name: &str, depth: usize) {
        let path = if at.is_empty() {
            name.to_owned()
        } else {
            format!("{at}/{name}")
        };
        let Ok(stat) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return;
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if SKIPPED.contains(&name) => self.leave_out(path),
            FileType::Directory => match openat(folder, name, FOLDER, Mode::empty()) {
                Ok(inner) => self.enter(&inner, &path, depth + 1),
                Err(_) => self.leave_out(format!("{path}: cannot be read")),
            },
            kind @ (FileType::RegularFile | FileType::Symlink) => {
                let nanos = |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000) + nanos;
                let mark = Mark {
                    inode: stat.st_ino,
                    size: u64::try_from(stat.st_size).unwrap_or(u64::MAX),
                    modified: nanos(stat.st_mtime, stat.st_mtime_nsec as i64),
                    changed: nanos(stat.st_ctime, stat.st_ctime_nsec as i64),
                    link: kind == FileType::Symlink,
                };
                self.files.insert(path, mark);
            }
            _ => {}
        }
    }

    fn leave_out(&mut self, what: String) {
        if self.left_out.len() < MOST_TOLD {
            self.left_out.insert(what);
        }
    }
}
