//! What connecting an agent comes to: which file, where its key goes, and what is written.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::{file::SettingsFile, hooks::Misfit, json::Json, note::NotedKey};
use crate::{config::Unreachable, locate::is_local};

/// Of seconds, for hooks that are commands: what some agents do not wait for counts as a yes, so the command
/// always answers before.
pub(super) const COMMAND_PATIENCE: u32 = 86_400;

/// What this program is called.
pub(super) const NAME: &str = "provost";

pub(super) struct Plan {
    /// The agent, as the command line names it.
    pub(super) agent: &'static str,
    /// The name of its key, and with it its own name at the gateway.
    pub(super) name: String,
    pub(super) settings: PathBuf,
    pub(super) place: KeyPlace,
    /// What starts this very program.
    pub(super) program: String,
    /// The data folder of the gateway, if it is one that this user has started.
    pub(super) data: Option<PathBuf>,
    /// What a hook that is a command answers without a gateway.
    pub(super) unreachable: Unreachable,
    pub(super) edit: fn(&mut Json, &Access<'_>) -> Result<(), Misfit>,
    /// Others have the file, too: it must hold neither a key nor paths of this machine.
    pub(super) is_shared: bool,
    /// Whether settings with this text ask the gateway at all.
    pub(super) asks: fn(&str) -> bool,
    /// What is left for a person to do.
    pub(super) next: Option<&'static str>,
    /// Another file that has to agree.
    pub(super) beside: Option<Beside>,
}

/// A file of the agent that holds no key.
pub(super) struct Beside {
    pub(super) path: PathBuf,
    /// In the folder where the agent looks by itself: links in it are the person's own.
    pub(super) is_default: bool,
    /// The file as it would be. `None`: it is so already.
    pub(super) edit: fn(&str) -> anyhow::Result<Option<String>>,
}

/// Where the agent finds its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPlace {
    /// In its settings, which nobody else reads, and in a file for those of its hooks that are commands.
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
    /// The gateway's data folder, if it is one that this user has started.
    pub(super) data: Option<&'a Path>,
    pub(super) key: &'a str,
    pub(super) place: &'a KeyPlace,
    pub(super) program: &'a str,
    /// The name of the agent.
    pub(super) name: &'a str,
    pub(super) is_shared: bool,
    pub(super) unreachable: Unreachable,
}

impl KeyPlace {
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::SettingsAndFile(path) | Self::File(path) => Some(path),
            Self::Environment => None,
        }
    }

    /// The key lies in the folder of keys itself: a link may lead into a repository.
    pub(super) fn ensure_no_link(&self) -> anyhow::Result<()> {
        let folder = self.file().and_then(Path::parent);
        let link = folder.filter(|folder| folder.is_symlink());
        link.map_or(Ok(()), |link| {
            anyhow::bail!(
                "`{}` is a link, and the agent's key would lie where it leads; remove the link",
                link.display()
            )
        })
    }

    pub(super) fn is_settings(&self) -> bool {
        matches!(self, Self::SettingsAndFile(_))
    }
}

impl Plan {
    pub(super) fn key(&self) -> NotedKey {
        NotedKey {
            name: self.name.clone(),
            file: self.place.file().map(Path::to_owned),
        }
    }

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
            data: self.data.as_deref(),
            key,
            place: &self.place,
            program: &self.program,
            name: &self.name,
            is_shared: self.is_shared,
            unreachable: self.unreachable,
        };
        (self.edit)(&mut json, &access).with_context(cannot)?;
        Ok((json.value() != was).then(|| json.file(text)))
    }
}

