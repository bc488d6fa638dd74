//! `provost mcp`: the gateway as an MCP server over stdio; and `provost mcp -- COMMAND`: the gate in front of one
//! MCP server over stdio. What makes the server act is decided by the gateway first; lists and notices
//! pass, and what the gate does not know does not.

mod bridge;
mod desk;
mod line;
mod message;
mod outcomes;
mod program;
mod schemas;
mod trust;
mod words;

use std::{
    io::{BufRead as _, Read as _, Write as _},
    path::PathBuf,
    sync::Arc,
    thread,
    time::Duration,
};

use clap::Subcommand;
use provost_core::call::is_name;
use provost_gateway::backends::mcp::RESERVED;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};

pub(super) use self::program::PASSED;
use self::{
    desk::Desk,
    line::Line,
    message::Said,
    outcomes::Outcomes,
    program::{Asked, Program},
    schemas::Schemas,
};
use crate::{
    commands::connect::parse_name,
    context::Context,
    exit::{Exit, usage},
    output,
};

const LONGEST_LINE: u64 = 64 * 1024 * 1024;
/// Longer than an approval waits: the gateway says when nobody decided.
const PATIENCE: Duration = Duration::from_hours(24);
const END_TIME: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost mcp                               the gateway's own tools, for a client that starts servers
  provost mcp --key-file ~/.provost/mcp.key
  provost mcp --config ~/provost.yaml       starts a gateway on this file where none runs
  provost mcp -- npx -y @modelcontextprotocol/server-filesystem /srv/project
  provost mcp --name files -- uvx mcp-server-git
`provost connect mcp` writes it into a client's settings.")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The prefix of the server's tools in policies: NAME.tool [default: from the command]
    #[arg(long, value_name = "NAME", requires = "command")]
    name: Option<String>,
    /// A file with the agent's key [default: agents/AGENT.key in the gateway's data folder, if it
    /// exists]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// The agent's name; its key is the one that `provost connect` left in the gateway's data folder
    #[arg(
        long,
        value_name = "NAME",
        default_value = "mcp",
        value_parser = parse_name,
        conflicts_with = "key_file"
    )]
    agent: String,
    /// The command of an MCP server to put behind the gate; without it, the tools are the gateway's
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// As whom the gateway is asked.
struct Identity {
    key_file: Option<PathBuf>,
    agent: String,
}

impl Args {
    fn identity(&self) -> Identity {
        Identity {
            key_file: self.key_file.clone(),
            agent: self.agent.clone(),
        }
    }
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Review changed tools of the gateway's MCP servers, and accept them
    Trust(trust::Args),
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    if let Some(Action::Trust(args)) = args.action {
        return trust::run(context, args).await;
    }
    if args.command.is_empty() {
        return bridge::run(context, &args.identity(), read_client()).await;
    }
    let identity = args.identity();
    let name = args.name.unwrap_or_else(|| server_name(&args.command));
    if let Some(why) = unusable(&name) {
        let help = "give the server a name of its own with --name";
        return Err(usage(format!("the name `{name}` {why}; {help}")));
    }
    let located = context.gateway()?;
    let key = bridge::key(context, &identity, &located)?;
    // A key that decides is refused at `/decide`.
    let client = context.client_as(&located, &key)?.patient(PATIENCE);
    let mut asked = Asked::listen()?;
    let (program, stdin, stdout) = Program::start(&args.command)?;
    let (to_server, for_server) = mpsc::channel(64);
    let desk = Arc::new(Desk::new(client, name, to_server));
    let writing = tokio::spawn(write(stdin, for_server));
    let mut passing = tokio::spawn(pass_answers(stdout, desk.outcomes(), desk.schemas()));
    let mut lines = read_client();
    let patience = tokio::select! {
        () = hear(&desk, &mut lines) => END_TIME,
        _ = &mut passing => END_TIME,
        () = asked.heard() => {
            writing.abort();
            Duration::ZERO
        }
    };
    // What is decided at once is still asked of the server; nobody is left to wait for more.
    let _ = tokio::time::timeout(patience, desk.finish()).await;
    // Its input ends, and with it the server; if not by itself, then by us.
    desk.end();
    let outcomes = desk.outcomes();
    drop(desk);
    let ended = program.end(patience, &mut asked).await?;
    if !passing.is_finished() {
        // What it said last may still be on its way.
        let _ = tokio::time::timeout(END_TIME, passing).await;
    }
    let _ = tokio::time::timeout(END_TIME, outcomes.finish()).await;
    Ok(ended.map_or(Exit::Ok, |status| Exit::yes_or_no(status.success())))
}

