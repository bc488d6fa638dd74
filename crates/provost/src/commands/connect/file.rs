//! A settings file and its backup. It is replaced whole or not at all, and found behind links. The backup lies
//! in the user's own folder, and nowhere else: the settings are often in a repository, where it would be
//! committed, and where others may have put a file that looks like one.

use std::{
    env,
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use provost_core::ids::hex;
use sha2::{Digest as _, Sha256};

use super::{
    diff::secrets,
    note::Note,
    repository::{as_named, behind_links, ensure_in_project},
};
use crate::{regular_file::read_text, user_folder::user_folder};

/// Below the user's folder.
const FOLDER: &str = "connections";
const BACKUP: &str = "provost-backup";
const MADE: &str = "provost-made";
const UNDONE: &str = "provost-undone";
const NOTE: &str = "json";
const NO_FOLDER: &str = "there is no folder to keep the old settings in: set HOME or PROVOST_STATE to an absolute \
     path";

/// Of bytes. A file that others may have put there, such as a link to a device, must not fill the memory.
pub(super) const LARGEST: u64 = 16 << 20;

/// For its owner alone.
const PRIVATE: u32 = 0o600;
/// What the umask takes from.
const PUBLIC: u32 = 0o666;

#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Behind all links.
    pub(super) path: PathBuf,
    /// As somebody named it.
    pub(super) named: PathBuf,
    pub(super) before: Option<Content>,
    /// Where backups are kept.
    backups: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) text: String,
    /// `None`: as new files are.
    mode: Option<u32>,
}

/// What there was before the first change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Backup {
    File(PathBuf, Content),
    /// No file; the mark says so.
    Nothing(PathBuf),
}

