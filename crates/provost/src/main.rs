//! The binary: reads the command line, runs one command, and ends with its exit code.

mod cli;
mod client;
mod commands;
mod config;
mod context;
mod exit;
mod found_key;
mod gateway;
mod heads;
mod locate;
mod output;
mod registry;
mod regular_file;
mod table;
mod telemetry;
mod user_folder;

use std::{pin::Pin, process::ExitCode, time::Duration};

use crate::{cli::Cli, context::Context, exit::Exit};

/// What a call allocates is freed by other threads, and thousands of calls wait: others were slower at the first
/// (the system's, mimalloc) and larger with the second.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    // Huge pages would hold memory that is reserved and never touched. Where they cannot be refused, the
    // process is merely larger.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    // Before there is a second thread: only this one is confined.
    if let Some(ended) = commands::run::confined() {
        return ended.into();
    }
    if let Some(ended) = commands::run::kept() {
        return ended;
    }
    let cli = Cli::read();
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
    // Behind a pointer: every way in which the runtime polls a future would have a copy of all commands compiled.
    let command: Pin<Box<dyn Future<Output = _>>> =
        Box::pin(commands::run(Context::new(cli.global), cli.command));
    let ended = runtime.block_on(command);
    // A thread that still reads the terminal must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    ended.unwrap_or_else(|error| exit::report(&error)).into()
}
