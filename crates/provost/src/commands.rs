//! One file per command. Each takes the context and its arguments, prints, and returns how it ended.

pub(crate) mod approvals;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod connect;
pub(crate) mod console;
mod declared;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod grants;
pub(crate) mod hook;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod people;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod serve;
pub(crate) mod stop;
mod terminal;
pub(crate) mod traces;
mod version;
mod view;

use crate::{cli::Command, context::Context, exit::Exit};

pub(crate) async fn run(context: Context, command: Command) -> anyhow::Result<Exit> {
    let context = &context;
    match command {
        Command::Serve(args) => serve::run(context, args).await,
        Command::Demo(args) => demo::run(context, args).await,
        Command::Check(args) => check::run(context, args).await,
        Command::Doctor(args) => doctor::run(context, &args).await,
        Command::Console(args) => console::run(context, args).await,
        Command::Connect(command) => connect::run(context, command).await,
        Command::Keys(command) => keys::run(context, command).await,
        Command::Approvals(command) => approvals::run(context, command).await,
        Command::Grants(command) => grants::run(context, command).await,
        Command::Traces(command) => traces::run(context, command).await,
        Command::People(command) => people::run(context, command).await,
        Command::Policy(command) => policy::run(context, command).await,
        Command::Hook(args) => hook::run(context, args).await,
        Command::Mcp(args) => mcp::run(context, args).await,
        Command::Run(args) => Box::pin(run::run(context, *args)).await,
        Command::Runs(command) => runs::run(context, command).await,
        Command::Stop(args) => stop::stop(context, args).await,
        Command::Resume(args) => stop::resume(context, args).await,
        Command::Version => version::run(context),
        Command::Completions(args) => completions::run(&args),
    }
}
