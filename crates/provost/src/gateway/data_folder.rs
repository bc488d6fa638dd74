//! The data folder at start. It holds the record and a key that decides, so it must be this user's: a folder that a
//! repository brought along would make whoever wrote it an admin.

use std::{
    fs::{self, DirBuilder, File, Metadata},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::Path,
};

use anyhow::Context as _;

use provost_store::StoreConfig;

use super::DataFolder;
use crate::{config::Config, context::ADMIN_KEY, heads::Heads, registry::this_user};

/// What anybody but the owner may do with a file.
const OTHERS: u32 = 0o077;

/// Makes the folder, or looks whether it can be trusted. Nothing in it has been read by then.
pub(super) fn prepare(data: &Path, folder: DataFolder) -> anyhow::Result<()> {
    // One that somebody named, and that was there, may hold other things.
    let is_ours = folder == DataFolder::Found || !data.exists();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .with_context(|| format!("cannot make the data folder `{}`", data.display()))?;
    if is_ours {
        // It may lie in a repository, and holds keys. Without it everything works as well.
        let _ =
            File::create_new(data.join(".gitignore")).and_then(|mut file| file.write_all(b"*\n"));
    }
    let about = fs::metadata(data)
        .with_context(|| format!("cannot look at the data folder `{}`", data.display()))?;
    check_folder(data, &about, this_user())?;
    let key = data.join(ADMIN_KEY);
    match fs::symlink_metadata(&key) {
        Ok(about) => check_key(&key, &about, this_user()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", key.display())),
    }
}

/// Volumes are often root's, and their group's to write.
fn check_folder(data: &Path, about: &Metadata, user: u32) -> anyhow::Result<()> {
    let shown = data.display();
    anyhow::ensure!(
        about.uid() == user || about.uid() == 0,
        "the data folder `{shown}` belongs to another user, who could decide here; name a folder of your own with \
         --data"
    );
    anyhow::ensure!(
        about.mode() & 0o002 == 0,
        "everybody on this machine may write to the data folder `{shown}`; run `chmod o-w {shown}`, or name a folder \
         below it with --data"
    );
    Ok(())
}

fn check_key(key: &Path, about: &Metadata, user: u32) -> anyhow::Result<()> {
    let shown = key.display();
    let help = "if you do not know where it comes from, remove it, and a new key is made";
    anyhow::ensure!(
        about.is_file(),
        "`{shown}` is not a file: the admin key lies in the data folder itself; {help}"
    );
    anyhow::ensure!(
        about.uid() == user,
        "the admin key `{shown}` belongs to another user, who could decide here; {help}"
    );
    anyhow::ensure!(
        about.mode() & OTHERS == 0,
        "others may read the admin key `{shown}`; {help}; if it is yours, run `chmod 600 {shown}`"
    );
    Ok(())
}

/// A folder that nobody named, with a record of which nothing is known, or with a key and no record: it came with the
/// current folder.
pub(super) async fn refuse_unknown(config: &Config, heads: &Heads) -> anyhow::Result<()> {
    let StoreConfig::Sqlite { path } = &super::store_config(config) else {
        return Ok(());
    };
    if path.parent() != Some(config.data.as_path()) {
        return Ok(());
    }
    if !path.exists() {
        let has_key = config.data.join(ADMIN_KEY).exists();
        anyhow::ensure!(
            !has_key,
            unnamed(&config.data, "an admin key and no record")
        );
        return Ok(());
    }
    let is_new = heads.is_new(&super::store_config(config)).await?;
    let found = match heads.file() {
        Some(_) => "a record that you have not begun",
        None => {
            "a record, and without HOME or PROVOST_STATE nothing tells whether you have begun it"
        }
    };
    anyhow::ensure!(!is_new, unnamed(&config.data, found));
    Ok(())
}

pub(super) fn unnamed(data: &Path, found: &str) -> anyhow::Error {
    let shown = data.display();
    anyhow::anyhow!(
        "`{shown}` holds {found}, and nobody said that the folder is yours: it may have come with the current folder\n\
         help: if it is yours, name it once: `provost serve --data {shown}`. Otherwise start in another folder, or \
         remove it"
    )
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn refused(data: &Path) -> String {
        prepare(data, DataFolder::Named).unwrap_err().to_string()
    }

    #[test]
    fn p06_a_key_that_others_may_have_planted_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (data, elsewhere) = (folder.path().join("data"), folder.path().join("k"));
        prepare(&data, DataFolder::Named).unwrap();
        let key = data.join(ADMIN_KEY);
        fs::write(&key, "pvk_planted").unwrap();
        for (mode, good) in [
            (0o644, false),
            (0o640, false),
            (0o604, false),
            (0o600, true),
        ] {
            fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
            assert_eq!(prepare(&data, DataFolder::Named).is_ok(), good, "{mode:o}");
        }
        let about = fs::metadata(&key).unwrap();
        let other = check_key(&key, &about, this_user() + 1).unwrap_err();
        assert!(other.to_string().contains("another user"), "{other}");
        fs::rename(&key, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &key).unwrap();
        assert!(refused(&data).contains("is not a file"));
    }

    #[test]
    fn p06_a_folder_of_others_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        prepare(&data, DataFolder::Named).unwrap();
        for (mode, good) in [
            (0o777, false),
            (0o702, false),
            (0o2775, true),
            (0o755, true),
        ] {
            fs::set_permissions(&data, Permissions::from_mode(mode)).unwrap();
            assert_eq!(prepare(&data, DataFolder::Named).is_ok(), good, "{mode:o}");
        }
        let about = fs::metadata(&data).unwrap();
        if this_user() != 0 {
            assert!(check_folder(&data, &about, this_user() + 1).is_err());
        }
        // A link to a folder is as good as the folder.
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&data, &link).unwrap();
        prepare(&link, DataFolder::Named).unwrap();
    }

    #[test]
    fn p06_a_folder_that_was_there_is_kept_out_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        for (name, by, is_there, ignored) in [
            ("new", DataFolder::Named, false, true),
            ("own", DataFolder::Named, true, false),
            ("planted", DataFolder::Found, true, true),
        ] {
            let data = folder.path().join(name);
            if is_there {
                fs::create_dir(&data).unwrap();
            }
            prepare(&data, by).unwrap();
            assert_eq!(data.join(".gitignore").exists(), ignored, "{name}");
        }
        // One that is there stays as it is.
        let file = folder.path().join("planted/.gitignore");
        fs::write(&file, "x").unwrap();
        prepare(file.parent().unwrap(), DataFolder::Found).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    }
}
