//! The binary: reads the command line, runs one command, and ends with its exit code.

mod cli;
mod client;
mod commands;
mod config;
mod context;
mod exit;
mod gateway;
mod output;
mod table;
mod telemetry;
mod yaml;

use std::{process::ExitCode, time::Duration};

use clap::Parser as _;

use crate::{cli::Cli, context::Context, exit::Exit};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::note(format_args!("error: cannot start: {error}"));
            return Exit::No.into();
        }
    };
    let ended = runtime.block_on(commands::run(Context::new(cli.global), cli.command));
    // A thread that still reads the terminal must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended.unwrap_or_else(|error| exit::report(&error)).into()
}
