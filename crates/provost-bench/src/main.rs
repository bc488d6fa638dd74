//! The benchmark: starts the gateway and its baselines on loopback, puts the same load on each, and
//! prints one table. Ratios are what counts: both sides are measured in the same run, in turns, by the
//! same client, each in a process of its own.

mod bare;
mod gateway;
mod load;
mod measure;
mod process;
mod report;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::{bare::Bare, gateway::Stage, report::Report};

/// Measures Provost against bare servers that do the same work without it.
#[derive(Debug, Parser)]
#[command(name = "provost-bench")]
struct Options {
    /// Shorter: under a minute, and rougher
    #[arg(long)]
    quick: bool,

    /// As short as can be: shows that everything can be measured, its numbers say nothing
    #[arg(long, conflicts_with = "quick")]
    once: bool,

    /// Write the results as JSON too, to a file or to stdout instead of the table
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,

    /// Exit with 1 when a target is missed
    #[arg(long)]
    check: bool,

    /// Measure only these
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Measure>,

    /// The gateway to measure [default: the `provost` beside this program, built when missing]
    #[arg(long, value_name = "PATH")]
    gateway: Option<PathBuf>,

    /// Connections of the load
    #[arg(long, value_name = "N", default_value_t = load::CONNECTIONS)]
    connections: usize,

    #[command(subcommand)]
    bare: Option<Bare>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Measure {
    Decisions,
    Forwarded,
    Approvals,
    Mcp,
    Policy,
    Listing,
    Waiting,
    Runs,
    Start,
}

/// How long each measurement may take.
#[derive(Clone, Copy, Debug)]
struct Effort {
    rounds: usize,
    round: Duration,
    warm_up: Duration,
    connections: usize,
}

impl Effort {
    fn new(options: &Options) -> Self {
        let (rounds, millis, warm_up) = match (options.once, options.quick) {
            (true, _) => (1, 100, 10),
            (_, true) => (3, 1500, 500),
            _ => (5, 5000, 2000),
        };
        Self {
            rounds,
            round: Duration::from_millis(millis),
            warm_up: Duration::from_millis(warm_up),
            connections: options.connections,
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(bare) = options.bare {
        return ended(bare::run(bare), |()| ExitCode::SUCCESS);
    }
    // One thread: the client must leave the machine to whom it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let report = runtime
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(run_until_asked_to_end(&options)));
    ended(report, |report| {
        if options.check && report.has_misses() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }
    })
}

/// Whoever ends this program ends what it started, and its folder goes away.
async fn run_until_asked_to_end(options: &Options) -> anyhow::Result<Report> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        report = run(options) => report,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        _ = terminate.recv() => anyhow::bail!("asked to end"),
    }
}

async fn run(options: &Options) -> anyhow::Result<Report> {
    let files = process::raise_open_files();
    let stage = Stage::prepare(options.gateway.clone())?;
    let effort = Effort::new(options);
    let wanted = |measure| options.only.is_empty() || options.only.contains(&measure);
    let mut report = Report::begin(&effort);
    if wanted(Measure::Policy) {
        measure::policy::measure(&mut report, effort)?;
    }
    if wanted(Measure::Decisions) {
        measure::decisions::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Forwarded) {
        measure::forwarded::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Mcp) {
        measure::mcp::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Approvals) {
        measure::approvals::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Listing) {
        measure::listing::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Waiting) {
        measure::waiting::measure(&mut report, &stage, files).await?;
    }
    if wanted(Measure::Runs) {
        measure::runs::measure(&mut report, &stage, effort).await?;
    }
    if wanted(Measure::Start) {
        measure::start::measure(&mut report, &stage).await?;
    }
    report.end();
    report.write(options.json.as_deref())?;
    Ok(report)
}

fn ended<T>(result: anyhow::Result<T>, code: impl FnOnce(T) -> ExitCode) -> ExitCode {
    match result {
        Ok(made) => code(made),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
