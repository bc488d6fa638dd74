//! A settings file and its backup. It is replaced whole or not at all, and found behind links.

use std::{
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::diff::secrets;

/// For its owner alone.
const PRIVATE: u32 = 0o600;
/// What the umask takes from.
const PUBLIC: u32 = 0o666;

#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Behind all links.
    pub(super) path: PathBuf,
    pub(super) before: Option<Content>,
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
        let cannot = || format!("cannot read `{}`", path.display());
        let path = resolve(path).with_context(cannot)?;
        let before = Content::read(&path).with_context(cannot)?;
        Ok(Self { path, before })
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.before.as_ref().map(|content| content.text.as_str())
    }

    /// What the first change kept, where there was one.
    pub(super) fn backup(&self) -> anyhow::Result<Option<Backup>> {
        let path = self.beside("provost-backup");
        let cannot = || format!("cannot read `{}`", path.display());
        if let Some(content) = Content::read(&path).with_context(cannot)? {
            return Ok(Some(Backup::File(path, content)));
        }
        let mark = self.beside("provost-made");
        Ok(mark.exists().then_some(Backup::Nothing(mark)))
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
        let path = self.beside("provost-undone");
        content.write(&path)?;
        Ok(Some(path))
    }

    fn back_up(&self) -> anyhow::Result<Backup> {
        if let Some(content) = &self.before {
            let path = self.beside("provost-backup");
            content.write(&path)?;
            return Ok(Backup::File(path, content.clone()));
        }
        let mark = self.beside("provost-made");
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
            Backup::File(path, _) => fs::rename(path, &self.path).with_context(cannot),
            Backup::Nothing(mark) => {
                remove(&self.path).with_context(cannot)?;
                remove(mark).with_context(cannot)
            }
        }
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

    fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".");
        path.push(ending);
        path.into()
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
        let text = match fs::read_to_string(path) {
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

    /// What it kept is not needed any more.
    pub(super) fn forget(&self) -> anyhow::Result<()> {
        let path = self.path();
        remove(path).with_context(|| format!("cannot remove `{}`", path.display()))
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
    std::path::absolute(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_comes_back_to_the_byte_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "{ }").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let file = SettingsFile::open(&path).unwrap();
        file.change(&format!("\"pvk_{}\"", "0a".repeat(32)))
            .unwrap();
        assert_eq!(mode(&path), 0o600);

        // A second change does not overwrite the backup.
        let file = SettingsFile::open(&path).unwrap();
        file.change("{\"a\": 2}").unwrap();

        let file = SettingsFile::open(&path).unwrap();
        let backup = file.backup().unwrap().unwrap();
        file.restore(&backup).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
        assert_eq!(mode(&path), 0o640);
        assert_eq!(file.backup().unwrap(), None);
    }

    #[test]
    fn a_file_that_was_not_there_goes_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/hooks.json");
        let file = SettingsFile::open(&path).unwrap();
        file.change("{}").unwrap();
        let file = SettingsFile::open(&path).unwrap();
        file.restore(&file.backup().unwrap().unwrap()).unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "{}").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        SettingsFile::open(&link).unwrap().write("[]").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "[]");
        fs::remove_file(&target).unwrap();
        assert!(SettingsFile::open(&link).is_err());
    }

    #[test]
    fn what_somebody_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let file = SettingsFile::open(&path).unwrap();
        fs::write(&path, "mine").unwrap();
        assert!(file.write("{}").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
