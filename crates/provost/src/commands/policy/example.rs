//! `provost policy example`: a policy to begin with.

use clap::ValueEnum;

use crate::{exit::Exit, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For whom
    #[arg(value_enum)]
    example: Example,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Example {
    /// Claude Code, Codex and Cursor
    CodingAgent,
}

pub(crate) const CODING_AGENT: &str = include_str!("coding-agent.yaml");

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    match args.example {
        Example::CodingAgent => output::line(CODING_AGENT.trim_end())?,
    }
    Ok(Exit::Ok)
}
