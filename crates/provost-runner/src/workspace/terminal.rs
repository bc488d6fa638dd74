//! One command that runs for the agent, in a process group of its own. A single task owns the process, so
//! the group is only signalled while its leader is not yet reaped and its number cannot be another's.

use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::tail::Tail;

/// How long to read on after the command has ended, for what a daemon that left the group may hold open.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How a command ended, in the protocol's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exit {
    exit_code: Option<u32>,
    signal: Option<String>,
}

/// A command and what it wrote. It is killed, with all of its group, when this is dropped.
pub(super) struct Terminal {
    tail: Arc<Mutex<Tail>>,
    exit: watch::Receiver<Option<Exit>>,
    kill: CancellationToken,
    _dropped: DropGuard,
}

impl Terminal {
    /// Starts `command`, whose output and errors go into one pipe so that their order is kept.
    pub(super) fn start(mut command: Command, limit: usize) -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let group = Group {
            child: command.spawn()?,
        };
        // It holds our copies of the pipe's writing end: without them, the end of the output is seen.
        drop(command);
        let tail = Arc::new(Mutex::new(Tail::new(limit)));
        let kill = CancellationToken::new();
        let (ended, exit) = watch::channel(None);
        let task = attend(group, output, Arc::clone(&tail), kill.clone());
        tokio::spawn(async move { ended.send_replace(Some(task.await)) });
        Ok(Self {
            tail,
            exit,
            _dropped: kill.clone().drop_guard(),
            kill,
        })
    }

    pub(super) fn kill(&self) {
        self.kill.cancel();
    }

    pub(super) fn output(&self) -> (String, bool) {
        self.tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .text()
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Resolves when the command has ended; holds on to nothing of the terminal.
    pub(super) fn ended(&self) -> impl Future<Output = Option<Exit>> + use<> {
        let mut exit = self.exit.clone();
        async move { exit.wait_for(Option::is_some).await.ok()?.clone() }
    }
}

/// A child that leads its own process group.
struct Group {
    child: Child,
}

impl Group {
    fn kill(&self) {
        // No id means that it is reaped already.
        if let Some(leader) = self.child.id() {
            kill_group(leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // An error means that nobody is left in it.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Reads what the command writes until it has ended, and ends what it leaves behind.
async fn attend(
    mut group: Group,
    mut output: pipe::Receiver,
    tail: Arc<Mutex<Tail>>,
    kill: CancellationToken,
) -> Exit {
    let leader = group.child.id();
    let mut chunk = vec![0; 16 * 1024];
    let mut open = true;
    let mut killed = false;
    let status = loop {
        tokio::select! {
            status = group.child.wait() => break status,
            () = kill.cancelled(), if !killed => {
                killed = true;
                group.kill();
            }
            read = output.read(&mut chunk), if open => open = keep(&tail, &chunk, &read),
        }
    };
    // The leader was reaped in this very poll: its number is still held by its group, or free.
    if let Some(leader) = leader {
        kill_group(leader);
    }
    let rest = async {
        while open {
            let read = output.read(&mut chunk).await;
            open = keep(&tail, &chunk, &read);
        }
    };
    drop(tokio::time::timeout(LAST_WORDS, rest).await);
    told(status.as_ref().ok())
}

/// Whether there may be more.
fn keep(tail: &Mutex<Tail>, chunk: &[u8], read: &std::io::Result<usize>) -> bool {
    let bytes = read.as_ref().ok().and_then(|read| chunk.get(..*read));
    tail.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(bytes.unwrap_or_default());
    bytes.is_some_and(|bytes| !bytes.is_empty())
}

fn told(status: Option<&ExitStatus>) -> Exit {
    Exit {
        exit_code: status.and_then(ExitStatus::code).map(i32::cast_unsigned),
        signal: status.and_then(ExitStatusExt::signal).map(signal_name),
    }
}

fn signal_name(number: i32) -> String {
    let named = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    named
        .iter()
        .find(|(signal, _)| signal.as_raw() == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}
