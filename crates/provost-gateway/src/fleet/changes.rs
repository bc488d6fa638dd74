//! What changed in the folder of a run since it began: a snapshot is taken before its agent starts, and compared
//! with what is there. At the end of the run the comparison is kept, and the snapshot goes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::FileExt as _,
    path::Path,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use tokio::time::Instant;

use super::{
    folder::{Folder, private},
    tree::{LARGEST, Mark, Root},
};

const SNAPSHOT: &str = "before.json";
const CONTENT: &str = "before.bin";
const CHANGES: &str = "changes.json";
/// What is kept of the files' content.
const MOST_CONTENT: u64 = 64 * 1024 * 1024;
const MOST_FILES: usize = 500;
const LONGEST_DIFF: usize = 64 * 1024;
const MOST_DIFFS: usize = 2 * 1024 * 1024;
/// For one file, and for all.
const PATIENCE: Duration = Duration::from_millis(250);
const PATIENCE_IN_ALL: Duration = Duration::from_secs(5);

/// What changed, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    pub files: Vec<Changed>,
    /// What was not looked at, in words.
    #[serde(default)]
    pub left_out: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub path: String,
    pub change: Change,
    /// Lines.
    pub added: usize,
    pub removed: usize,
    /// A unified diff.
    pub diff: Option<String>,
    /// Why there is none.
    pub why: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    Added,
    Changed,
    Removed,
}

#[derive(Serialize, Deserialize)]
struct Snapshot {
    files: BTreeMap<String, Kept>,
    left_out: BTreeSet<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Kept {
    mark: Mark,
    /// Where its content is, and how long.
    content: Option<(u64, u64)>,
}

impl Change {
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// Keeps what a folder holds. Only the first time: whoever goes on goes on from there.
pub(super) fn take(folder: &Folder, repo: &Path) -> io::Result<()> {
    if folder.path().join(SNAPSHOT).exists() {
        return Ok(());
    }
    let root = Root::open(repo)?;
    let tree = root.walk()?;
    let mut content = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(folder.path().join(CONTENT))?;
    let mut left_out = tree.left_out;
    let mut end = 0;
    let mut files = BTreeMap::new();
    for (path, mark) in tree.files {
        let mut place = None;
        if end + mark.size > MOST_CONTENT && mark.size <= LARGEST {
            left_out.insert("the content of some files: there is too much".to_owned());
        } else if let Some(bytes) = root.read(&path, mark) {
            content.write_all(&bytes)?;
            place = Some((end, bytes.len() as u64));
            end += bytes.len() as u64;
        }
        let kept = Kept {
            mark,
            content: place,
        };
        files.insert(path, kept);
    }
    folder.write(SNAPSHOT, &Snapshot { files, left_out })
}

/// What changed until now, or until the end of the run. `None`: what was there before is not known.
pub(super) fn read(folder: &Folder, repo: &Path) -> Option<Changes> {
    let ended = || folder.read::<Changes>(CHANGES);
    ended()
        .or_else(|| compare(folder, repo))
        // It may have ended meanwhile.
        .or_else(ended)
}

/// Keeps what changed until the end.
pub(super) fn close(folder: &Folder, repo: &Path) {
    let Some(changes) = compare(folder, repo) else {
        return;
    };
    if let Err(error) = folder.write(CHANGES, &changes) {
        tracing::warn!(%error, "what a run changed cannot be kept");
    }
    for name in [SNAPSHOT, CONTENT] {
        let _ = fs::remove_file(folder.path().join(name));
    }
}

fn compare(folder: &Folder, repo: &Path) -> Option<Changes> {
    let before: Snapshot = folder.read(SNAPSHOT)?;
    let content = File::open(folder.path().join(CONTENT)).ok()?;
    let root = Root::open(repo).ok()?;
    let now = root.walk().ok()?;
    let mut left_out = before.left_out;
    left_out.extend(now.left_out);
    let mut files = Vec::new();
    let (mut room, until) = (MOST_DIFFS, Instant::now() + PATIENCE_IN_ALL);
    let paths: BTreeSet<_> = before.files.keys().chain(now.files.keys()).collect();
    for path in paths {
        let (was, is) = (before.files.get(path), now.files.get(path));
        if was.map(|kept| kept.mark).as_ref() == is {
            continue;
        }
        if files.len() >= MOST_FILES {
            left_out.insert(format!("all but the first {MOST_FILES} files that changed"));
            break;
        }
        let old = was.map_or(Side::Missing, |kept| Side::of(kept.read(&content)));
        let new = is.map_or(Side::Missing, |mark| Side::of(root.read(path, *mark)));
        if let (Side::Bytes(old), Side::Bytes(new)) = (&old, &new)
            && old == new
        {
            continue;
        }
        let changed = told(&old, &new, path, room, until);
        room = room.saturating_sub(changed.diff.as_ref().map_or(0, String::len));
        files.push(changed);
    }
    Some(Changes { files, left_out })
}

impl Kept {
    fn read(&self, content: &File) -> Option<Vec<u8>> {
        let (at, length) = self.content?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        content.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }
}

/// A file before or now.
enum Side {
    Missing,
    /// It is too large, or cannot be read.
    Unknown,
    Bytes(Vec<u8>),
}

impl Side {
    fn of(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Self::Unknown, Self::Bytes)
    }

