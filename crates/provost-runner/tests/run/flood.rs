//! More than fits: an agent that writes faster than anybody reads, in a runner that is a process of its own.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::{
    receiver::Act,
    script::{flood, turn, unanswered},
    trial::{Trial, example, until},
};

const UPDATES: usize = 100_000;
const SIZE: usize = 2_000;
/// Less than what the agent writes, and more than the runner needs.
const MOST_KILOBYTES: u64 = 150_000;

fn runner(trial: &Trial) -> Child {
    Command::new(example("runner"))
        .arg(trial.write())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

/// The most memory that a process has had.
fn peak(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Watches its memory until it ends.
async fn watched(runner: &mut Child) -> (bool, u64) {
    let pid = runner.id().unwrap();
    let mut most = 0;
    let mut look = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            status = runner.wait() => return (status.unwrap().success(), most),
            _ = look.tick() => most = most.max(peak(pid).unwrap_or(0)),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_updates_pass_in_bounded_memory() {
    let began = Instant::now();
    // The receiver is away at first, and then slower than the agent.
    let trial = Trial::with([Act::Status(503), Act::Status(503), Act::Status(503)]).await;
    trial.receiver.keep_little();
    let trial = trial
        .set("spoolDir", "spool")
        .set("spoolBytes", 2_000_000_000_u64)
        .set("journal", Value::Null)
        .prompt(turn(&[flood(UPDATES, SIZE)]));
    let (well, peak) = watched(&mut runner(&trial)).await;
    assert!(well);
    println!(
        "{UPDATES} updates: {:?}, {peak} kB at most",
        began.elapsed()
    );
    assert!(peak > 0 && peak < MOST_KILOBYTES, "{peak} kB");
    let log = std::fs::read_to_string(trial.at("log")).unwrap();
    assert!(log.len() > UPDATES * SIZE);
    assert!(trial.receiver.raw().iter().eq(log.lines()));
    let last = trial.receiver.taken().pop().unwrap();
    assert_eq!(last["kind"], "prompt_complete");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lines_pass_in_bounded_memory() {
    let trial = Trial::with([Act::Status(503)]).await;
    trial.receiver.keep_little();
    let trial = trial
        .set("spoolDir", "spool")
        .set("spoolBytes", 2_000_000_000_u64)
        .prompt(turn(&[flood(50, 5_000_000)]));
    let (well, peak) = watched(&mut runner(&trial)).await;
    assert!(well);
    println!("long lines: {peak} kB at most");
    assert!(peak > 0 && peak < MOST_KILOBYTES, "{peak} kB");
    let log = std::fs::read_to_string(trial.at("log")).unwrap();
    assert!(trial.receiver.raw().iter().eq(log.lines()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_folder_memory_is_bounded_as_well() {
    let trial = Trial::with([Act::Status(503), Act::Status(503), Act::Status(503)]).await;
    let trial = trial
        .set("journal", Value::Null)
        .prompt(turn(&[flood(40_000, SIZE)]));
    trial.receiver.keep_little();
    let (well, peak) = watched(&mut runner(&trial)).await;
    // Updates may have gone, and the end did not.
    assert!(well);
    println!("without a folder: {peak} kB at most");
    assert!(peak > 0 && peak < MOST_KILOBYTES, "{peak} kB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_stops_a_flood_and_keeps_what_is_owed() {
    let away = std::iter::repeat_n(Act::Status(503), 1000);
    let trial = Trial::with(away).await.set("spoolDir", "spool");
    let trial = trial.prompt(unanswered(&[flood(1_000_000_000, SIZE)]));
    let mut runner = runner(&trial);
    let spooled = || {
        std::fs::read_dir(trial.at("spool"))
            .into_iter()
            .flatten()
            .flatten()
            .count()
    };
    until(|| spooled() > 0).await;
    until(|| std::fs::metadata(trial.at("journal")).is_ok_and(|file| file.len() > 20_000_000))
        .await;
    let pid = rustix::process::Pid::from_raw(runner.id().unwrap().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(30), runner.wait()).await;
    assert!(!ended.unwrap().unwrap().success());
    let journal = std::fs::read_to_string(trial.at("journal")).unwrap();
    let end = journal.lines().rfind(|line| line.contains("\"ended\""));
    assert!(end.unwrap().contains("\"reason\":\"stopped\""), "{end:?}");
    let folder = std::fs::read_dir(trial.at("spool"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    files.sort();
    let last = files.pop().unwrap();
    assert!(
        last.to_str().unwrap().ends_with(".prompt_failed.json"),
        "{last:?}"
    );
    assert!(files.len() > 10);
}
