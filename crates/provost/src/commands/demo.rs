//! `provost demo`: a gateway, an agent, a supervisor and you, in one terminal, in a minute. Everything
//! goes over the public HTTP API; nothing is left behind.

mod actors;
mod echo;
mod person;
mod stage;
mod story;

use serde_json::Value;

use crate::{context::Context, exit::Exit, output};

use super::terminal::interrupted;
use person::Person;
use stage::Stage;
use story::Teller;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost demo          decide yourself
  provost demo --yes    watch; the demo decides, and says so
  provost demo --json   the decisions and the verified record; the demo decides")]
pub(crate) struct Args {
    /// Do not ask: the demo decides for you, and says so
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let stage = Stage::set().await?;
    let (person, teller) = if context.json() {
        (Person::silent(), Teller::Silent)
    } else {
        (Person::new(args.yes), Teller::Aloud)
    };
    let told = tokio::select! {
        told = story::tell(&stage, teller, person) => told,
        () = interrupted() => {
            output::note("\nthe demo ends here");
            Ok(Value::Null)
        }
    };
    let told = told.and_then(|record| match record {
        Value::Null => Ok(()),
        record if context.json() => output::json(&record),
        _ => Ok(()),
    });
    // Also after a failure: the gateway must be gone before its folder is.
    stage.strike().await;
    told.map(|()| Exit::Ok)
}
