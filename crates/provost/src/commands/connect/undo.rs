//! Taking a connection back: the settings as they were, and the key removed.

use anyhow::Context as _;
use serde_json::json;

use super::{
    Options,
    consent::{self, Consent},
    diff,
    file::{Backup, SettingsFile, remove},
    keyring::Keyring,
    note::NotedKey,
    plan::Plan,
};
use crate::{context::Context, exit::Exit, output};

pub(super) async fn run(context: &Context, plan: &Plan, options: &Options) -> anyhow::Result<Exit> {
    let file = SettingsFile::open(&plan.settings)?;
    file.ensure_meant(plan.agent)?;
    let backup = file.backup()?.with_context(|| {
        format!(
            "nothing to undo: there is no backup of `{}`",
            file.path.display()
        )
    })?;
    // Under the names that it was connected with, whatever the command says.
    let keys = file.note().map(|note| note.keys);
    let keys = keys.unwrap_or_else(|| vec![plan.key()]);
    let mut diff = diff::unified(&file.path, file.text(), backup.text());
    let other = Other::open(plan)?;
    diff.push_str(&other.as_ref().map(Other::diff).unwrap_or_default());
    if !context.json() {
        diff::show(&diff)?;
    }
    let consent = consent::ask(context, options).await?;
    let is_given = consent == Consent::Given;
    let mut removed = Vec::new();
    if is_given {
        keep_later_changes(context, plan, &file, &backup)?;
        file.restore(&backup)?;
        if let Some(other) = &other {
            other.undo()?;
        }
        for key in &keys {
            if forget_key(context, key).await? {
                removed.push(key.name.as_str());
            }
        }
    } else {
        consent.tell_refusal();
    }
    if context.json() {
        output::json(&json!({
            "agent": plan.agent,
            "settings": file.path,
            "changed": is_given,
            "diff": diff,
            "key": {"name": plan.name, "removed": !removed.is_empty()},
            "removed_keys": removed,
        }))?;
    } else if is_given {
        output::line(format_args!("`{}` is as it was", file.path.display()))?;
    }
    Ok(Exit::yes_or_no(is_given))
}

/// The other file that was changed. The agent itself may write to it, and that must not be lost: one that is
/// not as we wrote it stays as it is, which takes nothing away.
struct Other {
    file: SettingsFile,
    backup: Backup,
    is_as_written: bool,
}

impl Other {
    fn open(plan: &Plan) -> anyhow::Result<Option<Self>> {
        let Some(beside) = &plan.beside else {
            return Ok(None);
        };
        let file = SettingsFile::open(&beside.path)?;
        let Some(backup) = file.backup()? else {
            return Ok(None);
        };
        beside.ensure_meant(&file, plan.agent)?;
        let written = beside.draft(backup.text());
        let is_as_written = written.is_ok_and(|written| written.as_deref() == file.text());
        Ok(Some(Self {
            file,
            backup,
            is_as_written,
        }))
    }

    fn diff(&self) -> String {
        if !self.is_as_written {
            return String::new();
        }
        diff::unified(&self.file.path, self.file.text(), self.backup.text())
    }

    fn undo(&self) -> anyhow::Result<()> {
        if self.is_as_written {
            return self.file.restore(&self.backup);
        }
        self.file.forget(&self.backup)?;
        output::note(format_args!(
            "`{}` was changed after connecting, and stays as it is",
            self.file.path.display()
        ));
        Ok(())
    }
}

/// What somebody wrote after connecting is not in the backup.
fn keep_later_changes(
    context: &Context,
    plan: &Plan,
    file: &SettingsFile,
    backup: &Backup,
) -> anyhow::Result<()> {
    let now = file.text().unwrap_or_default();
    let is_as_written = match file.note() {
        Some(note) => note.is_of(now),
        None => is_drafted(context, plan, now, backup),
    };
    if is_as_written {
        return Ok(());
    }
    if let Some(path) = file.set_aside()? {
        output::note(format_args!(
            "the file was changed after connecting; what it held is kept in `{}`",
            path.display()
        ));
    }
    Ok(())
}

/// Where nothing was noted: whether it is what connecting would write now.
fn is_drafted(context: &Context, plan: &Plan, now: &str, backup: &Backup) -> bool {
    let key = diff::secrets(now).next().unwrap_or(diff::NEW_KEY);
    let url = context.gateway().map(|located| located.url);
    let written = plan.draft(backup.text(), &url.unwrap_or_default(), key);
    written.is_ok_and(|written| written.as_deref() == Some(now))
}

/// Whether the gateway removed it. One that cannot be reached does not keep the settings from going back.
async fn forget_key(context: &Context, key: &NotedKey) -> anyhow::Result<bool> {
    if let Some(path) = &key.file {
        remove(path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    }
    let name = &key.name;
    match remove_at_gateway(context, name).await {
        Ok(removed) => Ok(removed),
        Err(error) => {
            let why = format!("{error:#}");
            output::note(format_args!(
                "the key `{name}` was not removed: {}; do it with `provost keys remove {name}`",
                output::safe(&why)
            ));
            Ok(false)
        }
    }
}

async fn remove_at_gateway(context: &Context, name: &str) -> anyhow::Result<bool> {
    let keyring = Keyring::open(context).await?;
    if !keyring.has_agent(name) {
        return Ok(false);
    }
    keyring.remove(name).await?;
    Ok(true)
}
