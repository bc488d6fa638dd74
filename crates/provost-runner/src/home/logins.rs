//! Logins that an agent renews while it runs. Most tokens are good for one renewal, so the copy in the agent's home
//! and the user's file have to stay the same: whichever is renewed is copied to the other side.
//!
//! The agent may write its copy as it likes. So nothing in its home is followed out of it, and only what looks like
//! the login that was there is copied back: the same fields, with values of the same kinds.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    mem::discriminant,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::copy::LONGEST;

const FILE: &str = "logins.json";

/// One file on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Login {
    /// Where the agent has it: the first of these that is a file. A link to another one is none.
    inside: Vec<Place>,
    outside: PathBuf,
    /// Of what both were when they were last the same.
    sha256: String,
}

/// A file in a folder that the agent may write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    folder: PathBuf,
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Logins(Vec<Login>);

impl Place {
    /// The agent may have put anything in its place: a link, a pipe, a folder. Then it is none.
    fn open(&self, flags: OFlags) -> io::Result<Option<File>> {
        let Ok(folder) = File::open(&self.folder) else {
            return Ok(None);
        };
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let Ok(opened) = openat2(&folder, &self.path, flags, Mode::empty(), resolve) else {
            return Ok(None);
        };
        let file = File::from(opened);
        let regular = file.metadata()?.is_file();
        Ok(regular.then_some(file))
    }

    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match self.open(OFlags::RDONLY)? {
            Some(file) => bounded(file),
            None => Ok(None),
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(mut file) = self.open(OFlags::WRONLY)? {
            file.set_len(0)?;
            file.write_all(bytes)?;
        }
        Ok(())
    }
}

impl Login {
    pub(super) fn new(home: &Path, path: PathBuf, outside: PathBuf, bytes: &[u8]) -> Self {
        let folder = home.to_owned();
        Self {
            inside: vec![Place { folder, path }],
            outside,
            sha256: digest(bytes),
        }
    }

    /// Whether anything was copied. Where both sides were renewed, the user's counts.
    fn settle(&mut self) -> io::Result<bool> {
        let found = self.inside.iter().find_map(|place| {
            let bytes = place.read().transpose()?;
            Some(bytes.map(|bytes| (place.clone(), bytes)))
        });
        let (Some((place, inside)), Some(outside)) = (found.transpose()?, self.outside()?) else {
            return Ok(false);
        };
        let (ours, theirs) = (digest(&inside), digest(&outside));
        if ours == theirs {
            let moved = self.sha256 != ours;
            self.sha256 = ours;
            return Ok(moved);
        }
        if theirs != self.sha256 {
            place.write(&outside)?;
            self.sha256 = theirs;
            return Ok(true);
        }
        if !looks_like(&inside, &outside) {
            return Ok(false);
        }
        replace(&self.outside, &inside)?;
        self.sha256 = ours;
        Ok(true)
    }

    fn is_at(&self, path: &Path) -> bool {
        let mut places = self.inside.iter();
        places.any(|place| place.folder.join(&place.path) == path)
    }

    /// `None` if the user has logged out.
    fn outside(&self) -> io::Result<Option<Vec<u8>>> {
        match File::open(&self.outside) {
            Ok(file) => bounded(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Logins {
    pub(super) fn extend(&mut self, logins: Vec<Login>) {
        self.0.extend(logins);
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(FILE), serde_json::to_vec(self)?)
    }

    /// Every link in `folder` to one of these is a place where the agent has it, too: it may put a file there.
    pub(super) fn follow_links(&mut self, folder: &Path, below: &Path) -> io::Result<()> {
        for entry in fs::read_dir(below)? {
            let (kind, path) = entry.and_then(|entry| Ok((entry.file_type()?, entry.path())))?;
            if kind.is_dir() {
                self.follow_links(folder, &path)?;
            } else if kind.is_symlink()
                && let Ok(target) = fs::read_link(&path)
                && let Ok(path) = path.strip_prefix(folder)
            {
                let place = Place {
                    folder: folder.to_owned(),
                    path: path.to_owned(),
                };
                let logins = self.0.iter_mut();
                let linked = logins.filter(|login| login.is_at(&target));
                linked.for_each(|login| login.inside.insert(0, place.clone()));
            }
        }
        Ok(())
    }

    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
    }
}

/// Brings both sides of every login of a home together.
pub(super) fn settle(folder: &Path) {
    let Some(mut logins) = Logins::read(folder) else {
        return;
    };
    let mut moved = false;
    for login in &mut logins.0 {
        match login.settle() {
            Ok(settled) => moved |= settled,
            Err(error) => {
                let file = login.outside.display();
                tracing::warn!(%error, "the login `{file}` cannot be kept the same in the sandbox");
            }
        }
    }
    if moved && let Err(error) = logins.write(folder) {
        tracing::warn!(%error, "what was copied of logins cannot be noted");
    }
}

/// Whether there may be copies of logins in a home.
pub(super) fn are_noted(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

/// There is nothing left to bring together.
pub(super) fn forget(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILE));
}

fn digest(bytes: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(bytes))
}

/// `None` where it is longer than any login.
fn bounded(file: File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= LONGEST).then_some(bytes))
}

/// At once, with the same rights, so that nobody finds half of it.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mode = path.metadata()?.permissions().mode();
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    fs::set_permissions(file.path(), fs::Permissions::from_mode(mode & 0o777))?;
    file.persist(path)?;
    Ok(())
}

fn looks_like(new: &[u8], old: &[u8]) -> bool {
    let object = |bytes| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
    let (Some(new), Some(old)) = (object(new), object(old)) else {
        return false;
    };
    new.len() == old.len()
        && new.iter().all(|(name, value)| {
            let before = old.get(name);
            before.is_some_and(|before| discriminant(before) == discriminant(value))
        })
}
