//! The command line: what can be asked, and with which words. What each command does stands in its file
//! in `commands/`.

use std::{net::SocketAddr, path::PathBuf};

use clap::{
    Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
    parser::ValueSource,
};
use provost_gateway::secret::Secret;

use crate::commands::{
    approvals::Approvals, check, completions, connect::Connect, console, demo, doctor,
    grants::Grants, hook, keys::Keys, mcp, people::People, policy::Policy, run, runs::Runs, serve,
    stop, traces::Traces,
};

const EXAMPLES: &str = "\
Examples:
  provost demo                        see it work, in a minute
  provost serve                       run the gateway on the embedded defaults
  provost connect claude-code         have Claude Code ask it
  provost approvals watch             be asked, and decide, in this terminal
  provost policy explain --agent claude --tool shell.exec --params '{\"cmd\": \"ls\"}'
  provost traces verify               prove that nothing in the record was changed

Exit codes: 0 ok, 1 the answer is no, 2 wrong use, 3 the gateway cannot be reached.";

const SERVE_EXAMPLES: &str = "\
Examples:
  provost serve                                  on the embedded defaults: everything asks a human
  provost serve --config team.yaml --data /var/lib/provost
  PROVOST_LOG=debug provost serve --listen 127.0.0.1:8080";

/// The supervision gateway for AI agents: it decides and records every call before it runs.
#[derive(Debug, Parser)]
#[command(name = "provost", version, after_help = EXAMPLES, propagate_version = true, subcommand_required = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Ends the process where the words make no sense.
    pub(crate) fn read() -> Self {
        let matches = Self::command().get_matches();
        let cli = Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        cli.settled(|name| matches.value_source(name) == Some(ValueSource::CommandLine))
    }

    /// `is_typed` tells what stands on the command line. A folder there says which gateway is meant, and nothing in
    /// the environment says otherwise: an agent's project may set that for the commands that `provost connect` wrote.
    fn settled(mut self, is_typed: impl Fn(&str) -> bool) -> Self {
        let is_agents = matches!(self.command, Command::Hook(_) | Command::Mcp(_));
        let global = &mut self.global;
        global.is_config_typed = is_typed("config");
        global.is_pair_typed = is_typed("url") && is_typed("data");
        if is_typed("data") {
            global.url = global.url.take().filter(|_| is_typed("url"));
            // What people start with `--data`, such as `serve`, still takes its configuration from there.
            let is_kept = global.is_config_typed || !is_agents;
            global.config = global.config.take().filter(|_| is_kept);
        }
        self
    }
}

