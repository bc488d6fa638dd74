//! The admin key of this machine: made at the first start, kept in the data folder for its owner alone.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use anyhow::Context as _;
use provost_core::{
    gate::Gate,
    ids::hex,
    key::{Key, KeyHash, Role, new_secret},
};

use super::{DataFolder, Lifetime, data_folder::unnamed};
use crate::context::ADMIN_KEY;

/// The key of this machine.
pub(super) struct AdminKey {
    pub(super) secret: String,
    /// There was none before.
    pub(super) is_new: bool,
}

/// The key of the folder, made if there is none, and known to the store.
pub(super) async fn ensure(
    data: &Path,
    gate: &Gate,
    lifetime: Lifetime,
) -> anyhow::Result<AdminKey> {
    let path = data.join(ADMIN_KEY);
    let mut is_new = false;
    let secret = match fs::read_to_string(&path) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            is_new = true;
            let secret = new_secret();
            write(&path, &secret).with_context(|| format!("cannot write `{}`", path.display()))?;
            secret
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
        }
    };
    anyhow::ensure!(
        !secret.is_empty(),
        "`{}` is empty: remove it and a new key is made",
        path.display()
    );
    if gate.control().key(&secret).is_none() {
        // The record may lie elsewhere.
        if !is_new && lifetime == Lifetime::Lasting(DataFolder::Found) {
            return Err(unnamed(data, "an admin key that the record does not know"));
        }
        let hash = KeyHash::of(&secret);
        // Several machines may share a store: each has a key of its own, named after its hash.
        let short = hash.0.get(..4).map(hex).unwrap_or_default();
        let key = Key {
            name: format!("local-{short}").into(),
            role: Role::Admin,
            tools: Vec::new(),
            person: None,
            hash,
            created_at: gate.now(),
        };
        gate.add_key(key, "start").await?;
    }
    Ok(AdminKey { secret, is_new })
}

fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{secret}")?;
    file.sync_all()
}
