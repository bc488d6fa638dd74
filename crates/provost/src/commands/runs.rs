//! `provost runs`: the agents that a gateway runs. What they do, what they answered, and what they are asked next.

mod logs;
mod prompt;
mod show;

use clap::Subcommand;
use serde_json::{Value, json};

use super::view::{ago, items, some_text, text};
use crate::{
    client::{Client, Target},
    context::Context,
    exit::{Exit, usage},
    output,
    table::Table,
};

/// The name of the newest run.
const LAST: &str = "last";
const PAGE: usize = 200;

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List runs, newest first
    #[command(after_help = "Examples:
  provost runs list
  provost runs list --state running
  provost runs list --session docs --json | jq -r '.[0].id'")]
    List {
        /// Only runs in this state
        #[arg(long, value_parser = ["queued", "starting", "running", "waiting_permission", "idle", "done", "failed", "cancelled"])]
        state: Option<String>,
        /// Only runs of this agent
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only runs of the session with this name
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// At most this many
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
    },
    /// Show one run: how it stands, what it was asked and what it spent
    #[command(
        after_help = "Examples:\n  provost runs show last\n  provost runs show run_0193 --json | jq .prompts"
    )]
    Show {
        /// The id, or `last`
        id: String,
    },
    /// End a run, or only the turn of a prompt
    #[command(after_help = "Examples:
  provost runs cancel last
  provost runs cancel last --turn                 the session stays
  provost runs cancel last --prompt run_0193-p3   a prompt that waits")]
    Cancel {
        /// The id, or `last`
        id: String,
        /// End the turn that is under way, and keep the session
        #[arg(long, conflicts_with = "prompt")]
        turn: bool,
        /// Cancel this prompt, and keep the session
        #[arg(long, value_name = "PROMPT")]
        prompt: Option<String>,
    },
    /// Show what happened in a run, and what happens
    #[command(after_help = "Examples:
  provost runs logs last
  provost runs logs last --follow
  provost runs logs last --json | jq 'select(.decision)'")]
    Logs {
        /// The id, or `last`
        id: String,
        /// Go on until the run ends
        #[arg(long, short)]
        follow: bool,
    },
    /// Print the agent's last message
    #[command(after_help = "Examples:
  provost runs answer last > answer.md
  provost runs answer last --wait
  provost runs answer last --prompt run_0193-p2

Exit codes: 0 printed, 1 there is none, or the prompt failed.")]
    Answer {
        /// The id, or `last`
        id: String,
        /// The answer to this prompt [default: the last one]
        #[arg(long, value_name = "PROMPT")]
        prompt: Option<String>,
        /// Wait for it
        #[arg(long)]
        wait: bool,
    },
    /// Send the next prompt to a run whose session stays
    #[command(after_help = "Examples:
  provost runs prompt last 'now the docs'
  provost runs prompt last 'and the tests' --wait
  git diff | provost runs prompt last - --model opus

A session stays if its run was started with `keep` or with a `session` name.")]
    Prompt(prompt::Args),
    /// Show what changed in the folder of a run, by file
    #[command(
        after_help = "Examples:\n  provost runs changes last\n  provost runs changes last --json | jq '.files[].path'"
    )]
    Changes {
        /// The id, or `last`
        id: String,
    },
}

pub(super) async fn run(context: &Context, command: Runs) -> anyhow::Result<Exit> {
    let client = context.client()?;
    match command {
        Runs::List {
            state,
            agent,
            session,
            limit,
        } => {
            let target = Target::new("/v1/runs")
                .query_some("state", state)
                .query_some("agent", agent)
                .query_some("session", session);
            list(context, &client, &target, limit).await
        }
        Runs::Show { id } => show::run(context, &client, &id).await,
        Runs::Cancel { id, turn, prompt } => {
            cancel(context, &client, &id, turn, prompt.as_deref()).await
        }
        Runs::Logs { id, follow } => logs::run(context, &client, &id, follow).await,
        Runs::Answer { id, prompt, wait } => {
            let id = resolve(&client, &id).await?;
            prompt::answer(context, &client, &id, prompt.as_deref(), wait).await
        }
        Runs::Prompt(args) => prompt::run(context, &client, args).await,
        Runs::Changes { id } => show::changes(context, &client, &id).await,
    }
}

