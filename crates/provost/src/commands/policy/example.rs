//! `provost policy example`: a policy to begin with.

use std::path::{self, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use crate::{exit::Exit, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agents it is for
    #[arg(value_enum)]
    example: Example,
    /// The folder that the agent works in [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Example {
    /// Claude Code, Codex and Cursor
    CodingAgent,
}

pub(crate) const CODING_AGENT: &str = include_str!("coding-agent.yaml");
/// What stands in the example for the project.
const PLACEHOLDER: &str = "/srv/project";

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    let project = project(args.project.clone())?;
    match args.example {
        Example::CodingAgent => {
            output::line(CODING_AGENT.replace(PLACEHOLDER, &project).trim_end())?;
        }
    }
    Ok(Exit::Ok)
}

/// As it is written into rules.
fn project(folder: Option<PathBuf>) -> anyhow::Result<String> {
    let folder = path::absolute(folder.unwrap_or_else(|| PathBuf::from(".")))
        .context("cannot tell which folder this is: say it with `--project FOLDER`")?;
    let folder: PathBuf = folder.components().collect();
    let shown = folder.display().to_string();
    if folder.components().count() < 3 {
        bail!("`{shown}` holds too much to be a project: say which folder with `--project FOLDER`");
    }
    let plain = |c: char| !c.is_control() && !matches!(c, '"' | '\'' | '\\');
    if folder.to_str().is_none() || !shown.chars().all(plain) {
        bail!("`{shown}` has characters that cannot stand in a rule: use another folder");
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_the_project_is_a_folder_that_rules_can_name() {
        for (given, expected) in [
            ("/srv/project", Some("/srv/project")),
            ("/srv/project/./", Some("/srv/project")),
            ("/", None),
            ("/srv", None),
            ("/srv/a\"b", None),
            ("/srv/it's", None),
        ] {
            let found = project(Some(PathBuf::from(given))).ok();
            assert_eq!(found.as_deref(), expected, "{given}");
        }
    }
}
