//! `provost keys`: who may come in.

use clap::{Subcommand, ValueEnum};
use serde_json::json;

use super::{
    declared,
    view::{items, moment, text},
};
use crate::{client::Target, context::Context, exit::Exit, output, table::Table};

#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Make a key; its secret is printed once
    #[command(after_help = "Examples:
  provost keys create --role agent claude
  provost keys create --role supervisor --tools 'filesystem.*' fs-bot
  provost keys create --role inbox mail-forwarder
  provost keys create --role human --person carol carol-laptop
  export PROVOST_KEY=$(provost keys create --role human alice)")]
    Create {
        /// What its owner may do
        #[arg(long, value_enum)]
        role: RoleName,
        /// A supervisor's tools, as globs; without any it sees all
        #[arg(long, value_name = "GLOB")]
        tools: Vec<String>,
        /// Whose it is among `people`: where several must agree, all their keys count as one
        #[arg(long, value_name = "NAME")]
        person: Option<String>,
        /// Whose key it is; for an agent's key, the name of the agent
        name: String,
        /// Do not ask, also where agents without a key will stop working
        #[arg(long)]
        yes: bool,
    },
    /// List the keys, without their secrets
    #[command(after_help = "Examples:\n  provost keys list")]
    List,
    /// Remove a key; it stops working at once
    #[command(after_help = "Examples:\n  provost keys remove claude")]
    Remove {
        /// The name of the key, as in `provost keys list`
        name: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleName {
    /// Asks for permission to act
    Agent,
    /// Decides calls that policy sends to supervisors, for its tools
    Supervisor,
    /// Decides every approval
    Human,
    /// Also makes keys, grants and stops
    Admin,
    /// Only delivers replies that came by e-mail
    Inbox,
}

impl RoleName {
    fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Supervisor => "supervisor",
            Self::Human => "human",
            Self::Admin => "admin",
            Self::Inbox => "inbox",
        }
    }
}

pub(super) async fn run(context: &Context, command: Keys) -> anyhow::Result<Exit> {
    match command {
        Keys::Create {
            role,
            tools,
            person,
            name,
            yes,
        } => {
            if matches!(role, RoleName::Agent) && !may_be_made(context, &name, yes).await? {
                output::note("no key was made");
                return Ok(Exit::No);
            }
            create(context, role, &tools, person.as_deref(), &name).await
        }
        Keys::List => list(context).await,
        Keys::Remove { name } => remove(context, &name).await,
    }
}

/// The first agent key ends the time of agents without one: whoever makes it is told, and asked.
async fn may_be_made(context: &Context, name: &str, yes: bool) -> anyhow::Result<bool> {
    let some_stop = declared::tell_who_stops(context, &context.client()?, name).await?;
    Ok(yes || !some_stop || declared::agrees(context).await?)
}

async fn create(
    context: &Context,
    role: RoleName,
    tools: &[String],
    person: Option<&str>,
    name: &str,
) -> anyhow::Result<Exit> {
    let mut body = json!({"name": name, "role": role.as_str(), "tools": tools});
    if let (Some(body), Some(person)) = (body.as_object_mut(), person) {
        body.insert("person".into(), json!(person));
    }
    let made = context
        .client()?
        .post(Target::new("/keys"), &body)
        .await?
        .having(&["key"])?;
    if context.json() {
        output::json(&made)?;
        return Ok(Exit::Ok);
    }
    output::note(format_args!(
        "key of role {} for `{}`; it is shown only this once:",
        role.as_str(),
        output::safe(name)
    ));
    output::line(text(&made, "key"))?;
    Ok(Exit::Ok)
}

async fn list(context: &Context) -> anyhow::Result<Exit> {
    let keys = context.client()?.get(Target::new("/keys")).await?.body;
    if context.json() {
        output::json(&keys)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(["name", "role", "person", "tools", "made"]);
    for key in items(&keys) {
        let tools = key.get("tools").map(items).unwrap_or_default();
        let tools: Vec<_> = tools.iter().filter_map(serde_json::Value::as_str).collect();
        table.row([
            text(key, "name"),
            text(key, "role"),
            text(key, "person"),
            &tools.join(" "),
            &moment(text(key, "created_at")),
        ]);
    }
    output::line(table)?;
    Ok(Exit::Ok)
}

async fn remove(context: &Context, name: &str) -> anyhow::Result<Exit> {
    let removed = context
        .client()?
        .delete(Target::new("/keys").step(name))
        .await?
        .having(&["name", "status"])?;
    if context.json() {
        output::json(&removed)?;
    } else {
        output::line(format_args!("removed the key `{}`", output::safe(name)))?;
    }
    Ok(Exit::Ok)
}
