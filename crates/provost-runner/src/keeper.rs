//! The keeper: a small process between a runner and a command of its agent. It stands in for the command, and
//! ends everything that came of it if the runner is gone, however it went: a runner that is killed by force can
//! end nobody itself.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{Command, ExitStatus},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, getpgid, getpid, getppid,
        kill_process, pidfd_open, set_child_subreaper, setpgid, setrlimit, setsid, wait,
    },
};
use signal_hook::low_level::emulate_default_handler;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

/// The subcommand of the executable that calls [`keep`].
pub const SUBCOMMAND: &str = "run-kept";

/// The command, kept by `keeper`, which this process is to start.
pub fn kept(keeper: Option<&Path>, command: tokio::process::Command) -> tokio::process::Command {
    let Some(keeper) = keeper else {
        return command;
    };
    let inner = command.as_std();
    let mut kept = tokio::process::Command::new(keeper);
    kept.arg(SUBCOMMAND)
        .arg(std::process::id().to_string())
        .arg("--")
        .arg(inner.get_program())
        .args(inner.get_args());
    kept
}

/// Runs the command, which has this process's input and output, and ends as it ends. An error says why it could
/// not be started.
pub async fn keep(runner: i32, command: &[OsString]) -> io::Result<ExitStatus> {
    let gone = || io::Error::other("the runner is gone");
    let runner = Pid::from_raw(runner).filter(|runner| getppid() == Some(*runner));
    let runner = runner.ok_or_else(gone)?;
    leave_terminal(runner)?;
    let mut left_alone = end_of(runner)?;
    set_child_subreaper(Some(getpid()))?;
    // The whole group is asked to end, this process with it, which has to see how the command ends.
    let _asked = [
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
        signal(SignalKind::hangup())?,
    ];
    let mut ended = signal(SignalKind::child())?;
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::other("there is no command to run"))?;
    let child = Command::new(program).args(arguments).spawn()?;
    let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    loop {
        tokio::select! {
            _ = ended.recv() => {
                if let Some(status) = reaped(child) {
                    return Ok(status);
                }
            }
            _ = &mut left_alone => {
                end_all();
                return Err(gone());
            }
        }
    }
}

/// Whoever belongs to the terminal that the runner is in can read what is typed there. This process leads a group,
/// and a leader cannot leave: so it joins the runner's, and then has a session and a group of its own.
fn leave_terminal(runner: Pid) -> io::Result<()> {
    setpgid(None, Some(getpgid(Some(runner))?))?;
    setsid()?;
    Ok(())
}

/// Resolves when a process has ended.
fn end_of(process: Pid) -> io::Result<oneshot::Receiver<()>> {
    let watched = pidfd_open(process, PidfdFlags::empty())?;
    let (tell, told) = oneshot::channel();
    // A thread, which waits for nothing else.
    std::thread::Builder::new().spawn(move || {
        let mut polled = [PollFd::new(&watched, PollFlags::IN)];
        while poll(&mut polled, None) == Err(Errno::INTR) {}
        let _ = tell.send(());
    })?;
    Ok(told)
}

/// Takes note of every child that ended, also of those that lost their parents; tells of the command.
fn reaped(child: Option<Pid>) -> Option<ExitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if Some(pid) == child {
            found = Some(ExitStatus::from_raw(status.as_raw()));
        }
    }
    found
}

/// Those that are started while we look are found in the next round: their parents are dead by then.
fn end_all() {
    loop {
        let below = below(getpid());
        if below.is_empty() {
            return;
        }
        for process in below {
            let _ = kill_process(process, Signal::KILL);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        std::thread::yield_now();
    }
}

/// Everything that descends from a process.
fn below(root: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let families: Vec<(Pid, Pid)> = processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            Some((Pid::from_raw(pid)?, parent(&entry.path())?))
        })
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = families.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(child, _)| *child));
        at += 1;
    }
    found.split_off(1)
}

fn parent(process: &Path) -> Option<Pid> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    // Its name is in parentheses, and may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    Pid::from_raw(rest.split(' ').nth(1)?.parse().ok()?)
}

/// Ends this process as the command ended: by the same signal, or with the code that is returned.
pub fn follow(status: ExitStatus) -> u8 {
    if let Some(signal) = status.signal() {
        // What is to be looked into is the command, and it left its own.
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, none);
        let _ = emulate_default_handler(signal);
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or(1)
}