/// How a command finds the gateway when it runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reach<'a> {
    /// By its data folder: it has to run, and to prove itself. Whoever has its port otherwise is sent no key.
    Data(&'a Path),
    /// As the one that the reader of the file has started: whose it is, a loopback address does not say.
    Registry,
    Url(&'a str),
}

impl<'a> Access<'a> {
    pub(super) fn reach(&self) -> Reach<'a> {
        match self.data {
            Some(data) if !self.is_shared => Reach::Data(data),
            _ if self.is_shared && is_local(self.url) => Reach::Registry,
            _ => Reach::Url(self.url),
        }
    }

    /// The command by which an agent that knows no HTTP asks: `provost`, and then these words.
    fn command(&self, words: &str) -> String {
        let mut command = format!("{} {words}", word(self.program));
        match self.place.file() {
            // Others have the file, too, and another path to their key.
            Some(_) if self.is_shared => command.extend([" --name ", &word(self.name)]),
            Some(file) => command.extend([" --key-file ", &word(&file.to_string_lossy())]),
            None => {}
        }
        match self.reach() {
            Reach::Data(data) => command.extend([" --data ", &word(&data.to_string_lossy())]),
            Reach::Registry => {}
            Reach::Url(url) => command.extend([" --url ", &word(url)]),
        }
        if self.unreachable == Unreachable::Ask {
            command.push_str(" --unreachable ask");
        }
        command
    }

    /// The same for agents that take an exit code of 2 for a no, and every other failure for a yes: also where
    /// `provost` is not found any more.
    pub(super) fn guarded_command(&self, words: &str) -> String {
        format!("{} || exit 2", self.command(words))
    }
}

impl Beside {
    /// Nobody named this file, and in a project others may put a link in its place. One is followed where the file
    /// was connected by it, and in the agent's own folder to a file that is not connected yet.
    pub(super) fn ensure_meant(&self, file: &SettingsFile, agent: &str) -> anyhow::Result<()> {
        let is_noted = file.note().is_some_and(|note| note.is_named(&file.named));
        let is_first = self.is_default && file.backup()?.is_none();
        anyhow::ensure!(
            is_noted || is_first || !self.path.is_symlink(),
            "`{}` is a link to `{}`, which was not connected by it, and is left alone; remove the link or put a file in \
             its place, and try again",
            self.path.display(),
            file.path.display()
        );
        file.ensure_meant(agent)
    }

    pub(super) fn draft(&self, before: Option<&str>) -> anyhow::Result<Option<String>> {
        (self.edit)(before.unwrap_or_default())
            .with_context(|| format!("cannot change `{}`", self.path.display()))
    }
}

/// Its path, because a project's settings may set another search path for the hooks. As the search path has it where
/// that leads to this very program: what is put there in an update is meant, too.
pub(super) fn program() -> anyhow::Result<String> {
    let this = std::env::current_exe().context("cannot tell where this program is")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = found_as(&this, &path).unwrap_or(this);
    let program = program.into_os_string().into_string();
    program
        .map_err(|path| anyhow::anyhow!("the path of this program is not text: {}", path.display()))
}

/// The place of this program on the search path, if the name starts it in every folder: a relative or empty entry is
/// another one in each.
fn found_as(this: &Path, path: &OsStr) -> Option<PathBuf> {
    let absolute = std::env::split_paths(path).take_while(|entry| entry.is_absolute());
    found_in(NAME, absolute).filter(|found| is_same(found, this))
}

/// The agent's program on the search path. Relative entries are left out: what they hold is the current folder's.
pub(super) fn agent_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let absolute = std::env::split_paths(&path).filter(|entry| entry.is_absolute());
    found_in(name, absolute)
}

/// Whether it is this program that a command starts, here or where it was before.
pub(super) fn is_ours(program: &str) -> bool {
    Path::new(program).file_name() == Some(OsStr::new(NAME))
}

/// The program that a line for the shell starts, as `word` writes it, and the rest of the line.
pub(super) fn started_by(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('\'') else {
        let (program, rest) = line.split_once(' ')?;
        return Some((program.to_owned(), rest));
    };
    let (program, rest) = quoted.split_once("' ")?;
    Some((program.replace(r"'\''", "'"), rest))
}

