//! Runs a configuration as `provost run` does, without its view: `runner CONFIG.json`. SIGTERM stops it.

use std::{path::Path, process::ExitCode};

use provost_runner::{
    config::{self, Missing},
    run::{self, Outcome},
    setup::{self, Surroundings},
};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        return told("usage: runner CONFIG.json");
    };
    let path = Path::new(&path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return told(error),
    };
    let config = match config::read(&text, folder, Missing::Callback) {
        Ok(config) => config,
        Err(problems) => return told(problems),
    };
    let around = Surroundings::default();
    let brake = around.brake.clone();
    if let Ok(mut term) = signal(SignalKind::terminate()) {
        tokio::spawn(async move {
            term.recv().await;
            brake.pull("SIGTERM");
        });
    }
    let setup = match setup::prepare(config, around).await {
        Ok((setup, _)) => setup,
        Err(unready) => return told(unready),
    };
    let ended = run::run(setup).await;
    match ended.outcome {
        Outcome::Complete { .. } if ended.drained.left == 0 => ExitCode::SUCCESS,
        Outcome::Complete { .. } => told("not everything was delivered"),
        Outcome::Failed { message, .. } => told(message),
        Outcome::Unauthorized => told("the receiver does not take the token"),
    }
}

fn told(problem: impl std::fmt::Display) -> ExitCode {
    eprintln!("{problem}");
    ExitCode::FAILURE
}
