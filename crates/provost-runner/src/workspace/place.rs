//! Where a path leads inside the repository. The walk goes through directory handles, one name at a time,
//! and follows links itself, so nothing outside is ever opened and a link that is swapped meanwhile is not
//! followed. Unlike `openat2`, it needs no particular kernel and accepts absolute links that stay inside.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::acp::RpcError;

/// As many links as the kernel itself would follow.
const LINKS: usize = 40;

const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The folder that an agent works in, held open.
pub(super) struct Root {
    /// As the agent was told, which may lead through links.
    given: PathBuf,
    real: PathBuf,
    folder: OwnedFd,
}

/// A path inside the root that holds no links.
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The deepest folder on the way that exists.
    folder: OwnedFd,
    /// Folders that are missing below it.
    missing: Vec<OsString>,
    /// None for a folder, which `folder` is then itself.
    pub(super) name: Option<OsString>,
    pub(super) stat: Option<Stat>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Astray {
    #[error("is not an absolute path")]
    Relative,
    #[error("holds a zero byte")]
    Zero,
    #[error("is outside of the workspace")]
    Outside,
    #[error("leads through a link whose target does not exist")]
    Dangling,
    #[error("leads through too many links")]
    Links,
    #[error("does not exist")]
    Missing,
    #[error("leads through something that is not a folder")]
    NotFolder,
    #[error("cannot be reached: {0}")]
    Io(#[from] Errno),
}

impl Astray {
    pub(super) fn rpc(self, path: &Path) -> RpcError {
        match self {
            Self::Missing => RpcError::file_not_found(path),
            other => RpcError::invalid(format!("`{}` {other}", path.display())),
        }
    }
}

impl Root {
    pub(super) fn open(given: &Path) -> std::io::Result<Self> {
        let given = std::path::absolute(given)?;
        let real = given.canonicalize()?;
        let folder = openat(CWD, &real, FOLDER, Mode::empty())?;
        Ok(Self {
            given,
            real,
            folder,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.real
    }

    /// Where `path` leads, whether something is there already or not.
    pub(super) fn resolve(&self, path: &Path) -> Result<Place, Astray> {
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(Astray::Zero);
        }
        if !path.is_absolute() {
            return Err(Astray::Relative);
        }
        let rest = steps(&self.inside(path)?, Origin::Asked);
        Walk {
            root: self,
            trail: Vec::new(),
            rest,
            links: 0,
        }
        .run()
    }

    /// The part of an absolute path below the root.
    fn inside(&self, path: &Path) -> Result<PathBuf, Astray> {
        let below = |path: &Path| {
            path.strip_prefix(&self.given)
                .or_else(|_| path.strip_prefix(&self.real))
                .map(Path::to_path_buf)
        };
        below(path)
            .or_else(|_| below(&without_dots(path)))
            .map_err(|_| Astray::Outside)
    }
}

impl Place {
    pub(super) fn is(&self, kind: FileType) -> bool {
        self.stat
            .is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind)
    }

    /// The folder that the named thing is in; None while that folder is still to be made.
    pub(super) fn folder(&self) -> Option<BorrowedFd<'_>> {
        self.missing.is_empty().then(|| self.folder.as_fd())
    }

    /// The folder that the named thing is in, made if need be.
    pub(super) fn make_folder(self) -> Result<OwnedFd, Errno> {
        self.missing.iter().try_fold(self.folder, |above, name| {
            match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => openat(&above, name, FOLDER, Mode::empty()),
                Err(error) => Err(error),
            }
        })
    }
}

/// Who a step of a walk comes from: a name that is missing may be made when the agent asked for it, not
/// when a link named it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Asked,
    Link,
}

enum Step {
    Up,
    Into(OsString, Origin),
}

struct Walk<'a> {
    root: &'a Root,
    trail: Vec<(OsString, OwnedFd)>,
    rest: VecDeque<Step>,
    links: usize,
}