/// What a shell would start that looks into these folders.
fn found_in(name: &str, folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        let about = fs::metadata(path);
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let mut found = folders.map(|folder| folder.join(name));
    found.find(is_program)
}

fn is_same(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
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
pub(super) fn word(text: &str) -> String {
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
    fn p06_a_key_goes_into_no_folder_that_is_a_link() {
        let data = tempfile::tempdir().unwrap();
        let place = KeyPlace::File(key_file(data.path(), "mcp").unwrap());
        place.ensure_no_link().unwrap();
        fs::create_dir(data.path().join("agents")).unwrap();
        place.ensure_no_link().unwrap();
        fs::remove_dir(data.path().join("agents")).unwrap();
        std::os::unix::fs::symlink("../public", data.path().join("agents")).unwrap();
        assert!(place.ensure_no_link().is_err());
        KeyPlace::Environment.ensure_no_link().unwrap();
    }

    #[test]
    fn p06_a_command_finds_a_gateway_that_can_prove_itself() {
        let place = KeyPlace::File("/d/agents/x.key".into());
        let data = Some(Path::new("/d"));
        let (local, remote) = ("http://127.0.0.1:9090", "http://gate");
        for (url, data, is_shared, expected) in [
            (local, data, false, "--key-file /d/agents/x.key --data /d"),
            (local, data, true, "--name x"),
            (
                remote,
                None,
                false,
                "--key-file /d/agents/x.key --url http://gate",
            ),
            (remote, None, true, "--name x --url http://gate"),
            // Somebody else's on this machine: nobody here can have it prove itself.
            (
                local,
                None,
                false,
                "--key-file /d/agents/x.key --url http://127.0.0.1:9090",
            ),
            (local, None, true, "--name x"),
        ] {
            let access = Access {
                url,
                data,
                key: "",
                place: &place,
                program: NAME,
                name: "x",
                is_shared,
                unreachable: Unreachable::Deny,
            };
            assert_eq!(
                access.command("hook y"),
                format!("provost hook y {expected}")
            );
        }
    }

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

    #[test]
    fn this_program_is_found_again_in_a_line() {
        for program in ["provost", "/usr/bin/provost", "/Users/a b/it's/provost"] {
            let line = format!("{} hook x", word(program));
            assert_eq!(started_by(&line), Some((program.to_owned(), "hook x")));
            assert!(is_ours(program));
        }
        for other in ["provost-lint", "/usr/bin/provost/lint", ""] {
            assert!(!is_ours(other), "{other}");
        }
    }

    #[test]
    fn a_shell_starts_the_first_program_on_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        make("text/provost", 0o644);
        let first = make("first/provost", 0o755);
        let second = make("second/provost", 0o755);
        let folders = ["none", "text", "first", "second"].map(|name| folder.path().join(name));
        let found = found_in(NAME, folders.into_iter()).unwrap();
        assert_eq!(found, first);
        assert!(is_same(&found, &first) && !is_same(&found, &second));
    }

    #[test]
    fn p06_the_search_path_counts_only_where_it_leads_to_one_program_in_every_folder() {
        let folder = tempfile::tempdir().unwrap();
        let this = folder.path().join(NAME);
        fs::write(&this, "").unwrap();
        fs::set_permissions(&this, fs::Permissions::from_mode(0o755)).unwrap();
        let absolute = folder.path().display();
        for (path, expected) in [
            (format!("/none:{absolute}"), true),
            (format!("{absolute}:node_modules/.bin"), true),
            (format!("./node_modules/.bin:{absolute}"), false),
            (format!(":{absolute}"), false),
            (format!("/none::{absolute}"), false),
            (format!(".:{absolute}"), false),
            (String::new(), false),
        ] {
            assert_eq!(
                found_as(&this, OsStr::new(&path)).is_some(),
                expected,
                "{path}"
            );
        }
    }
}
