//! `provost hook`: the command that a coding agent runs as its hook. It reads what the agent says on stdin,
//! asks the gateway, and answers in the agent's own shape. When the gateway cannot be asked, the answer
//! is no.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::{fd::AsFd as _, unix::fs::MetadataExt as _},
    path::PathBuf,
    time::Duration,
};

use anyhow::Context as _;
use clap::ValueEnum;
use provost_core::call::exact_numbers;
use provost_gateway::hooks::{Dialect, Heard, Reply, What};
use provost_runner::json_error;
use serde_json::{Map, Value};

use super::connect::claude_code::ensure_nothing_planted;
use crate::{
    client::{Client, ClientError, Target},
    config::Unreachable,
    context::Context,
    exit::{Exit, usage},
    found_key::FoundKey,
    output,
};

const LARGEST_INPUT: u64 = 64 * 1024 * 1024;
/// Longer than an approval waits: the gateway says when nobody decided. Shorter than `provost connect` has
/// agents wait for the command, because some of them go on when it does not end.
const PATIENCE: Duration = Duration::from_hours(23);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost hook claude-code < event.json
  provost hook codex --key-file ~/.provost/codex.key
  provost hook cursor --unreachable ask
`provost connect` writes it into an agent's settings.")]
pub(crate) struct Args {
    /// The agent that runs the hook
    #[arg(value_enum)]
    agent: Agent,
    /// A file with the agent's key [default: agents/NAME.key in the gateway's data folder, if it exists]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The agent's name: its key is agents/NAME.key in the gateway's data folder [default: AGENT]
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    name: Option<String>,
    /// The answer if the gateway cannot be reached [default: hooks.unreachable of the file that --config names,
    /// else deny]
    #[arg(long, value_enum)]
    unreachable: Option<Unreachable>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Agent {
    ClaudeCode,
    Codex,
    Cursor,
}

impl From<Agent> for Dialect {
    fn from(agent: Agent) -> Self {
        match agent {
            Agent::ClaudeCode => Self::ClaudeCode,
            Agent::Codex => Self::Codex,
            Agent::Cursor => Self::Cursor,
        }
    }
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let dialect = Dialect::from(args.agent);
    // Agents take the exit code of a usage error, 2, for a no.
    let said = read().map_err(|problem| usage(format!("not permitted: {problem}")))?;
    let heard = dialect
        .hear(&said)
        .map_err(|problem| usage(format!("not permitted: {problem}")))?;
    ensure_own_environment(args.agent, &heard)
        .map_err(|problem| usage(format!("not permitted: {problem:#}")))?;
    let answer = match ask(context, &args, dialect, said).await {
        Ok(answer) => settle(dialect, &heard, answer),
        Err(error) => {
            let unreachable = args.unreachable.unwrap_or_else(|| context.unreachable());
            fall_back(dialect, &heard, unreachable, &error)
        }
    };
    // Silence is a yes to agents, so an answer that nobody gets ends as a no does.
    say(&answer).map_err(|problem| usage(format!("not permitted: {problem:#}")))?;
    Ok(Exit::Ok)
}

/// The settings of a project reach the hooks as their environment. Claude Code says which project it is; else it is
/// the folder in which it works.
fn ensure_own_environment(agent: Agent, heard: &Heard) -> anyhow::Result<()> {
    let Agent::ClaudeCode = agent else {
        return Ok(());
    };
    let said = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let project = said.or_else(|| heard.folder.as_ref().map(PathBuf::from));
    project.map_or(Ok(()), |project| ensure_nothing_planted(&project))
}

fn say(answer: &Value) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let cannot = "the hook's answer cannot be written";
    anyhow::ensure!(
        !leads_nowhere(&out).context(cannot)?,
        "{cannot}: stdout leads nowhere"
    );
    let text = serde_json::to_string_pretty(answer)?;
    writeln!(out, "{text}").context(cannot)?;
    out.flush().context(cannot)
}

