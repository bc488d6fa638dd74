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

/// Starts the runner of a run whose configuration is written. Its input is the lock: it holds it for as long
/// as it lives, and its agent, whose input is another, does not.
pub(super) fn launch(launcher: &Path, folder: &Folder, calls_back: bool) -> io::Result<Child> {
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
    command
        .current_dir(folder.path())
        .env_clear()
        .envs(inherited)
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

/// With everything in its group; its agent ends when its input does.
pub(super) fn force_to_end(pid: i32) {
    signal(pid, |pid| kill_process_group(pid, Signal::KILL));
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
