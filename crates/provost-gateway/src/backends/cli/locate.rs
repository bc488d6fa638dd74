//! Which file a program's name means. It is settled before a call, so that neither the working
//! directory nor anything in an argument has a say in it.

use std::{
    collections::BTreeMap,
    env,
    ffi::OsString,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use crate::secret::Secret;

/// A name with a slash is a path; any other is looked up in the `PATH` the program will have.
pub(super) fn locate(bin: &str, configured: &BTreeMap<String, Secret>) -> Option<PathBuf> {
    if bin.contains('/') {
        return std::path::absolute(bin)
            .ok()
            .filter(|path| is_executable(path));
    }
    let path = configured
        .get("PATH")
        .map(|path| OsString::from(path.expose()))
        .or_else(|| env::var_os("PATH"))?;
    env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(bin))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
