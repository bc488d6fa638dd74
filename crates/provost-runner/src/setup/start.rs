//! Where an agent's program is started. Not in its repository: `npx` runs what lies in the `node_modules` of the
//! folder it is started in, `python -m` what is in the folder itself, and both may be planted. The repository is
//! what the agent is told over ACP, which has it work there wherever it was started.

use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A folder of one run's own, which goes with it.
#[derive(Debug)]
pub struct StartFolder {
    start: PathBuf,
    own: PathBuf,
    _folder: TempDir,
}

impl StartFolder {
    /// Below `parent`, a folder of the user's; where that cannot be written, among the temporary files.
    pub(super) fn new(parent: Option<&Path>) -> io::Result<Self> {
        let folder = match parent.map(below) {
            Some(Ok(folder)) => folder,
            Some(Err(_)) | None => named().tempdir()?,
        };
        let start = folder.path().join("start");
        let own = folder.path().join("own");
        for folder in [&start, &own] {
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        // npm looks for a project from here upwards, and this is one.
        fs::write(start.join("package.json"), "{}\n")?;
        Ok(Self {
            start,
            own,
            _folder: folder,
        })
    }

    pub fn path(&self) -> &Path {
        &self.start
    }

    /// For the files of the agent's overlay, and what it keeps beside them.
    pub fn own(&self) -> &Path {
        &self.own
    }
}

fn below(parent: &Path) -> io::Result<TempDir> {
    let mut private = DirBuilder::new();
    private.recursive(true).mode(0o700).create(parent)?;
    named().tempdir_in(parent)
}

fn named() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder
        .prefix("start-")
        .permissions(Permissions::from_mode(0o700));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_a_run_is_started_in_a_folder_of_its_own() {
        let state = tempfile::tempdir().unwrap();
        let parent = state.path().join("a/b");
        let one = StartFolder::new(Some(&parent)).unwrap();
        let other = StartFolder::new(Some(&parent)).unwrap();
        assert_ne!(one.path(), other.path());
        assert!(one.path().starts_with(&parent));
        let mode = one.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let path = one.path().to_owned();
        drop(one);
        assert!(!path.exists());
    }
}