async fn list(
    context: &Context,
    client: &Client,
    target: &Target,
    limit: usize,
) -> anyhow::Result<Exit> {
    let mut runs: Vec<Value> = Vec::new();
    let mut before: Option<String> = None;
    while runs.len() < limit {
        let wanted = limit.saturating_sub(runs.len()).min(PAGE);
        let page = target
            .clone()
            .query("limit", wanted)
            .query_some("before", before.as_ref());
        let page = client.get(page).await?.having(&["runs", "next"])?;
        runs.extend(
            items(page.get("runs").unwrap_or(&Value::Null))
                .iter()
                .cloned(),
        );
        before = some_text(&page, "next").map(str::to_owned);
        if before.is_none() {
            break;
        }
    }
    if context.json() {
        output::json(&runs)?;
    } else if runs.is_empty() {
        output::note("there are no runs that fit");
    } else {
        let mut table =
            Table::new(["id", "state", "agent", "session", "prompt", "age"]).below("prompt");
        for run in &runs {
            let age = ago(text(run, "createdAt"), context.now());
            table.row([
                text(run, "id"),
                text(run, "state"),
                text(run, "agent"),
                text(run, "session"),
                text(run, "prompt"),
                &age,
            ]);
        }
        output::line(table)?;
    }
    Ok(Exit::Ok)
}

async fn cancel(
    context: &Context,
    client: &Client,
    id: &str,
    turn: bool,
    prompt: Option<&str>,
) -> anyhow::Result<Exit> {
    let id = resolve(client, id).await?;
    let place = Target::new("/v1/runs").step(&id);
    let prompt = if turn {
        let run = client.get(place.clone()).await?.body;
        let prompts = items(run.get("prompts").unwrap_or(&Value::Null));
        // The first that has not ended: one that has just begun may still be told as queued.
        let is_open = |one: &&Value| matches!(text(one, "state"), "running" | "queued");
        let turn = prompts.iter().find(is_open);
        let turn = turn.and_then(|one| some_text(one, "promptId"));
        let turn = turn.map(str::to_owned);
        Some(turn.ok_or_else(|| anyhow::anyhow!("no turn is under way: nothing was cancelled"))?)
    } else {
        prompt.map(str::to_owned)
    };
    let (target, what) = match &prompt {
        Some(prompt) => (place.step("prompts").step(prompt), "prompt"),
        None => (place, "run"),
    };
    let answer = client.post(target.step("cancel"), &json!({})).await?;
    if context.json() {
        output::json(&answer.body)?;
    } else {
        let named = prompt.as_deref().unwrap_or(&id);
        // A session that waits has nothing to cancel: it ends as its last prompt did.
        let idle = prompt.is_none() && text(&answer.body, "state") == "idle";
        let did = if idle {
            "ended the session of"
        } else {
            "cancelled"
        };
        output::line(format_args!("{did} {what} {}", output::safe(named)))?;
    }
    Ok(Exit::Ok)
}

/// The newest run, where that is meant.
async fn resolve(client: &Client, id: &str) -> anyhow::Result<String> {
    if id != LAST {
        return Ok(id.to_owned());
    }
    let newest = client
        .get(Target::new("/v1/runs").query("limit", 1))
        .await?;
    let newest = newest.having(&["runs"])?;
    let newest = items(newest.get("runs").unwrap_or(&Value::Null));
    let newest = newest.first().and_then(|run| some_text(run, "id"));
    let newest = newest.map(str::to_owned);
    newest.ok_or_else(|| usage("there is no run yet"))
}
