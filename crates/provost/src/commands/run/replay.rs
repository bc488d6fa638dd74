//! `provost run replay`: a journal, shown or sent again.

use std::path::PathBuf;

use crate::{context::Context, exit::Exit};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The journal of a run
    journal: PathBuf,
}

pub(super) async fn run(_context: &Context, args: Args) -> anyhow::Result<Exit> {
    anyhow::bail!("`{}` cannot be replayed yet", args.journal.display())
}