impl SettingsFile {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let folder = env::current_dir().context("there is no current folder")?;
        ensure_in_project(path, &folder)?;
        Self::open_in(path, user_folder().context(NO_FOLDER)?.join(FOLDER))
    }

    fn open_in(path: &Path, backups: PathBuf) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read `{}`", path.display());
        let named = as_named(path);
        let path = resolve(path).with_context(cannot)?;
        let before = Content::read(&path).with_context(cannot)?;
        Ok(Self {
            path,
            named,
            before,
            backups,
        })
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.before.as_ref().map(|content| content.text.as_str())
    }

    /// What the first change kept, where there was one.
    pub(super) fn backup(&self) -> anyhow::Result<Option<Backup>> {
        let path = self.kept(BACKUP);
        if is_kept(&path)? {
            let cannot = || format!("cannot read `{}`", path.display());
            let content = Content::read(&path).with_context(cannot)?;
            return Ok(content.map(|content| Backup::File(path, content)));
        }
        let mark = self.kept(MADE);
        Ok(is_kept(&mark)?.then_some(Backup::Nothing(mark)))
    }

    /// What is known of the connection, where there is one.
    pub(super) fn note(&self) -> Option<Note> {
        let text = read_text(&self.kept(NOTE), LARGEST).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// A file that is connected is changed again and put back only for the agent and by the path that it was connected
    /// with, or by its own: a link that somebody put elsewhere may lead to it.
    pub(super) fn ensure_meant(&self, agent: &str) -> anyhow::Result<()> {
        if self.backup()?.is_none() {
            return Ok(());
        }
        let (note, named, path) = (self.note(), self.named.display(), self.path.display());
        if let Some(other) = note.as_ref().and_then(|note| note.agent.as_deref()) {
            anyhow::ensure!(
                other == agent,
                "`{named}` is `{path}`, which is connected for {other}, and is left alone; take that back first if you \
                 mean it: `provost connect {other} --settings {path} --undo`"
            );
        }
        let is_known = note.is_some_and(|note| note.is_named(&self.named));
        anyhow::ensure!(
            is_known || self.named == self.path,
            "`{named}` leads to `{path}`, which was connected by another path, and is left alone; if you mean that \
             file, name it with --settings"
        );
        Ok(())
    }

    /// Kept until the connection is taken back.
    pub(super) fn write_note(&self, note: &Note) -> anyhow::Result<()> {
        Content::private(&serde_json::to_string_pretty(note)?).write(&self.kept(NOTE))
    }

    /// Writes the file, and keeps what there was unless something older is kept already.
    pub(super) fn change(&self, text: &str) -> anyhow::Result<Backup> {
        if let Some(older) = self.backup()? {
            self.write(text)?;
            return Ok(older);
        }
        let backup = self.back_up()?;
        if let Err(error) = self.write(text) {
            // It would be taken for that of a change which was made.
            let _ = remove(backup.path());
            return Err(error);
        }
        Ok(backup)
    }

    /// A copy of what is about to be undone.
    pub(super) fn set_aside(&self) -> anyhow::Result<Option<PathBuf>> {
        let Some(content) = &self.before else {
            return Ok(None);
        };
        let path = self.free(UNDONE);
        content.write(&path)?;
        Ok(Some(path))
    }

    /// So that a later one does not replace it.
    fn free(&self, ending: &str) -> PathBuf {
        let numbered = (2_u32..).map(|n| self.kept(&format!("{ending}-{n}")));
        let mut all = std::iter::once(self.kept(ending)).chain(numbered);
        let free = all.find(|path| fs::symlink_metadata(path).is_err());
        free.unwrap_or_else(|| self.kept(ending))
    }

    /// Whether the file can be replaced; its folder is made where it is missing.
    pub(super) fn ensure_writable(&self) -> anyhow::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let tried = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
        tried.with_context(|| format!("cannot write `{}`", self.path.display()))?;
        Ok(())
    }

    fn back_up(&self) -> anyhow::Result<Backup> {
        if let Some(content) = &self.before {
            let path = self.kept(BACKUP);
            content.write(&path)?;
            return Ok(Backup::File(path, content.clone()));
        }
        let mark = self.kept(MADE);
        Content::private("").write(&mark)?;
        Ok(Backup::Nothing(mark))
    }

    /// With a secret in it, it is for its owner alone from now on.
    fn write(&self, text: &str) -> anyhow::Result<()> {
        self.ensure_unchanged()?;
        let mut content = Content::private(text);
        if secrets(text).next().is_none() {
            content.mode = self.before.as_ref().and_then(|before| before.mode);
        }
        content.write(&self.path)
    }

    /// As it was before the first change, to the byte.
    pub(super) fn restore(&self, backup: &Backup) -> anyhow::Result<()> {
        self.ensure_unchanged()?;
        let cannot = || format!("cannot restore `{}`", self.path.display());
        match backup {
            // Not renamed: the backup may lie on another file system.
            Backup::File(_, content) => content.write(&self.path).with_context(cannot)?,
            Backup::Nothing(_) => remove(&self.path).with_context(cannot)?,
        }
        self.forget(backup)
    }

    /// What was kept of the file is not needed any more.
    pub(super) fn forget(&self, backup: &Backup) -> anyhow::Result<()> {
        for path in [backup.path(), &self.kept(NOTE)] {
            remove(path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
        Ok(())
    }

    /// Somebody may have written it while it was looked at.
    fn ensure_unchanged(&self) -> anyhow::Result<()> {
        let now = Content::read(&self.path)?;
        anyhow::ensure!(
            now == self.before,
            "`{}` was changed meanwhile, and is left alone; try again",
            self.path.display()
        );
        Ok(())
    }

    /// In the folder of backups, by a name that tells people and programs which file it is of.
    fn kept(&self, ending: &str) -> PathBuf {
        let hash = Sha256::digest(self.path.as_os_str().as_encoded_bytes());
        let short = hash.get(..8).map(hex).unwrap_or_default();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.backups.join(format!("{name}-{short}.{ending}"))
    }
}

impl Content {
    pub(super) fn private(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            mode: Some(PRIVATE),
        }
    }

    /// `None`: there is no such file.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        let text = match read_text(path, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let mode = Some(fs::metadata(path)?.permissions().mode() & 0o7777);
        Ok(Some(Self { text, mode }))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        self.replace(path)
            .with_context(|| format!("cannot write `{}`", path.display()))
    }

    fn replace(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mode = Permissions::from_mode(self.mode.unwrap_or(PUBLIC));
        let mut part = tempfile::Builder::new()
            .permissions(mode.clone())
            .tempfile_in(folder)?;
        part.write_all(self.text.as_bytes())?;
        if self.mode.is_some() {
            // Whatever the umask took.
            part.as_file().set_permissions(mode)?;
        }
        part.as_file().sync_all()?;
        part.persist(path)?;
        Ok(())
    }
}

impl Backup {
    fn path(&self) -> &Path {
        match self {
            Self::File(path, _) | Self::Nothing(path) => path,
        }
    }

    /// Where the file is kept, if there was one.
    pub(super) fn kept(&self) -> Option<&Path> {
        match self {
            Self::File(path, _) => Some(path),
            Self::Nothing(_) => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::File(_, content) => Some(&content.text),
            Self::Nothing(_) => None,
        }
    }
}

/// Whether there is such a file, and not a link to another.
fn is_kept(path: &Path) -> anyhow::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => Ok(true),
        Ok(_) => anyhow::bail!("`{}` is not a file; remove it", path.display()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// A file that is gone is as good as removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        resolved => return resolved,
    }
    if path.is_symlink() {
        return Err(io::Error::other("it is a link to a file that is not there"));
    }
    // As it will be found once it is made.
    std::path::absolute(path).map(|path| behind_links(&path))
}

#[cfg(test)]
mod tests;
