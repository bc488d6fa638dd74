//! `provost connect`: an agent's own settings are changed so that it asks the gateway. The change is
//! shown before it is made, and can be taken back.

mod change;
pub(in crate::commands) mod claude_code;
mod codex;
mod consent;
mod cursor;
pub(super) mod diff;
mod file;
mod hooks;
mod json;
mod keyring;
mod mcp;
mod note;
mod plan;
mod repository;
mod undo;
mod variables;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Subcommand;

use crate::{
    config::Unreachable,
    context::{Context, unreachable_of},
    exit::Exit,
    locate::{Located, is_agent_name},
    user_folder::user_folder,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Connect {
    /// Claude Code, by hooks over HTTP or that are commands
    ClaudeCode(claude_code::Args),
    /// Codex, by hooks that are commands
    Codex(codex::Args),
    /// Cursor, by hooks that are commands
    Cursor(cursor::Args),
    /// Any client of MCP: the gateway as a server, or in front of its servers
    Mcp(mcp::Args),
}

impl Connect {
    fn options(&self) -> &Options {
        match self {
            Self::ClaudeCode(args) => &args.options,
            Self::Codex(args) => &args.options,
            Self::Cursor(args) => &args.options,
            Self::Mcp(args) => &args.options,
        }
    }
}

/// What is known of the gateway that an agent is connected to.
struct GatewayPlace<'a> {
    /// The keys of its agents lie below.
    keys: &'a Path,
    /// Its data folder, if it is one that this user has started.
    data: Option<&'a Path>,
    unreachable: Unreachable,
}

/// What connecting understands, whichever the agent.
#[derive(Debug, clap::Args)]
struct Options {
    /// The settings file to change [default: where the agent looks for it; mcp has none]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// The name of the agent and its key [default: what is connected]
    #[arg(long, value_parser = parse_name)]
    name: Option<String>,
    /// Make the change without asking
    #[arg(long)]
    yes: bool,
    /// Put the settings back as they were, and remove the key
    #[arg(long)]
    undo: bool,
    /// Make a new key where there is one of this name; whoever holds the old one is locked out
    #[arg(long, conflicts_with = "undo")]
    replace_key: bool,
}

impl Options {
    fn name(&self, agent: &str) -> String {
        self.name.clone().unwrap_or_else(|| agent.to_owned())
    }

    fn settings_or(
        &self,
        default: impl FnOnce() -> anyhow::Result<PathBuf>,
    ) -> anyhow::Result<PathBuf> {
        self.settings.clone().map_or_else(default, Ok)
    }
}

/// Names that can also be the name of a file.
pub(super) fn parse_name(text: &str) -> Result<String, &'static str> {
    if is_agent_name(text) {
        return Ok(text.to_owned());
    }
    Err("a name is letters, digits, `-`, `_` and `.`, and begins with a letter or a digit")
}

pub(super) async fn run(context: &Context, command: Connect) -> anyhow::Result<Exit> {
    let options = command.options();
    let located = match context.gateway() {
        Ok(located) => Some(located),
        // Settings go back without a gateway, too.
        Err(_) if options.undo => None,
        Err(error) => return Err(error),
    };
    let keys = key_folder(located.as_ref())?;
    let place = GatewayPlace {
        keys: &keys,
        data: located.as_ref().and_then(|it| it.registered.as_deref()),
        unreachable: unreachable_of(located.as_ref().and_then(|it| it.config.as_deref())),
    };
    let plan = match &command {
        Connect::ClaudeCode(args) => args.plan(&place).await?,
        Connect::Codex(args) => args.plan(&place)?,
        Connect::Cursor(args) => args.plan(&place)?,
        Connect::Mcp(args) => args.plan(&place)?,
    };
    if options.undo {
        return undo::run(context, &plan, options).await;
    }
    change::run(context, &plan, options).await
}

/// Where the keys of agents lie. Without a gateway, which only undoing goes without, none are there.
fn key_folder(located: Option<&Located>) -> anyhow::Result<PathBuf> {
    located
        .map_or_else(user_folder, Located::keys)
        .context("there is no folder for the agent's key: set HOME, or name a folder with --data")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_fit_for_files() {
        for (name, good) in [
            ("claude-code", true),
            ("a.b_2", true),
            ("", false),
            ("../x", false),
            (".x", false),
            ("a:b", false),
        ] {
            assert_eq!(parse_name(name).is_ok(), good, "{name}");
        }
    }
}
