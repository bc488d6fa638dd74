//! What connecting an agent comes to: which file, where its key goes, and what is written.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{hooks::Misfit, json::Json};

pub(super) struct Plan {
    /// The agent, as the command line names it.
    pub(super) agent: &'static str,
    /// The name of its key, and with it its own name at the gateway.
    pub(super) name: String,
    pub(super) settings: PathBuf,
    pub(super) place: KeyPlace,
    pub(super) edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
}

/// Where the agent finds its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// In its settings, which nobody else reads.
    Settings,
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
        let place = &self.place;
        (self.edit)(&mut json, &Access { url, key, place }).with_context(cannot)?;
        Ok((json.value() != was).then(|| json.file(text)))
    }
}

impl Access<'_> {
    /// The command by which an agent that knows no HTTP asks.
    pub(super) fn command(&self, begin: &str) -> String {
        let url = word(self.url);
        match self.place {
            KeyPlace::File(file) => {
                let file = word(&file.to_string_lossy());
                format!("{begin} --key-file {file} --url {url}")
            }
            KeyPlace::Settings | KeyPlace::Environment => format!("{begin} --url {url}"),
        }
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
