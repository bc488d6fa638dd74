//! `provost people`: who may be asked, and whether questions reach them.

mod test;

use clap::Subcommand;
use serde_json::Value;

use super::view::{items, moment, some_text, text};
use crate::{client::Target, context::Context, exit::Exit, output, table::Table};

#[derive(Debug, Subcommand)]
pub(crate) enum People {
    /// List the people who may be asked, their channels, and whether they may be asked now
    #[command(after_help = "Examples:\n  provost people list\n  provost people list --json")]
    List,
    /// Send a test question on each of a person's channels, and wait for the answers
    #[command(
        after_help = "The question decides nothing and opens no tool. Answer it with 1 or 3.\n
Examples:
  provost people test carol
  provost people test carol --timeout 1m
  provost people test carol --no-wait          only send, do not wait"
    )]
    Test(test::Args),
}

pub(super) async fn run(context: &Context, command: People) -> anyhow::Result<Exit> {
    match command {
        People::List => list(context).await,
        People::Test(args) => test::run(context, &args).await,
    }
}

async fn list(context: &Context) -> anyhow::Result<Exit> {
    let people = context.client()?.get(Target::new("/v1/people")).await?.body;
    if context.json() {
        output::json(&people)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(["name", "role", "channels", "now"]);
    for person in items(&people) {
        let channels: Vec<_> = channels(person)
            .map(|channel| text(channel, "channel"))
            .collect();
        let now = match some_text(person, "quiet_until") {
            None => "may be asked".to_owned(),
            Some(until) => format!("quiet until {}", moment(until)),
        };
        let channels = if channels.is_empty() {
            "console only".to_owned()
        } else {
            channels.join(", ")
        };
        table.row([text(person, "name"), text(person, "role"), &channels, &now]);
    }
    if table.is_empty() {
        output::note("there are no `people` in the configuration: whoever has a key decides");
    } else {
        output::line(table)?;
    }
    for person in items(&people) {
        tell_problems(person);
    }
    Ok(Exit::Ok)
}

fn channels(person: &Value) -> impl Iterator<Item = &Value> {
    let channels = person.get("channels").map(items).unwrap_or_default();
    channels.iter()
}

fn tell_problems(person: &Value) {
    for channel in channels(person) {
        for problem in channel.get("problems").map(items).unwrap_or_default() {
            output::note(format_args!(
                "{} on {}: {}\n  → {}",
                output::safe(text(person, "name")),
                text(channel, "channel"),
                output::safe(text(problem, "problem")),
                output::safe(text(problem, "help"))
            ));
        }
    }
}
