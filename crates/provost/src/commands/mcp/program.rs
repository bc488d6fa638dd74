//! The server's program: in a group of its own, and ended with all that it has started.

use std::{
    env,
    ffi::OsString,
    io,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    process::{Child, ChildStdin, ChildStdout, Command},
    signal::unix::{self, SignalKind},
};

use crate::exit::usage;

/// Before the name of a variable that is for the server alone.
pub(in crate::commands) const PASSED: &str = "PROVOST_PASS_";

/// How long it may take to end once it is asked to.
const GRACE: Duration = Duration::from_secs(1);

pub(super) struct Program {
    child: Child,
    group: Option<Pid>,
}

/// We are asked to end.
pub(super) struct Asked([unix::Signal; 3]);

impl Program {
    /// Without our key: it is the client's, not the server's.
    pub(super) fn start(command: &[String]) -> anyhow::Result<(Self, ChildStdin, ChildStdout)> {
        let (program, arguments) = command
            .split_first()
            .ok_or_else(|| usage("name the server's command after `--`"))?;
        let mut command = Command::new(program);
        command.args(arguments).env_remove("PROVOST_KEY");
        for (name, value) in passed(env::vars_os()) {
            command
                .env_remove(format!("{PASSED}{name}"))
                .env(name, value);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).context("the server has no pipes")?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok((Self { child, group }, stdin, stdout))
    }

    /// By itself within this time, now that its input is closed; else by us, sooner when we are asked to end.
    /// `None`: it had to be made to.
    pub(super) async fn end(
        mut self,
        patience: Duration,
        asked: &mut Asked,
    ) -> io::Result<Option<ExitStatus>> {
        let mut by_itself = true;
        for (patience, next) in [(patience, Signal::TERM), (GRACE, Signal::KILL)] {
            tokio::select! {
                biased;
                ended = self.child.wait() => {
                    self.signal(Signal::KILL);
                    return ended.map(|status| by_itself.then_some(status));
                }
                () = asked.heard() => {}
                () = tokio::time::sleep(patience) => {}
            }
            by_itself = false;
            self.signal(next);
        }
        self.child.wait().await.map(|_| None)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails when nothing of the group is left, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// The variables that the server alone is given, by their own names.
fn passed(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (String, OsString)> {
    all.filter_map(|(name, value)| {
        let name = name.to_str()?.strip_prefix(PASSED)?.to_owned();
        (!name.is_empty()).then_some((name, value))
    })
}

impl Asked {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self([
            unix::signal(SignalKind::terminate())?,
            unix::signal(SignalKind::interrupt())?,
            unix::signal(SignalKind::hangup())?,
        ]))
    }

    pub(super) async fn heard(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