/// Where stdout is closed, the runtime has put the null device there, which takes everything.
fn leads_nowhere(out: &io::StdoutLock<'_>) -> io::Result<bool> {
    let out = File::from(out.as_fd().try_clone_to_owned()?).metadata()?;
    let null = fs::metadata("/dev/null");
    Ok(null.is_ok_and(|null| out.rdev() == null.rdev()))
}

/// What the agent says: one JSON object.
fn read() -> anyhow::Result<Map<String, Value>> {
    let cannot = "the hook's input cannot be read";
    let mut text = Vec::new();
    let mut input = io::stdin().lock();
    let mut beginning = input.by_ref().take(LARGEST_INPUT + 1);
    beginning.read_to_end(&mut text).context(cannot)?;
    if text.len() as u64 > LARGEST_INPUT {
        // An agent that cannot say all it has to may not wait for the answer.
        io::copy(&mut input, &mut io::sink()).context(cannot)?;
        anyhow::bail!("the hook's input is larger than {LARGEST_INPUT} bytes");
    }
    let text = exact_numbers(&text);
    serde_json::from_slice(&text).map_err(|error| {
        let why = json_error::told(&error);
        anyhow::anyhow!("the hook's input is not a JSON object: {why}")
    })
}

async fn ask(
    context: &Context,
    args: &Args,
    dialect: Dialect,
    said: Map<String, Value>,
) -> anyhow::Result<Value> {
    let client = client(context, args, dialect)?.patient(PATIENCE);
    let target = Target::new("/hooks").step(dialect.name());
    Ok(client.post(target, &Value::Object(said)).await?.body)
}

/// With the agent's key, never with the admin's: of the file that was named, of the environment, of the file
/// that `provost connect` leaves, or, from this machine, by the agent's name alone.
fn client(context: &Context, args: &Args, dialect: Dialect) -> anyhow::Result<Client> {
    let located = context.gateway()?;
    if let Some(file) = &args.key_file {
        let secret = fs::read_to_string(file);
        let secret = secret.with_context(|| format!("cannot read `{}`", file.display()))?;
        return context.client_as(&located, &FoundKey::given(secret));
    }
    if let Some(secret) = context.given_key() {
        return context.client_as(&located, &FoundKey::given(secret));
    }
    let name = args.name.as_deref().unwrap_or(dialect.name());
    let key = located.agent_key(name);
    let declared = || FoundKey::given(format!("agent:{name}"));
    context.client_as(&located, &key.unwrap_or_else(declared))
}

/// What answers may not be a gateway of ours: without a clear yes or no, the answer is no.
fn settle(dialect: Dialect, heard: &Heard, answer: Value) -> Value {
    if asks(heard) && !dialect.decides(&heard.event, &answer) {
        let reason = "not permitted: what answers there is not a provost gateway";
        return dialect.reply(&heard.event, Reply::Deny(reason));
    }
    answer
}

fn fall_back(
    dialect: Dialect,
    heard: &Heard,
    unreachable: Unreachable,
    error: &anyhow::Error,
) -> Value {
    output::note(format_args!("provost: {error:#}"));
    let client = error.downcast_ref::<ClientError>();
    let mut reason = format!("not permitted, because the gateway did not decide: {error:#}");
    if let Some(help) = client.and_then(ClientError::help) {
        reason.extend(["; ", &help]);
    }
    // A gateway that refuses to answer was reached: whoever lost a key must not decide without it.
    let is_outage = client.is_some_and(ClientError::is_outage);
    let reply = match unreachable {
        _ if !asks(heard) => Reply::Neutral,
        Unreachable::Ask if is_outage && matches!(heard.what, What::Ask(_)) => Reply::Ask(&reason),
        _ => Reply::Deny(&reason),
    };
    dialect.reply(&heard.event, reply)
}

fn asks(heard: &Heard) -> bool {
    matches!(heard.what, What::Ask(_) | What::Unreadable(_))
}
