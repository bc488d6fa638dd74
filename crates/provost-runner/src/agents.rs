//! The coding agents that the runner knows: how each is made to ask before it acts, for one run.
//!
//! What an agent needs for that is its *overlay*: variables, arguments, files in a folder of the run's own, and
//! words of the protocol. The user's own files are read for the login and the model, and never changed.
//! `docs/acp-agents.md` has the measurements behind every line.

mod claude;
mod codex;
mod files;
mod gemini;
mod git;
mod goose;
mod kimi;
mod opencode;
mod qwen;
mod recognise;
mod settings;

use std::{ffi::OsString, fmt, io, path::Path};

use serde_json::{Value, json};

use crate::{config::Config, metering::Metering};

pub use files::{HomeFile, UseOf};
pub use recognise::{named, started_as};
pub use settings::Environment;

/// Every agent that is known, in the order in which people are told of them.
pub static KNOWN: [&Profile; 8] = [
    &claude::CLAUDE,
    &codex::CODEX,
    &gemini::GEMINI,
    &opencode::OPENCODE,
    &qwen::QWEN,
    &goose::GOOSE,
    &kimi::KIMI,
    &opencode::KILO,
];

/// A coding agent, as far as supervising it goes.
pub struct Profile {
    /// How people name it: `provost run claude`.
    pub name: &'static str,
    pub title: &'static str,
    /// The package of npm that has it, and the version that the table was measured with.
    pub package: &'static str,
    pub version: &'static str,
    /// What is given to its program.
    pub arguments: &'static [&'static str],
    /// The file names of its program and of its packages.
    programs: &'static [&'static str],
    /// Whether an answer to `initialize` is this agent's.
    introduces: fn(&Value) -> bool,
    /// The modes in which it asks. The first is set where no other is wanted.
    pub modes: &'static [&'static str],
    /// A mode that its overlay takes away: one that is still there shows that the overlay had no effect.
    pub withdrawn: Option<&'static str>,
    /// What it does without asking by design, in words for people.
    pub unasked: &'static [&'static str],
    /// The kinds of tools that are among these.
    pub unasked_kinds: &'static [&'static str],
    /// Whether its tools of kind `other` act: it calls everything so.
    pub others_act: bool,
    /// Whether the text of its calls is their arguments, in JSON.
    pub arguments_as_text: bool,
    pub habits: &'static [Habit],
    /// Flags of its own that make it ask less, without their dashes.
    pub loosening: &'static [&'static str],
    /// The command by which its user logs in.
    pub login: &'static str,
    /// What it tells of its use.
    pub metering: Metering,
    pub offers: Offers,
    /// What it has in the home of its user, and gets in a home of its own.
    pub home: &'static [HomeFile],
    /// Settings of its home that say whether its shell has a terminal: it runs no command where that cannot be.
    shell_settings: Option<&'static str>,
    overlay: fn(&Ground<'_>) -> Result<Overlay, Unsafe>,
}

/// What an agent does, whatever it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// It looks at `git status` before it asks anything.
    LooksAtGit,
    /// It asks about no write of its own, so it has to write through us.
    WritesUnasked,
}

/// What the agent may have us do for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    pub read: bool,
    pub write: bool,
    pub terminal: bool,
}

/// Where an agent is about to be started.
pub struct Ground<'a> {
    /// The repository it works in.
    pub repo: &'a Path,
    /// The empty folder that its program is started in.
    pub start: &'a Path,
    /// A folder of this run's own, for the overlay's files.
    pub own: &'a Path,
    /// The MCP servers that the run names.
    pub servers: &'a [String],
    /// The session that the run goes on with.
    pub session: Option<&'a str>,
    /// As the agent would have it without the overlay.
    pub environment: &'a Environment,
    /// The kernel keeps it within bounds, whatever it runs.
    pub confined: bool,
}

/// What makes an agent ask, in this run.
#[derive(Debug, Default)]
pub struct Overlay {
    pub variables: Vec<(&'static str, OsString)>,
    /// Variables that it must not have.
    pub without: Vec<&'static str>,
    pub arguments: Vec<String>,
    /// The `_meta` of every request that opens a session.
    pub meta: Option<Value>,
    /// The repository is named to the agent with `/.` at its end.
    pub dotted: bool,
}

/// Why an agent cannot be made to ask here.
#[derive(Debug, thiserror::Error)]
pub enum Unsafe {
    #[error("{agent} runs `{}` of the repository before it asks anything: remove it, or confine the run with `sandbox`", .path.display())]
    Planted {
        agent: &'static str,
        path: std::path::PathBuf,
    },
    #[error(
        "{agent} obeys `{}` in a run that names MCP servers, because it starts these only in a folder that it \
         trusts: remove the file, name no `mcpServers`, or confine the run with `sandbox`", .path.display()
    )]
    Trusted {
        agent: &'static str,
        path: std::path::PathBuf,
    },
    #[error(
        "{agent} starts the MCP servers that `{url}` names before it asks anything, because of the login in `{}`: \
         log out of it (`{agent} auth logout`), or confine the run with `sandbox`", .path.display()
    )]
    Organisation {
        agent: &'static str,
        path: std::path::PathBuf,
        url: String,
    },
    #[error(
        "{agent} looks at `git status` before it asks anything, and git then runs the filter `{filter}` of `{}`: \
         remove it, have it in your own settings (`git config --global`), or confine the run with `sandbox`",
        .path.display()
    )]
    Filter {
        agent: &'static str,
        path: std::path::PathBuf,
        filter: String,
    },
    #[error("the settings of {agent} in `{}` cannot be read: {problem}", .path.display())]
    Settings {
        agent: &'static str,
        path: std::path::PathBuf,
        problem: String,
    },
    #[error("the files that make {agent} ask cannot be written: {error}")]
    Files {
        agent: &'static str,
        error: io::Error,
    },
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Profile({})", self.name)
    }
}

