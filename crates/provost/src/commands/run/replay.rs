//! `provost run replay`: a journal, shown or sent again.

mod end;
mod send;
mod show;
mod story;

use std::{
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use provost_runner::{
    config::{Callback, Secret},
    journal::{Lines, Read, What},
};

use crate::{
    context::Context,
    exit::{Exit, usage},
    output,
};

pub(crate) use show::Player;

const TOKEN_VARIABLE: &str = "PROVOST_CALLBACK_TOKEN";

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost run replay journal.jsonl
  provost run replay journal.jsonl --speed 4
  provost run replay journal.jsonl --fast --json | jq 'select(.decision)'
  provost run replay journal.jsonl --to https://factory.example/callback --token-file token

With --to, the callback gets the reports of the run as they were first sent: the
same ids, numbers and bytes, with new signatures. Of a run that had no callback,
it gets what would have been sent, numbered from 1.

Exit codes: 0 shown, or everything delivered; 1 not everything delivered, or not
as it was first sent; 2 wrong use; 4 the callback does not accept the token, or
refuses every report.")]
pub(crate) struct Args {
    /// The journal of a run
    journal: PathBuf,
    /// How many times faster than the run; 0 is without any pause
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = speed, conflicts_with = "to")]
    speed: f64,
    /// Without any pause
    #[arg(long, conflicts_with_all = ["speed", "to"])]
    fast: bool,
    /// The longest pause, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        conflicts_with = "to"
    )]
    pause: u64,
    /// Send the reports of the run to this callback instead
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// A file with the callback's token [default: env PROVOST_CALLBACK_TOKEN]
    #[arg(long, value_name = "FILE", requires = "to")]
    token_file: Option<PathBuf>,
    /// A file with the secret of the webhook signature, where it is not the token
    #[arg(long, value_name = "FILE", requires = "to")]
    signing_secret_file: Option<PathBuf>,
    /// How long a callback that takes nothing is tried, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "to")]
    patience: u64,
}

type Journal = Lines<BufReader<File>>;

fn speed(text: &str) -> Result<f64, String> {
    let speed: f64 = text.parse().map_err(|_| "it is a number".to_owned())?;
    if speed.is_finite() && speed >= 0.0 {
        Ok(speed)
    } else {
        Err("it is 0 or more".to_owned())
    }
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let journal = open(&args.journal)?;
    let Some(callback) = callback(&args)? else {
        let pace = show::Pace::new(
            if args.fast { 0.0 } else { args.speed },
            Duration::from_secs(args.pause),
        );
        return show::show(context, journal, pace).await;
    };
    let patience = Duration::from_secs(args.patience);
    let reported = reported(open(&args.journal)?)?;
    send::send(context, journal, reported, callback, patience).await
}

fn open(path: &Path) -> anyhow::Result<Journal> {
    let unreadable = || format!("`{}` cannot be read", path.display());
    let file = File::open(path).with_context(unreadable)?;
    if file.metadata().with_context(unreadable)?.is_dir() {
        return Err(usage(format!(
            "`{}` is a folder: name the journal in it",
            path.display()
        )));
    }
    Ok(Lines::new(BufReader::new(file)))
}

/// Of each run in a journal, whether it was reported: then its reports are in it.
fn reported(journal: Journal) -> anyhow::Result<Vec<bool>> {
    let mut story = story::Story::default();
    let mut runs = Vec::new();
    for read in journal {
        let Read::Line(line) = read? else { continue };
        if let [story::Tell::Run(_), ..] = &*story.hear(&line.what) {
            runs.push(false);
        }
        if let (What::Report(_), Some(last)) = (&line.what, runs.last_mut()) {
            *last = true;
        }
    }
    Ok(runs)
}

fn callback(args: &Args) -> anyhow::Result<Option<Callback>> {
    let Some(url) = args.to.clone() else {
        return Ok(None);
    };
    let token = match &args.token_file {
        Some(file) => Some(secret(file)?),
        None => std::env::var(TOKEN_VARIABLE).ok().map(Secret::new),
    };
    let token = token
        .filter(|token| !token.reveal().is_empty())
        .ok_or_else(|| usage(format!("the callback's token is missing: name its file with --token-file, or set {TOKEN_VARIABLE}")))?;
    let signing_secret = args
        .signing_secret_file
        .as_deref()
        .map(secret)
        .transpose()?;
    Ok(Some(Callback {
        url,
        token,
        signing_secret,
    }))
}

fn secret(file: &Path) -> anyhow::Result<Secret> {
    let text =
        fs::read_to_string(file).with_context(|| format!("`{}` cannot be read", file.display()))?;
    Ok(Secret::new(text.trim()))
}

/// What is wrong with a line, in words; `None`: nothing is.
fn complaint(read: &Read) -> Option<String> {
    match read {
        Read::Line(_) => None,
        Read::Broken { number, problem } => Some(format!(
            "line {number} cannot be read and is skipped: {}",
            output::safe(problem)
        )),
        Read::CutOff { number } => Some(format!(
            "the journal is cut off in line {number}: the run was killed"
        )),
    }
}
