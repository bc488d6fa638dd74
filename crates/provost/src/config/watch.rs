//! Notices that a configuration's files changed, by looking: notification of changes differs by system and
//! fails silently on mounts, and a look at a few files twice a second costs nothing.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tokio::time::{Interval, MissedTickBehavior, interval};

const EVERY: Duration = Duration::from_millis(500);

/// What can be told of files without reading them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    files: BTreeMap<PathBuf, Stamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stamp {
    Absent,
    File {
        modified: Option<SystemTime>,
        length: u64,
        identity: (u64, i64, i64),
    },
    Folder {
        names: Vec<OsString>,
    },
}

impl Fingerprint {
    pub(crate) fn of(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let mut fingerprint = Self::default();
        paths
            .into_iter()
            .for_each(|path| fingerprint.note(path.as_ref()));
        fingerprint
    }

    /// The same files, as they are now.
    pub(crate) fn again(&self) -> Self {
        Self::of(self.files.keys())
    }

    #[cfg(test)]
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }

    pub(super) fn note(&mut self, path: &Path) {
        self.files.insert(path.to_owned(), Stamp::of(path));
    }
}

impl Stamp {
    fn of(path: &Path) -> Self {
        let Ok(metadata) = fs::metadata(path) else {
            return Self::Absent;
        };
        if metadata.is_dir() {
            let Ok(entries) = fs::read_dir(path) else {
                return Self::Absent;
            };
            let mut names: Vec<_> = entries
                .filter_map(|entry| Some(entry.ok()?.file_name()))
                .collect();
            names.sort();
            return Self::Folder { names };
        }
        Self::File {
            modified: metadata.modified().ok(),
            length: metadata.len(),
            identity: identity(&metadata),
        }
    }
}

/// The inode, and when it last changed: a file replaced by one of the same age and length is another.
#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

/// Says when the files differ from what was last read.
pub(crate) struct Watch {
    settle: Settle,
    ticks: Interval,
}

impl Watch {
    /// `read` is the fingerprint of what is in force: [`super::Loaded::fingerprint`].
    pub(crate) fn new(read: Fingerprint) -> Self {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            settle: Settle::new(read),
            ticks,
        }
    }

    /// Returns when the files changed, and then stayed as they are for one look. Cancel safe.
    pub(crate) async fn changed(&mut self) {
        loop {
            self.ticks.tick().await;
            let known = self.settle.read.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || known.again()).await else {
                continue;
            };
            if self.settle.look(now) {
                return;
            }
        }
    }

    /// Goes on from what was read now.
    pub(crate) fn follow(&mut self, read: Fingerprint) {
        self.settle = Settle::new(read);
    }
}

/// A change counts once it is over: an editor may write a file in several steps.
struct Settle {
    read: Fingerprint,
    last: Option<Fingerprint>,
}

impl Settle {
    fn new(read: Fingerprint) -> Self {
        Self { read, last: None }
    }

    fn look(&mut self, now: Fingerprint) -> bool {
        if now == self.read {
            self.last = None;
            return false;
        }
        let settled = self.last.as_ref() == Some(&now);
        if settled {
            // Reported once, even if nobody follows up.
            self.read = now;
            self.last = None;
        } else {
            self.last = Some(now);
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_when_it_stayed_for_one_look() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "1").unwrap();
        let one = Fingerprint::of([&path]);
        fs::write(&path, "12").unwrap();
        let two = Fingerprint::of([&path]);
        fs::write(&path, "123").unwrap();
        let three = Fingerprint::of([&path]);
        let mut settle = Settle::new(one.clone());
        for (now, expected) in [
            (&one, false),
            (&two, false),
            (&three, false),
            (&three, true),
            (&three, false),
            (&two, false),
            (&three, false),
        ] {
            assert_eq!(settle.look(now.clone()), expected);
        }
    }

    #[test]
    fn replaced_added_and_removed_files_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.yaml"), folder.path().join("b.yaml"));
        fs::write(&path, "same").unwrap();
        let before = Fingerprint::of([folder.path(), &path]);
        assert_eq!(before.again(), before);

        fs::write(&other, "same").unwrap();
        let added = before.again();
        assert_ne!(added, before);

        fs::rename(&other, &path).unwrap();
        let replaced = before.again();
        assert_ne!(replaced, before);

        fs::remove_file(&path).unwrap();
        assert_ne!(before.again(), replaced);
        assert_eq!(before.again().paths(), before.paths());
    }

    #[tokio::test(start_paused = true)]
    async fn the_watch_returns_after_a_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        fs::write(&path, "1").unwrap();
        let mut watch = Watch::new(Fingerprint::of([&path]));
        fs::write(&path, "12").unwrap();
        watch.changed().await;
        watch.follow(Fingerprint::of([&path]));
        assert!(!watch.settle.look(Fingerprint::of([&path])));
    }
}