/// Why a server cannot be called so: the name stands before the dot in the names of its tools.
pub(super) fn unusable(name: &str) -> Option<&'static str> {
    if !is_name(name) {
        Some("is not 1 to 256 printable characters")
    } else if name.contains('.') {
        Some("has a dot")
    } else if RESERVED.contains(&name) {
        Some("is the prefix of tools that are not an MCP server's")
    } else {
        None
    }
}

/// `npx -y @modelcontextprotocol/server-filesystem@1.2 /srv` is `filesystem`.
fn server_name(command: &[String]) -> String {
    const STARTERS: [&str; 6] = ["npx", "uvx", "node", "python", "python3", "bunx"];
    let base = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
    let program = command.first().map(|text| base(text)).unwrap_or_default();
    let named = if STARTERS.contains(&&*program) {
        let rest = command.iter().skip(1);
        rest.map(String::as_str)
            .find(|argument| !argument.starts_with('-'))
            .map_or(program, base)
    } else {
        program
    };
    let plain = named.split('@').next().unwrap_or_default();
    let plain = plain.trim_end_matches(".js").trim_end_matches(".py");
    let short = ["mcp-server-", "server-", "mcp-"]
        .iter()
        .find_map(|prefix| plain.strip_prefix(prefix))
        .unwrap_or(plain);
    // A file's ending is no part of its name.
    let short = short.split('.').next().unwrap_or_default();
    if short.is_empty() { "server" } else { short }.to_owned()
}

/// Lines of the client, read by a thread: its end must not be waited for.
fn read_client() -> mpsc::Receiver<String> {
    let (lines, read) = mpsc::channel(64);
    thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let end = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line);
            if !matches!(end, Ok(1..)) || (line.len() as u64 == LONGEST_LINE) {
                return;
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if lines.blocking_send(line).is_err() {
                return;
            }
        }
    });
    read
}

async fn hear(desk: &Arc<Desk>, lines: &mut mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        match Said::read(line) {
            Said::Call(call) => desk.clone().ask(*call),
            Said::Cancel { id, line } => {
                // A call that still waits never reached the server.
                if !desk.cancel(&id) {
                    desk.outcomes().cancelled(&id);
                    desk.pass(line).await;
                }
            }
            Said::Other(line) => desk.pass(line).await,
            Said::Bad(answer) => tell(&answer),
        }
    }
}

/// A line for the client, whole.
fn tell(message: &Value) {
    print_line(message.to_string().as_bytes());
}

fn print_line(line: &[u8]) {
    let line = Line::new(String::from_utf8_lossy(line).trim_end());
    let mut out = std::io::stdout().lock();
    // A client that is gone hears nothing; its end is noticed at its input.
    let _ = out
        .write_all(line.ended().as_bytes())
        .and_then(|()| out.flush());
}

async fn write(mut server: ChildStdin, mut lines: mpsc::Receiver<Line>) {
    while let Some(line) = lines.recv().await {
        let line = line.ended();
        if server.write_all(line.as_bytes()).await.is_err() || server.flush().await.is_err() {
            output::note("provost: the server does not read any more");
            return;
        }
    }
}

/// What the server says goes to the client, line by line: what a tool read must not become a message.
async fn pass_answers(server: ChildStdout, outcomes: Arc<Outcomes>, schemas: Arc<Schemas>) {
    let mut lines = BufReader::new(server).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        // Before the client can call what it is told of.
        schemas.heard(&line);
        print_line(&line);
        outcomes.answered(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_not_taken() {
        for name in ["mesh", "claude", "a.b", "", "a\nb", " a"] {
            assert!(unusable(name).is_some(), "{name}");
        }
        assert_eq!(unusable("files"), None);
    }

    #[test]
    fn servers_are_named_after_their_commands() {
        for (command, name) in [
            (
                "npx -y @modelcontextprotocol/server-filesystem@1.2 /srv",
                "filesystem",
            ),
            ("uvx mcp-server-git", "git"),
            ("/usr/local/bin/mcp-postgres --dsn x", "postgres"),
            ("node dist/weather.js", "weather"),
            ("npx", "npx"),
            ("./tool.sh", "tool"),
        ] {
            let words: Vec<_> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(server_name(&words), name, "{command}");
        }
    }
}
