//! `provost demo`: a gateway, an agent, a supervisor and you, in one terminal, in a minute. Everything
//! goes over the public HTTP API; nothing is left behind.

mod actors;
mod echo;
mod person;
mod stage;
mod story;

use crate::{context::Context, exit::Exit, output};

use super::terminal::interrupted;
use person::Person;
use stage::Stage;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost demo          decide yourself
  provost demo --yes    watch; the demo decides, and says so")]
pub(crate) struct Args {
    /// Do not ask: the demo decides by itself, and says so
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(_: &Context, args: Args) -> anyhow::Result<Exit> {
    let stage = Stage::set().await?;
    let told = tokio::select! {
        told = story::tell(&stage, Person::new(args.yes)) => told,
        () = interrupted() => {
            output::note("\nthe demo ends here");
            Ok(())
        }
    };
    // Also after a failure: the gateway must be gone before its folder is.
    stage.strike().await;
    told.map(|()| Exit::Ok)
}
