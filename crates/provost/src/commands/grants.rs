//! `provost grants`: standing permissions.

use clap::Subcommand;
use serde_json::{Map, Value};

use super::view::{items, left, some_text, text};
use crate::{
    client::Target,
    context::Context,
    exit::Exit,
    output,
    table::{Table, columns},
};

/// Before what a grant is limited to.
const INDENT: &str = "  ";

#[derive(Debug, Subcommand)]
pub(crate) enum Grants {
    /// List the grants in force
    #[command(after_help = "Examples:\n  provost grants list")]
    List,
    /// Allow calls for a while without asking; a deny rule still denies
    #[command(after_help = "Examples:
  provost grants create --agent claude --tools 'filesystem.write_*' --for 30m
  provost grants create --agent 'ci-*' --tools make --for 2h --when 'params.target == \"test\"'")]
    Create(Box<CreateArgs>),
    /// Revoke a grant
    #[command(after_help = "Examples:\n  provost grants revoke 1f0c9a7be2d45a63")]
    Revoke {
        /// The id of the grant, as in `provost grants list`
        id: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// The agents that may make the calls
    #[arg(long, value_name = "GLOB")]
    agent: String,
    /// The tools it permits
    #[arg(long, value_name = "GLOB")]
    tools: String,
    /// How long it lasts
    #[arg(long = "for", value_name = "DURATION")]
    duration: String,
    /// Only calls for which this expression holds
    #[arg(long, value_name = "EXPR")]
    when: Option<String>,
    /// At most this many calls
    #[arg(long, value_name = "N")]
    max_uses: Option<u64>,
    /// Only this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The reason, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl CreateArgs {
    fn body(self) -> Value {
        let mut body = Map::new();
        body.insert("agent".into(), self.agent.into());
        body.insert("tools".into(), self.tools.into());
        body.insert("duration".into(), self.duration.into());
        let rest = [
            ("when", self.when),
            ("session_id", self.session),
            ("reasoning", self.reason),
        ];
        body.extend(
            rest.into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.into()))),
        );
        body.extend(
            self.max_uses
                .map(|uses| ("max_uses".to_owned(), uses.into())),
        );
        Value::Object(body)
    }
}

pub(super) async fn run(context: &Context, command: Grants) -> anyhow::Result<Exit> {
    match command {
        Grants::List => list(context).await,
        Grants::Create(args) => create(context, *args).await,
        Grants::Revoke { id } => revoke(context, &id).await,
    }
}

async fn list(context: &Context) -> anyhow::Result<Exit> {
    let grants = context.client()?.get(Target::new("/grants")).await?.body;
    if context.json() {
        output::json(&grants)?;
        return Ok(Exit::Ok);
    }
    let table = grants_table(items(&grants));
    if table.is_empty() {
        output::note("no grants are in force");
    } else {
        output::line(table)?;
        for grant in items(&grants) {
            let only = only(grant);
            if !only.is_empty() {
                output::line(format!("\n{} only:", text(grant, "id")))?;
                for line in output::safe_lines(&only).lines() {
                    let line = format!("{INDENT}{line}");
                    output::line(output::wrapped(&line, columns(), INDENT))?;
                }
            }
        }
    }
    Ok(Exit::Ok)
}

/// What a grant is limited to, whole: a table cuts what is long.
fn only(grant: &Value) -> String {
    let session = some_text(grant, "session_id").map(|id| format!("session {id}"));
    let when = some_text(grant, "when").map(str::to_owned);
    let scope = some_text(grant, "scope").map(str::to_owned);
    let only: Vec<_> = session.into_iter().chain(scope).chain(when).collect();
    only.join(", ")
}

pub(super) fn grants_table(grants: &[Value]) -> Table {
    let mut table = Table::new(["id", "agent", "tools", "left", "uses", "only", "by"]);
    for grant in grants {
        let uses = grant
            .get("uses")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let uses = match grant.get("max_uses").and_then(Value::as_u64) {
            Some(most) => format!("{uses}/{most}"),
            None => uses.to_string(),
        };
        table.row([
            text(grant, "id"),
            text(grant, "agent"),
            text(grant, "tools"),
            &left(text(grant, "remaining")),
            &uses,
            &only(grant),
            text(grant, "granted_by"),
        ]);
    }
    table
}

async fn create(context: &Context, args: CreateArgs) -> anyhow::Result<Exit> {
    let made = context
        .client()?
        .post(Target::new("/grants"), &args.body())
        .await?
        .body;
    if context.json() {
        output::json(&made)?;
        return Ok(Exit::Ok);
    }
    output::line(format_args!(
        "granted {} for {}",
        text(&made, "id"),
        left(text(&made, "remaining"))
    ))?;
    let released = made
        .get("released")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    if released > 0 {
        output::line(format_args!("it released {released} pending approvals"))?;
    }
    Ok(Exit::Ok)
}

async fn revoke(context: &Context, id: &str) -> anyhow::Result<Exit> {
    let revoked = context
        .client()?
        .delete(Target::new("/grants").step(id))
        .await?
        .body;
    if context.json() {
        output::json(&revoked)?;
    } else {
        output::line(format_args!("revoked {}", output::safe(id)))?;
    }
    Ok(Exit::Ok)
}
