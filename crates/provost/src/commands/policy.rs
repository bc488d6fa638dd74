//! `provost policy`: what the rules say of one call, of a file of cases, and of everything recorded.

mod cases;
mod example;
mod explain;
mod replay;
mod test;

use clap::Subcommand;

use crate::{context::Context, exit::Exit};

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Show what the policy decides for one call, and why
    #[command(after_help = "Examples:
  provost policy explain --agent claude --tool filesystem.write_file --params '{\"path\": \"/etc/passwd\"}'
  provost policy explain --config new.yaml --agent claude --tool payments.send --params-file call.json")]
    Explain(explain::Args),
    /// Test the policy with a file of cases
    #[command(after_help = "Examples:
  provost policy test cases.yaml
  provost policy test cases.yaml --config new.yaml

A case:
  - name: nobody writes outside the project
    agent: claude
    tool: filesystem.write_file
    params: {path: /etc/passwd}
    expect: deny            # allow, deny, supervisor or human_approval
    rule: claude:rule-2     # optional")]
    Test(test::Args),
    /// Apply a policy to recorded decisions, and show which would change
    #[command(after_help = "Examples:
  provost policy replay --config new.yaml --since 7d
  provost policy replay --config new.yaml --from export.jsonl --fail-on-change")]
    Replay(replay::Args),
    /// Print an example policy to start from
    #[command(after_help = "Examples:
  provost policy example coding-agent > provost.yaml
  provost policy example coding-agent --project /srv/project > provost.yaml")]
    Example(example::Args),
}

pub(super) async fn run(context: &Context, command: Policy) -> anyhow::Result<Exit> {
    match command {
        Policy::Explain(args) => explain::run(context, args),
        Policy::Test(args) => test::run(context, &args),
        Policy::Replay(args) => replay::run(context, args).await,
        Policy::Example(args) => example::run(&args),
    }
}