impl Walk<'_> {
    fn run(mut self) -> Result<Place, Astray> {
        while let Some(step) = self.rest.pop_front() {
            match step {
                Step::Up if self.trail.pop().is_some() => {}
                Step::Up => self.leave()?,
                Step::Into(name, origin) => {
                    if let Some(place) = self.enter(name, origin)? {
                        return Ok(place);
                    }
                }
            }
        }
        let stat = rustix::fs::fstat(self.here())?;
        self.place(None, Vec::new(), Some(stat))
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.trail
            .last()
            .map_or(self.root.folder.as_fd(), |(_, folder)| folder.as_fd())
    }

    /// Above the root there is only the way back into it.
    fn leave(&mut self) -> Result<(), Astray> {
        let above = self.root.real.parent().ok_or(Astray::Outside)?;
        let mut path = above.to_path_buf();
        let origin = self.rest.iter().fold(Origin::Asked, |origin, step| {
            path.push(match step {
                Step::Up => OsStr::new(".."),
                Step::Into(name, _) => name,
            });
            match step {
                Step::Into(_, Origin::Link) => Origin::Link,
                _ => origin,
            }
        });
        self.rest = steps(&self.root.inside(&path)?, origin);
        Ok(())
    }

    fn enter(&mut self, name: OsString, origin: Origin) -> Result<Option<Place>, Astray> {
        let stat = match statat(self.here(), &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) if origin == Origin::Link => return Err(Astray::Dangling),
            Err(Errno::NOENT) => return self.unmade(name).map(Some),
            Err(error) => return Err(error.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => self.follow(&name)?,
            FileType::Directory => {
                let folder = openat(self.here(), &name, FOLDER, Mode::empty())?;
                self.trail.push((name, folder));
            }
            _ if self.rest.is_empty() => {
                return self.place(Some(name), Vec::new(), Some(stat)).map(Some);
            }
            _ => return Err(Astray::NotFolder),
        }
        Ok(None)
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), Astray> {
        self.links += 1;
        if self.links > LINKS {
            return Err(Astray::Links);
        }
        let target = readlinkat(self.here(), name, Vec::new())?;
        let mut target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            target = self.root.inside(&target)?;
            self.trail.clear();
        }
        let mut ahead = steps(&target, Origin::Link);
        ahead.append(&mut self.rest);
        self.rest = ahead;
        Ok(())
    }

    /// Nothing has this name yet, so nothing below it can lead anywhere but down.
    fn unmade(&mut self, first: OsString) -> Result<Place, Astray> {
        let mut names = vec![first];
        for step in self.rest.drain(..) {
            match step {
                Step::Into(name, _) => names.push(name),
                Step::Up => return Err(Astray::Missing),
            }
        }
        let name = names.pop();
        self.place(name, names, None)
    }

    fn place(
        &mut self,
        name: Option<OsString>,
        missing: Vec<OsString>,
        stat: Option<Stat>,
    ) -> Result<Place, Astray> {
        let mut path = self.root.real.clone();
        path.extend(self.trail.iter().map(|(name, _)| name));
        path.extend(missing.iter().chain(&name));
        Ok(Place {
            path,
            folder: self.here().try_clone_to_owned().map_err(from_io)?,
            missing,
            name,
            stat,
        })
    }
}

fn from_io(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

fn steps(path: &Path, origin: Origin) -> VecDeque<Step> {
    path.components()
        .filter_map(|component| match component {
            Component::ParentDir => Some(Step::Up),
            Component::Normal(name) => Some(Step::Into(name.to_owned(), origin)),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// Takes `..` by the letter, which is enough above the root: the walk itself starts at the root's handle.
fn without_dots(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut clean, part| {
        if part == Component::ParentDir {
            clean.pop();
        } else {
            clean.push(part);
        }
        clean
    })
}

#[cfg(test)]
mod tests;
