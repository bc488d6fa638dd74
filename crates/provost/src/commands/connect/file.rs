//! A settings file and its backup. It is replaced whole or not at all, and found behind links. The backup lies
//! in the user's own folder, and nowhere else: the settings are often in a repository, where it would be
//! committed, and where others may have put a file that looks like one.

use std::{
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use provost_core::ids::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::diff::secrets;
use crate::user_folder::user_folder;

/// Below the user's folder.
const FOLDER: &str = "connections";
const BACKUP: &str = "provost-backup";
const MADE: &str = "provost-made";
const UNDONE: &str = "provost-undone";
const NOTE: &str = "json";
const NO_FOLDER: &str = "there is no folder to keep the old settings in: set HOME or PROVOST_STATE to an absolute \
     path";

/// For its owner alone.
const PRIVATE: u32 = 0o600;
/// What the umask takes from.
const PUBLIC: u32 = 0o666;

#[derive(Debug)]
pub(super) struct SettingsFile {
    /// Behind all links.
    pub(super) path: PathBuf,
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

/// What is known of a connection: enough to take it back without the gateway, and under whichever name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// All that the file was connected with; the newest is the last.
    pub(super) keys: Vec<NotedKey>,
    /// Of what was written, which may hold a key.
    digest: String,
    /// Somebody changed the file between two connections, so that the backup lacks what they wrote.
    #[serde(default)]
    edited: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NotedKey {
    /// Also the agent's.
    pub(super) name: String,
    /// Where it lies, if in a file of its own.
    pub(super) file: Option<PathBuf>,
}

impl Note {
    /// `before`: what was noted when the file held `found`.
    pub(super) fn new(before: Option<Self>, found: &str, key: NotedKey, written: &str) -> Self {
        let edited = before.as_ref().is_some_and(|note| !note.is_of(found));
        let mut keys = before.map(|note| note.keys).unwrap_or_default();
        keys.retain(|known| known.name != key.name);
        keys.push(key);
        Self {
            keys,
            digest: digest(written),
            edited,
        }
    }

    /// Whether nobody but us has changed the file since the first connection.
    pub(super) fn is_of(&self, text: &str) -> bool {
        !self.edited && self.digest == digest(text)
    }
}

fn digest(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
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
        Self::open_in(path, user_folder().context(NO_FOLDER)?.join(FOLDER))
    }

    fn open_in(path: &Path, backups: PathBuf) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read `{}`", path.display());
        let path = resolve(path).with_context(cannot)?;
        let before = Content::read(&path).with_context(cannot)?;
        Ok(Self {
            path,
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
        let text = fs::read_to_string(self.kept(NOTE)).ok()?;
        serde_json::from_str(&text).ok()
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
    std::path::absolute(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With its backups in a folder of the test.
    fn open(path: &Path) -> SettingsFile {
        let folder = path
            .ancestors()
            .find(|folder| folder.join("backups").is_dir());
        SettingsFile::open_in(path, folder.unwrap().join("backups")).unwrap()
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("backups")).unwrap();
        folder
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_comes_back_to_the_byte_with_its_mode() {
        let folder = folder();
        let path = folder.path().join("settings.json");
        fs::write(&path, "{ }").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let file = open(&path);
        file.change(&format!("\"pvk_{}\"", "0a".repeat(32)))
            .unwrap();
        assert_eq!(mode(&path), 0o600);

        // A second change does not overwrite the backup.
        let file = open(&path);
        file.change("{\"a\": 2}").unwrap();

        let file = open(&path);
        let backup = file.backup().unwrap().unwrap();
        file.restore(&backup).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
        assert_eq!(mode(&path), 0o640);
        assert_eq!(file.backup().unwrap(), None);
    }

    #[test]
    fn a_file_that_was_not_there_goes_again() {
        let folder = folder();
        let path = folder.path().join("new/hooks.json");
        let file = open(&path);
        file.change("{}").unwrap();
        let file = open(&path);
        file.restore(&file.backup().unwrap().unwrap()).unwrap();
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = folder();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "{}").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        open(&link).write("[]").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "[]");
        fs::remove_file(&target).unwrap();
        assert!(SettingsFile::open_in(&link, folder.path().join("backups")).is_err());
    }

    #[test]
    fn what_somebody_wrote_meanwhile_is_not_overwritten() {
        let folder = folder();
        let path = folder.path().join("settings.json");
        let file = open(&path);
        fs::write(&path, "mine").unwrap();
        assert!(file.write("{}").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn p17_nothing_is_left_beside_the_settings() {
        let folder = folder();
        for (name, before) in [("old.json", Some("{ }")), ("new.json", None)] {
            let path = folder.path().join("repository").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
            let file = open(&path);
            file.change("{1}").unwrap();
            let key = |name: &str| NotedKey {
                name: name.to_owned(),
                file: None,
            };
            let note = Note::new(None, "", key("a"), "{0}");
            let note = Note::new(Some(note), "{0}", key("b"), "{0}");
            let note = Note::new(Some(note), "{0}", key("a"), "{1}");
            assert_eq!(note.keys, [key("b"), key("a")]);
            file.write_note(&note).unwrap();
            let beside = || fs::read_dir(path.parent().unwrap()).unwrap().count();
            assert_eq!(beside(), 1, "{name}");
            let file = open(&path);
            assert!(file.note().unwrap().is_of("{1}"));
            assert!(!file.note().unwrap().is_of("{2}"));
            file.restore(&file.backup().unwrap().unwrap()).unwrap();
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
            assert_eq!(beside(), usize::from(before.is_some()), "{name}");
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
        }
        let backups = fs::read_dir(folder.path().join("backups")).unwrap();
        assert_eq!(backups.count(), 0);
    }

    #[test]
    fn p17_what_somebody_wrote_between_two_connections_is_known() {
        let key = || NotedKey {
            name: "a".to_owned(),
            file: None,
        };
        let first = Note::new(None, "old", key(), "ours");
        let again = Note::new(Some(first.clone()), "ours", key(), "ours 2");
        assert!(again.is_of("ours 2"));
        let edited = Note::new(Some(first), "ours and mine", key(), "ours 2 and mine");
        let later = Note::new(Some(edited), "ours 2 and mine", key(), "ours 3 and mine");
        assert!(!later.is_of("ours 3 and mine"));
    }

    #[test]
    fn p17_nothing_that_was_set_aside_is_replaced() {
        let folder = folder();
        let path = folder.path().join("settings.json");
        for mine in ["one", "two", "three"] {
            fs::write(&path, mine).unwrap();
            let aside = open(&path).set_aside().unwrap().unwrap();
            assert_eq!(fs::read_to_string(aside).unwrap(), mine);
        }
        let backups = fs::read_dir(folder.path().join("backups")).unwrap();
        assert_eq!(backups.count(), 3);
    }

    #[test]
    fn p06_what_lies_beside_the_settings_is_no_backup() {
        let folder = folder();
        let settings = folder.path().join("hooks.json");
        let secret = folder.path().join("admin.key");
        fs::write(&secret, "pvk_secret").unwrap();
        let beside = |ending: &str| folder.path().join(format!("hooks.json.{ending}"));
        for plant in [
            &|| fs::write(beside(BACKUP), "planted").unwrap() as (),
            &|| std::os::unix::fs::symlink(&secret, beside(BACKUP)).unwrap(),
            &|| fs::write(beside(MADE), "").unwrap(),
        ] as [&dyn Fn(); 3]
        {
            plant();
            fs::write(&settings, "own").unwrap();
            assert_eq!(open(&settings).backup().unwrap(), None);
            open(&settings).change("connected").unwrap();
            let file = open(&settings);
            let aside = file.set_aside().unwrap().unwrap();
            assert!(aside.starts_with(folder.path().join("backups")));
            file.restore(&file.backup().unwrap().unwrap()).unwrap();
            assert_eq!(fs::read_to_string(&settings).unwrap(), "own");
            for ending in [BACKUP, MADE] {
                let _ = fs::remove_file(beside(ending));
            }
        }
        // Nor is a link in the folder of backups.
        std::os::unix::fs::symlink(&secret, open(&settings).kept(BACKUP)).unwrap();
        assert!(open(&settings).backup().is_err());
        assert!(open(&settings).change("connected").is_err());
    }
}
