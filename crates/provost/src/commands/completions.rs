//! `provost completions`: a script by which a shell completes our commands.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{cli::Cli, exit::Exit};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost completions bash > ~/.local/share/bash-completion/completions/provost
  provost completions zsh > ~/.zfunc/_provost
  provost completions fish > ~/.config/fish/completions/provost.fish")]
pub(crate) struct Args {
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Exit> {
    // Into memory first: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "provost", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Ok)
}
