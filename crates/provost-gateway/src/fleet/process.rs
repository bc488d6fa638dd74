//! The runner as a process: it is not our child alone. A gateway that ends leaves it running, and the next one
//! finds it by the lock that it holds.

use std::{
    fs::File,
    io,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{ExitStatus, Stdio},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
    process::{Pid, Signal, kill_process, kill_process_group},
};
use tokio::process::{Child, Command};

use super::folder::{Folder, private};

/// Of our own environment, what a runner and its agent get: never our secrets.
const INHERITED: [&str; 25] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "TZ",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "PROVOST_LOG",
];

/// By this in its environment, whatever was started for a run is known to be its.
const MARK: &str = "PROVOST_RUN";
/// Who is ended may have started another one just before.
const ROUNDS: usize = 20;

/// What a runner is started for.
pub(super) enum Task<'a> {
    Run,
    /// To report that it is over, in place of a runner that cannot.
    Over {
        reason: &'a str,
        message: &'a str,
    },
    /// To send the reports that a runner left.
    Reports,
}

/// Starts the runner of a run whose configuration is written. Its input is the lock: it holds it for as long
/// as it lives, and its agent, whose input is another, does not.
pub(super) fn launch(
    launcher: &Path,
    run: &str,
    folder: &Folder,
    calls_back: bool,
    task: &Task<'_>,
) -> io::Result<Child> {
    let lock = open_lock(folder)?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    let log = private().append(true).create(true).open(folder.log())?;
    let inherited = INHERITED
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut command = Command::new(launcher);
    command
        .arg("--config")
        .arg(folder.config())
        .args(["run", "--journal"])
        .arg(folder.journal());
    if !calls_back {
        command.arg("--no-callback");
    }
    match task {
        Task::Run => {}
        Task::Over { reason, message } => {
            command.arg("--over").args([reason, message]);
        }
        Task::Reports => {
            command.arg("--send-left");
        }
    }
    command
        .current_dir(folder.path())
        .env_clear()
        .envs(inherited)
        .env(MARK, run)
        .stdin(Stdio::from(lock))
        .stdout(Stdio::from(log.try_clone()?))
        .stderr(Stdio::from(log))
        // Whoever interrupts the gateway does not mean its runs.
        .process_group(0)
        .kill_on_drop(false)
        .spawn()
}

/// Whether its runner lives.
pub(super) fn lives(folder: &Folder) -> io::Result<bool> {
    match flock(&open_lock(folder)?, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn open_lock(folder: &Folder) -> io::Result<File> {
    private()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.lock())
}

/// Asks it to end. Only for one that lives: the number of a dead one may be another's.
pub(super) fn ask_to_end(pid: i32) {
    signal(pid, |pid| kill_process(pid, Signal::TERM));
}

/// With everything in its group; its agent is another one's leader, and is left.
pub(super) fn force_to_end(pid: i32) {
    signal(pid, |pid| kill_process_group(pid, Signal::KILL));
}

/// Ends what a runner that is gone left behind: its agent hears the end of its input, and may not heed it.
/// Nobody would answer it, or hold it to its limits.
pub(super) fn end_what_is_left(run: &str) {
    let mark = format!("{MARK}={run}");
    for _ in 0..ROUNDS {
        let left = marked(mark.as_bytes());
        if left.is_empty() {
            return;
        }
        for pid in left {
            tracing::warn!(run.id = run, pid, "what a run left behind is ended");
            signal(pid, |pid| kill_process(pid, Signal::KILL));
        }
    }
    tracing::error!(run.id = run, "what a run left behind does not end");
}

/// Where there is no `/proc`, nobody is found.
fn marked(mark: &[u8]) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark)
    })
    .collect()
}

fn signal(pid: i32, send: impl FnOnce(Pid) -> rustix::io::Result<()>) {
    let sent = Pid::from_raw(pid).map(send);
    if let Some(Err(error)) = sent {
        tracing::warn!(%error, pid, "a run cannot be told to end");
    }
}

/// How it ended, in words.
pub(super) fn describe(exit: Option<ExitStatus>) -> String {
    match exit.map(|exit| (exit.code(), exit.signal())) {
        Some((Some(code), _)) => format!("it ended with code {code}"),
        Some((_, Some(signal))) => format!("it was ended by signal {signal}"),
        _ => "it ended while no gateway watched".to_owned(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_heeds_nothing_is_ended_and_nobody_elses() {
        let own = format!("run_{}", std::process::id());
        let start = |run: &str| {
            let mut command = Command::new("sh");
            // It says when it no longer heeds anything, and has a child that left its group.
            command.args(["-c", "trap '' TERM HUP; setsid sleep 600 & echo; wait"]);
            let command = command.env(MARK, run).process_group(0);
            command.stdout(Stdio::piped()).kill_on_drop(true).spawn()
        };
        let mut left = start(&own).unwrap();
        let mut other = start(&format!("{own}0")).unwrap();
        for child in [&mut left, &mut other] {
            let mut output = child.stdout.take().unwrap();
            let said = tokio::io::AsyncReadExt::read_u8(&mut output).await;
            assert_eq!(said.unwrap(), b'\n');
        }
        end_what_is_left(&own);
        assert_eq!(left.wait().await.unwrap().signal(), Some(9));
        assert!(marked(format!("{MARK}={own}").as_bytes()).is_empty());
        assert!(other.try_wait().unwrap().is_none());
        end_what_is_left(&format!("{own}0"));
    }
}