impl Offers {
    pub const ALL: Self = Self {
        read: true,
        write: true,
        terminal: true,
    };
    pub const NONE: Self = Self {
        read: false,
        write: false,
        terminal: false,
    };
}

impl Profile {
    pub fn overlay(&self, ground: &Ground<'_>) -> Result<Overlay, Unsafe> {
        if self.habits.contains(&Habit::LooksAtGit) && !ground.confined {
            git::filters(self.title, ground.repo, &ground.environment.home())?;
        }
        (self.overlay)(ground)
    }

    /// What its home needs to have for it to work without terminals: a file, and what is in it.
    pub fn without_terminals(&self, home: &Path) -> Result<Option<(&'static str, String)>, Unsafe> {
        let Some(file) = self.shell_settings else {
            return Ok(None);
        };
        let found = settings::json(self.title, &home.join(file))?.unwrap_or_default();
        let mut found = Value::Object(found);
        let off = json!({"tools": {"shell": {"enableInteractiveShell": false}}});
        settings::merge(&mut found, off);
        Ok(Some((file, found.to_string())))
    }

    /// The file name of its program, as its package installs it.
    pub fn program(&self) -> &'static str {
        self.programs.first().copied().unwrap_or_default()
    }

    /// Whether this is what answered `initialize`.
    pub fn is(&self, introduction: &Value) -> bool {
        (self.introduces)(introduction)
    }

    /// The mode that a run is in: the wanted one, if the agent asks in it.
    pub fn mode(&self, wanted: Option<&str>) -> Result<&'static str, String> {
        let modes = self.modes;
        let first = modes.first().copied().unwrap_or_default();
        let Some(wanted) = wanted else {
            return Ok(first);
        };
        let found = modes.iter().copied().find(|mode| *mode == wanted);
        found.ok_or_else(|| {
            let title = self.title;
            let modes = modes.join(", ");
            format!("{title} does not ask before everything it does in mode `{wanted}`; it does in: {modes}")
        })
    }
}

/// The names of the MCP servers that a run gives its agent.
pub fn servers(config: &Config) -> Vec<String> {
    let servers = config.mcp_servers.as_ref();
    let servers: Vec<Value> = servers
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let names = servers.iter().filter_map(|server| server.get("name"));
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// By the name in `agentInfo`, without the scope of a package.
fn says(introduction: &Value, names: &[&str]) -> bool {
    let name = introduction.pointer("/agentInfo/name");
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::metering::Told;

    fn file(name: &str) -> String {
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_owned() + name)
            .unwrap()
    }

    #[test]
    fn the_docs_name_every_agent_and_what_it_does_unasked() {
        let docs = file("docs/run.md");
        for profile in KNOWN {
            let (name, package, version) = (profile.name, profile.package, profile.version);
            let unasked = profile.unasked.join("; ");
            let row = format!("| `{name}` | `{package}` | {version} | {unasked} |");
            assert!(docs.contains(&row), "docs/run.md lacks\n{row}");
        }
    }

    #[test]
    fn the_docs_say_what_every_agent_tells_of_its_use() {
        let docs = file("docs/run.md");
        let words = |told| match told {
            Told::DuringRun => "during the run",
            Told::AtEnd => "when it is done",
            Told::Never => "never",
            Told::Perhaps => "not known",
        };
        for profile in KNOWN {
            let (name, metering) = (profile.name, profile.metering);
            let (tokens, cost) = (words(metering.tokens), words(metering.cost));
            let row = format!("| `{name}` | {tokens} | {cost} |");
            assert!(docs.contains(&row), "docs/run.md lacks\n{row}");
        }
    }

    #[test]
    fn the_docs_name_what_every_agent_gets_in_a_home_of_its_own() {
        let docs = file("docs/acp-agents.md");
        for profile in KNOWN {
            let of = |wanted: fn(&UseOf) -> bool| {
                let files = profile.home.iter().filter(|file| wanted(&file.use_of));
                let places = files.map(|file| format!("`{}`", file.place().display()));
                places.collect::<Vec<_>>().join(", ")
            };
            let row = format!(
                "| `{}` | {} | {} | {} |",
                profile.name,
                of(|one| matches!(one, UseOf::Login)),
                of(|one| matches!(one, UseOf::Settings | UseOf::Fields(_))),
                of(|one| matches!(one, UseOf::Sessions)),
            );
            assert!(docs.contains(&row), "docs/acp-agents.md lacks\n{row}");
        }
    }

    #[test]
    fn every_agent_is_tested_in_the_version_that_is_installed() {
        let pins = file("scripts/peers.pins");
        for profile in KNOWN {
            let mut pinned = pins
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>());
            let found = pinned.any(|words| match &*words {
                ["npm", package, version] => {
                    let name = package.rsplit('/').next().unwrap_or_default();
                    let ours = *package == profile.package || profile.programs.contains(&name);
                    ours && *version == profile.version
                }
                _ => false,
            });
            assert!(
                found,
                "scripts/peers.pins has no {} {}",
                profile.name, profile.version
            );
        }
    }

    #[test]
    fn only_modes_in_which_an_agent_asks_are_taken() {
        let claude = named("claude").unwrap();
        assert_eq!(claude.mode(None), Ok("default"));
        assert_eq!(claude.mode(Some("plan")), Ok("plan"));
        let refused = claude.mode(Some("bypassPermissions")).unwrap_err();
        assert!(refused.contains("default, plan"), "{refused}");
    }
}