    fn text(&self) -> Result<&str, &'static str> {
        match self {
            Self::Missing => Ok(""),
            Self::Unknown => Err("it is too large, or cannot be read"),
            Self::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(text),
                _ => Err("it is no text"),
            },
        }
    }
}

fn told(old: &Side, new: &Side, path: &str, room: usize, until: Instant) -> Changed {
    let change = match (old, new) {
        (Side::Missing, _) => Change::Added,
        (_, Side::Missing) => Change::Removed,
        _ => Change::Changed,
    };
    let mut changed = Changed {
        path: path.to_owned(),
        change,
        added: 0,
        removed: 0,
        diff: None,
        why: None,
    };
    let why = match (old.text(), new.text()) {
        _ if Instant::now() > until => "there is too much to compare",
        (Ok(old), Ok(new)) => match diff(old, new, &mut changed) {
            Some(diff) if diff.len() <= room => {
                changed.diff = Some(diff);
                return changed;
            }
            _ => "the difference is too long",
        },
        (Err(why), _) | (_, Err(why)) => why,
    };
    changed.why = Some(why.to_owned());
    changed
}

fn diff(old: &str, new: &str, changed: &mut Changed) -> Option<String> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => changed.added += 1,
            ChangeTag::Delete => changed.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    let shown = diff.unified_diff().context_radius(3).to_string();
    (shown.len() <= LONGEST_DIFF).then_some(shown)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn stage() -> (tempfile::TempDir, Folder, std::path::PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let repo = place.path().join("repo");
        fs::create_dir_all(repo.join("src")).unwrap();
        let folder = Folder::at(place.path().join("run"));
        folder.make().unwrap();
        (place, folder, repo)
    }

    fn listed(changes: &Changes) -> Vec<(&str, &str, usize, usize)> {
        let files = changes.files.iter();
        files
            .map(|one| (&*one.path, one.change.name(), one.added, one.removed))
            .collect()
    }

    #[test]
    fn what_changed_is_told_by_file() {
        let (_place, folder, repo) = stage();
        let write = |name: &str, text: &str| fs::write(repo.join(name), text).unwrap();
        write("same", "a\n");
        write("src/main.rs", "one\ntwo\n");
        write("gone", "x\n");
        write("touched", "t\n");
        take(&folder, &repo).unwrap();
        write("src/main.rs", "one\n2\nthree\n");
        write("touched", "t\n");
        write("new", "n\n");
        fs::write(repo.join("binary"), [0, 1, 2]).unwrap();
        fs::remove_file(repo.join("gone")).unwrap();
        let changes = read(&folder, &repo).unwrap();
        assert_eq!(
            listed(&changes),
            [
                ("binary", "added", 0, 0),
                ("gone", "removed", 0, 1),
                ("new", "added", 1, 0),
                ("src/main.rs", "changed", 2, 1),
            ]
        );
        let diff = changes.files[3].diff.as_ref().unwrap();
        assert!(diff.contains("-two\n+2\n+three\n"), "{diff}");
        assert_eq!(changes.files[0].why.as_deref(), Some("it is no text"));
        // What comes after the end is not the run's, and the snapshot is not kept.
        close(&folder, &repo);
        write("later", "l\n");
        assert_eq!(read(&folder, &repo).unwrap(), changes);
        assert!(!folder.path().join(CONTENT).exists());
    }

    #[test]
    fn nothing_outside_is_read_and_nothing_is_run() {
        let (place, folder, repo) = stage();
        let secret = place.path().join("secret");
        fs::write(&secret, "hunter2\n").unwrap();
        fs::create_dir_all(repo.join(".git/hooks")).unwrap();
        fs::create_dir_all(repo.join(".git/objects")).unwrap();
        fs::create_dir_all(repo.join("node_modules/x")).unwrap();
        fs::write(repo.join(".git/config"), "[core]\n").unwrap();
        take(&folder, &repo).unwrap();
        let marker = place.path().join("ran");
        let run = format!("[core]\n\tfsmonitor = touch {}\n", marker.display());
        fs::write(repo.join(".git/config"), run).unwrap();
        fs::write(repo.join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
        fs::write(repo.join(".git/objects/x"), "o").unwrap();
        fs::write(repo.join(".gitattributes"), "* filter=x diff=x\n").unwrap();
        fs::write(repo.join(".gitignore"), "*\n").unwrap();
        fs::write(repo.join("node_modules/x/y"), "o").unwrap();
        symlink(&secret, repo.join("link")).unwrap();
        symlink(place.path(), repo.join("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            repo.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        let changes = read(&folder, &repo).unwrap();
        let paths: Vec<_> = changes.files.iter().map(|one| &*one.path).collect();
        let expected = [
            ".git/config",
            ".git/hooks/pre-commit",
            ".gitattributes",
            ".gitignore",
            "folder",
            "link",
        ];
        assert_eq!(paths, expected);
        let all = serde_json::to_string(&changes).unwrap();
        assert!(
            !all.contains("hunter2") && all.contains("link to "),
            "{all}"
        );
        assert!(changes.left_out.contains("node_modules"), "{all}");
        assert!(!marker.exists());
    }
}
