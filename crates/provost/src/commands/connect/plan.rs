//! What connecting an agent comes to: which file, where its key goes, and what is written.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{hooks::Misfit, json::Json};
use crate::config::Unreachable;

/// Of seconds, for hooks that are commands: what some agents do not wait for counts as a yes, so the command
/// always answers before.
pub(super) const COMMAND_PATIENCE: u32 = 86_400;

pub(super) struct Plan {
    /// The agent, as the command line names it.
    pub(super) agent: &'static str,
    /// The name of its key, and with it its own name at the gateway.
    pub(super) name: String,
    pub(super) settings: PathBuf,
    pub(super) place: KeyPlace,
    /// What a hook that is a command answers without a gateway.
    pub(super) unreachable: Unreachable,
    pub(super) edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
    /// What is left for a person to do.
    pub(super) next: Option<&'static str>,
    /// Another file that has to agree.
    pub(super) beside: Option<Beside>,
}

/// A file of the agent that holds no key.
pub(super) struct Beside {
    pub(super) path: PathBuf,
    /// The file as it would be. `None`: it is so already.
    pub(super) edit: fn(&str) -> anyhow::Result<Option<String>>,
}

/// Where the agent finds its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// In its settings, which nobody else reads.
    Settings,
    /// In its settings, and in a file for those of its hooks that are commands.
    SettingsAndFile(PathBuf),
    /// In `PROVOST_KEY`: the settings are shared.
    Environment,
    /// In a file of its own.
    File(PathBuf),
}

/// How the agent reaches the gateway.
#[derive(Debug)]
pub(super) struct Access<'a> {
    pub(super) url: &'a str,
    pub(super) key: &'a str,
    pub(super) place: &'a KeyPlace,
    pub(super) unreachable: Unreachable,
}

impl KeyPlace {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::SettingsAndFile(path) | Self::File(path) => Some(path),
            Self::Settings | Self::Environment => None,
        }
    }

    pub(super) fn is_settings(&self) -> bool {
        matches!(self, Self::Settings | Self::SettingsAndFile(_))
    }
}

impl Plan {
    /// The file as it would be. `None`: it is so already.
    pub(super) fn draft(
        &self,
        before: Option<&str>,
        url: &str,
        key: &str,
    ) -> anyhow::Result<Option<String>> {
        let text = before.unwrap_or_default();
        let cannot = || format!("cannot change `{}`", self.settings.display());
        let mut json = Json::parse(text).with_context(cannot)?;
        let was = json.value();
        let access = Access {
            url,
            key,
            place: &self.place,
            unreachable: self.unreachable,
        };
        (self.edit)(&mut json, &access).with_context(cannot)?;
        Ok((json.value() != was).then(|| json.file(text)))
    }
}

impl Access<'_> {
    /// The command by which an agent that knows no HTTP asks.
    pub(super) fn command(&self, begin: &str) -> String {
        let mut command = begin.to_owned();
        if let Some(file) = self.place.file() {
            command.extend([" --key-file ", &word(&file.to_string_lossy())]);
        }
        command.extend([" --url ", &word(self.url)]);
        if self.unreachable == Unreachable::Ask {
            command.push_str(" --unreachable ask");
        }
        command
    }

    /// The same for agents that take an exit code of 2 for a no, and every other failure for a yes: also where
    /// `provost` is not found any more.
    pub(super) fn guarded_command(&self, begin: &str) -> String {
        format!("{} || exit 2", self.command(begin))
    }
}

impl Beside {
    pub(super) fn draft(&self, before: Option<&str>) -> anyhow::Result<Option<String>> {
        (self.edit)(before.unwrap_or_default())
            .with_context(|| format!("cannot change `{}`", self.path.display()))
    }
}

/// Below the folder of the person who connects.
pub(super) fn at_home(path: &str) -> anyhow::Result<PathBuf> {
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let home = home.context("HOME is not set; name the file with --settings")?;
    Ok(home.join(path))
}

/// Also where the agent runs in another folder.
pub(super) fn key_file(data: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let data = std::path::absolute(data)
        .with_context(|| format!("cannot tell where `{}` is", data.display()))?;
    Ok(data.join("agents").join(format!("{name}.key")))
}

/// One word for a shell, whatever it holds.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/:._-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_for_the_shell() {
        for (text, expected) in [
            ("/var/lib/provost.d", "/var/lib/provost.d"),
            ("http://[::1]:1", "'http://[::1]:1'"),
            ("/Users/a b/it's", r"'/Users/a b/it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(word(text), expected);
        }
    }
}