/// What every command understands.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The configuration file [default: for serve, check, policy, doctor and traces accept-gap, provost.yaml in
    /// this folder or else the embedded defaults; for run, the file of the run; env: PROVOST_CONFIG]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        value_parser = path(),
        env = "PROVOST_CONFIG",
        hide_env = true
    )]
    pub(crate) config: Option<PathBuf>,

    /// The configuration stands on the command line. One in the environment says where the gateway is, but neither
    /// starts anything for an agent nor loosens what its hooks answer.
    #[arg(skip)]
    pub(crate) is_config_typed: bool,

    /// The URL and the data folder both stand on the command line, which says that they belong together. One in the
    /// environment may be from a project's own file.
    #[arg(skip)]
    pub(crate) is_pair_typed: bool,

    /// The folder with the database and the admin key [default: for serve, provost-data; otherwise that of the
    /// gateway you have started; env: PROVOST_DATA]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        value_parser = path(),
        env = "PROVOST_DATA",
        hide_env = true
    )]
    pub(crate) data: Option<PathBuf>,

    /// The address the gateway listens on [default: 127.0.0.1:9090]
    #[arg(long, global = true, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,

    /// The URL of the gateway [default: the gateway you have started; env: PROVOST_URL]
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "PROVOST_URL",
        hide_env = true,
        hide_env_values = true
    )]
    pub(crate) url: Option<String>,

    /// The key to use [default: the admin key in the gateway's data folder; env: PROVOST_KEY, which does not
    /// show in the list of processes]
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        env = "PROVOST_KEY",
        hide_env = true,
        hide_env_values = true
    )]
    pub(crate) key: Option<Secret>,

    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print more details on stderr
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// A path; an empty one is none, so that a variable may be set to nothing.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(serve::Args),
    /// Try it: a gateway, an agent and a supervisor, and you decide
    Demo(demo::Args),
    /// Check a configuration file and print every problem, with its line and help
    Check(check::Args),
    /// Check the gateway, and say what is wrong and how to fix it
    #[command(
        after_help = "Examples:\n  provost doctor\n  provost doctor --json | jq '.findings[] | select(.state != \"ok\")'\n  provost doctor --sandbox"
    )]
    Doctor(doctor::Args),
    /// Connect Claude Code, Codex, Cursor or an MCP client to the gateway
    #[command(subcommand)]
    Connect(Connect),
    /// Print a link that signs you in to the web console; it works once
    Console(console::Args),
    /// Make, list and remove keys
    #[command(subcommand)]
    Keys(Keys),
    /// List pending approvals, and decide them
    #[command(subcommand)]
    Approvals(Approvals),
    /// List, create and revoke grants: calls that are allowed without asking
    #[command(subcommand)]
    Grants(Grants),
    /// Read, verify and export the record of decisions
    #[command(subcommand)]
    Traces(Traces),
    /// List the people who may be asked, and test their channels
    #[command(subcommand)]
    People(People),
    /// Explain, test and replay policies
    #[command(subcommand)]
    Policy(Policy),
    /// Answer the hook of a coding agent: read the event on stdin, and ask the gateway
    Hook(hook::Args),
    /// Run an MCP server over stdio: the gateway's tools, or the gate in front of a server
    Mcp(mcp::Args),
    /// Run a coding agent unattended over ACP, with reports, limits and supervision
    Run(Box<run::Args>),
    /// List, follow, ask and cancel the agents that the gateway runs
    #[command(subcommand)]
    Runs(Runs),
    /// Stop everything, some agents or one session: deny their calls and pending approvals
    Stop(stop::StopArgs),
    /// Lift a stop
    Resume(stop::ResumeArgs),
    /// Print the version
    #[command(after_help = "Examples:\n  provost version\n  provost version --json")]
    Version,
    /// Print a completion script for a shell
    Completions(completions::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            if command.get_subcommands().next().is_none() {
                let help = command
                    .get_after_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                assert!(help.contains("Examples:"), "no examples:{path}");
            }
            command
                .get_subcommands()
                .for_each(|command| check(command, &path));
        }
        check(&Cli::command(), "");
    }

    #[test]
    fn p06_the_environment_says_nothing_against_a_folder_that_was_typed() {
        let both = ["--config", "/c", "--url", "http://u"];
        for (words, typed, config, url) in [
            ("hook codex --data /d", &["data"][..], false, false),
            ("mcp --data /d", &["data"], false, false),
            ("mcp --data /d", &["data", "config"], true, false),
            ("mcp --data /d", &["data", "url"], false, true),
            ("mcp --data /d", &[], true, true),
            ("serve --data /d", &["data"], true, false),
        ] {
            let words = ["provost"].into_iter().chain(words.split(' '));
            let cli = Cli::parse_from(words.chain(both));
            let global = cli.settled(|name| typed.contains(&name)).global;
            let kept = (global.config.is_some(), global.url.is_some());
            assert_eq!(kept, (config, url), "{typed:?}");
            assert_eq!(global.is_config_typed, typed.contains(&"config"));
            assert_eq!(global.is_pair_typed, typed == ["data", "url"]);
        }
    }

    #[test]
    fn a_key_on_the_command_line_never_prints() {
        let cli = Cli::parse_from(["provost", "--key", "pvk_hunter2", "version"]);
        assert!(!format!("{cli:?}").contains("hunter2"));
    }
}
