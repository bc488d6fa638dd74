//! One run of a program: a clean environment, a deadline, bounded output, and nothing left behind.

use std::{
    collections::BTreeMap,
    io,
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use provost_core::ports::{ForwardError, Forwarded};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Serialize;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStdin, Command},
    time::{Instant, timeout},
};

use crate::{backends::answer, secret::Secret};

/// What is kept of each of stdout and stderr.
const MAX_OUTPUT: usize = 1024 * 1024;
/// How long output may still come once the program has ended: only what has left its process group
/// can hold the pipes open then.
const GRACE: Duration = Duration::from_millis(200);

/// How long a program waits for its turn at most.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

pub(super) struct Program<'p> {
    pub(super) bin: &'p Path,
    pub(super) working_dir: Option<&'p Path>,
    pub(super) env: &'p BTreeMap<String, Secret>,
    pub(super) timeout: Duration,
}

#[derive(Serialize)]
struct Output {
    stdout: String,
    stderr: String,
    exit_code: i32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stdout_truncated: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stderr_truncated: bool,
}

/// The first bytes of a stream.
#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    truncated: bool,
}

/// Kills all that a run has started when the run is over, however it ends: finished, timed out, or
/// dropped because the caller went away.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0.take() {
            // It fails when nothing of the group is left, which is what is wanted.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl Program<'_> {
    pub(super) async fn run<'a>(
        &self,
        args: impl Iterator<Item = &'a str>,
        stdin: Option<&str>,
    ) -> Result<Forwarded, ForwardError> {
        let child = self
            .command(args, stdin.is_some())
            .spawn()
            .map_err(|error| self.not_started(&error))?;
        let late = || ForwardError::Timeout(format!("{:?}", self.timeout));
        match timeout(self.timeout, supervise(child, stdin)).await {
            Ok(finished) => finished,
            Err(_) => Err(late()),
        }
    }

    /// A program has as much time again once it runs.
    pub(super) fn latest_start(&self) -> Instant {
        Instant::now() + self.timeout.min(LONGEST_WAIT)
    }

    fn command<'a>(&self, args: impl Iterator<Item = &'a str>, with_stdin: bool) -> Command {
        let mut command = Command::new(self.bin);
        command
            .args(args)
            .env_clear()
            .env("LANG", "C.UTF-8")
            .envs(
                ["PATH", "HOME"]
                    .into_iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(self.env.iter().map(|(name, value)| (name, value.expose())))
            .stdin(if with_stdin {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(dir) = self.working_dir {
            command.current_dir(dir);
        }
        command
    }

    fn not_started(&self, error: &io::Error) -> ForwardError {
        let message = format!("`{}` cannot be started: {error}", self.bin.display());
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                ForwardError::Unreachable(message)
            }
            _ => ForwardError::Failed(message),
        }
    }
}

async fn supervise(mut child: Child, stdin: Option<&str>) -> Result<Forwarded, ForwardError> {
    let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
    let (mut out, mut err) = (Captured::default(), Captured::default());
    let (stdout, stderr, input) = (child.stdout.take(), child.stderr.take(), child.stdin.take());
    let status = {
        let streams = async {
            tokio::join!(out.drain(stdout), err.drain(stderr), feed(input, stdin));
        };
        tokio::pin!(streams);
        let ended = tokio::select! {
            () = &mut streams => None,
            ended = child.wait() => Some(ended),
        };
        match ended {
            None => child.wait().await,
            Some(status) => {
                // What the program left running would hold its pipes open: the call is over.
                drop(group);
                let _ = timeout(GRACE, &mut streams).await;
                status
            }
        }
    };
    let status =
        status.map_err(|error| ForwardError::Failed(format!("the program was lost: {error}")))?;
    Ok(finished(status, out, err))
}

fn finished(status: ExitStatus, out: Captured, err: Captured) -> Forwarded {
    let error = match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exit code {code}")),
        (None, signal) => Some(format!("ended by signal {}", signal.unwrap_or_default())),
    };
    let (stdout_truncated, stderr_truncated) = (out.truncated, err.truncated);
    let output = Output {
        stdout: out.into_text(),
        stderr: err.into_text(),
        exit_code: status.code().unwrap_or(-1),
        stdout_truncated,
        stderr_truncated,
    };
    Forwarded {
        status_code: 200,
        result: answer::raw(&output),
        error,
    }
}

impl Captured {
    /// Reads to the end, so that the program never waits for its reader, and keeps what fits.
    async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = stream.read(&mut chunk).await {
            let room = MAX_OUTPUT - self.bytes.len();
            self.truncated |= read > room;
            self.bytes.extend(chunk.iter().take(read.min(room)));
        }
    }

    /// A character that the limit cut in two is left out; any other byte that is not UTF-8 is replaced.
    fn into_text(mut self) -> String {
        if self.truncated
            && let Err(error) = std::str::from_utf8(&self.bytes)
            && error.error_len().is_none()
        {
            self.bytes.truncate(error.valid_up_to());
        }
        String::from_utf8(self.bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// A program that does not read all of its input is no failure.
async fn feed(pipe: Option<ChildStdin>, text: Option<&str>) {
    if let (Some(mut pipe), Some(text)) = (pipe, text) {
        let _ = pipe.write_all(text.as_bytes()).await;
        let _ = pipe.shutdown().await;
    }
}
