//! The agent as a process: a group of its own, because what works is often its child.

use std::{
    collections::VecDeque,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::process::{
    Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::{Semaphore, mpsc},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    acp::{Line, Lines},
    journal::{Entry, Journal},
};

/// What of its errors is kept for the report of a failure.
const TAIL: usize = 8 * 1024;
/// Of its errors, a longer line is told in parts.
const LONGEST: u64 = 16 * 1024;
/// Lines that were read and not yet handled, and their bytes: the agent waits when there are more.
const READ_AHEAD: usize = 256;
const READ_AHEAD_BYTES: u32 = 4 * 1024 * 1024;
/// An agent that asks and does not read its answers is not heard until it does.
const MOST_UNREAD: usize = 16 * 1024 * 1024;
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// What a process wrote is read by then, once it is gone and nothing came for so long.
pub const QUIET: Duration = Duration::from_millis(100);
/// What an agent that failed has left behind is asked to end, and forced after that.
const LEFT_BEHIND: Duration = Duration::from_millis(250);
/// Whoever left the agent's group may hold its error output for ever. What the agent wrote is read by then.
const LAST_ERRORS: Duration = Duration::from_millis(400);

/// What the agent writes. It ends with the agent's output.
pub struct Heard {
    lines: mpsc::Receiver<io::Result<Line>>,
    /// Bytes that may still be read ahead.
    room: Arc<Semaphore>,
}

/// What the agent is told. Its input ends when this is dropped.
pub struct Mouth {
    lines: mpsc::UnboundedSender<String>,
    /// Bytes that the agent was told and has not read.
    unread: Arc<AtomicUsize>,
}

pub struct Process {
    child: Child,
    group: Option<Pid>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    hearing: JoinHandle<()>,
}

/// How long the agent, and then whoever it started, may take to end by themselves; and the same once they are asked.
#[derive(Clone, Copy, Debug)]
pub struct Grace {
    agent: Duration,
    rest: Duration,
    rest_asked: Duration,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl Heard {
    /// Nothing is lost if this is dropped.
    pub async fn recv(&mut self) -> Option<io::Result<Line>> {
        let line = self.lines.recv().await?;
        self.room.add_permits(room(&line) as usize);
        Some(line)
    }
}

impl Mouth {
    /// Never waits: an agent that does not read must not keep us from reading.
    pub fn say(&self, line: String) {
        self.unread.fetch_add(line.len(), Ordering::Relaxed);
        // Whoever does not hear any more has ended, which shows elsewhere.
        let _ = self.lines.send(line);
    }

    /// Whether the agent should read before it is heard any further.
    pub fn is_behind(&self) -> bool {
        self.unread.load(Ordering::Relaxed) > MOST_UNREAD
    }
}

impl Grace {
    /// For an agent whose end nobody waits for.
    pub fn of_all(grace: Duration) -> Self {
        Self {
            agent: grace,
            rest: grace,
            rest_asked: grace,
        }
    }

    /// For one whose end somebody waits for, and not for that of what it started.
    pub fn of_agent(grace: Duration) -> Self {
        Self {
            agent: grace,
            rest: Duration::ZERO,
            rest_asked: grace.min(LEFT_BEHIND),
        }
    }
}

impl Process {
    /// The agent, a way to talk to it, and what it writes.
    pub fn start(
        mut command: Command,
        folder: &Path,
        journal: &Arc<Journal>,
    ) -> io::Result<(Self, Mouth, Heard)> {
        let mut child = command
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("the agent has no input or output"));
        };
        let (said, to_say) = mpsc::unbounded_channel();
        let mouth = Mouth {
            lines: said,
            unread: Arc::default(),
        };
        tokio::spawn(say(stdin, to_say, Arc::clone(&mouth.unread)));
        let (heard, lines) = mpsc::channel(READ_AHEAD);
        let room = Arc::new(Semaphore::new(READ_AHEAD_BYTES as usize));
        tokio::spawn(hear(stdout, heard, Arc::clone(&room)));
        let heard = Heard { lines, room };
        let errors = Arc::default();
        let hearing = tokio::spawn(listen(stderr, Arc::clone(&errors), Arc::clone(journal)));
        let process = Self {
            child,
            group,
            errors,
            hearing,
        };
        Ok((process, mouth, heard))
    }

    /// Ends it and everything it started. Its input has ended, which it may take for a sign; then it is
    /// asked, then forced.
    pub async fn end(&mut self, grace: Grace) -> Exit {
        if !self.agent_gone(grace.agent).await {
            self.signal(Signal::TERM);
            if !self.agent_gone(grace.agent).await {
                self.signal(Signal::KILL);
            }
        }
        let exit = self.child.wait().await.map(Exit::from).unwrap_or_default();
        if !self.alone(grace.rest).await {
            self.signal(Signal::TERM);
            if !self.alone(grace.rest_asked).await {
                self.signal(Signal::KILL);
            }
        }
        // What it said last is still on its way.
        let _ = timeout(LAST_ERRORS, &mut self.hearing).await;
        exit
    }

    /// Comes back when the agent itself has ended, whoever else it started.
    pub async fn exited(&mut self) {
        // Where it cannot be waited for, its end shows in its output.
        if self.child.wait().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The end of what it said on its error output.
    pub fn last_errors(&self) -> String {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(errors.make_contiguous()).into_owned()
    }

    async fn agent_gone(&mut self, within: Duration) -> bool {
        timeout(within, self.child.wait()).await.is_ok()
    }

    /// Whether everybody whom it started ended by then.
    async fn alone(&self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while self.has_company() {
            if Instant::now() >= deadline {
                return false;
            }
            sleep(LOOK_AGAIN).await;
        }
        true
    }

    /// Whether anybody of its group is left, once it is gone itself. Those that ended and came to us without
    /// their parents are let go: they would count for as long as nobody takes note of their end.
    fn has_company(&self) -> bool {
        let Some(group) = self.group else {
            return false;
        };
        while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
        test_kill_process_group(group).is_ok()
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt as _;
        Self {
            code: status.code(),
            signal: status.signal(),
        }
    }
}

async fn say(
    mut stdin: ChildStdin,
    mut lines: mpsc::UnboundedReceiver<String>,
    unread: Arc<AtomicUsize>,
) {
    while let Some(mut line) = lines.recv().await {
        let size = line.len();
        line.push('\n');
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
        unread.fetch_sub(size, Ordering::Relaxed);
    }
}

/// What a line takes of the room. One that is larger than all of it has it for itself.
fn room(line: &io::Result<Line>) -> u32 {
    let size = line.as_ref().map_or(1, |line| line.size);
    u32::try_from(size).map_or(READ_AHEAD_BYTES, |size| size.min(READ_AHEAD_BYTES))
}

async fn hear(stdout: ChildStdout, heard: mpsc::Sender<io::Result<Line>>, free: Arc<Semaphore>) {
    let mut lines = Lines::new(BufReader::with_capacity(64 * 1024, stdout));
    loop {
        let line = match lines.next().await {
            Ok(Some(line)) => Ok(line),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let broken = line.is_err();
        // Given back when the line is taken.
        match free.acquire_many(room(&line)).await {
            Ok(taken) => taken.forget(),
            Err(_) => return,
        }
        if heard.send(line).await.is_err() || broken {
            return;
        }
    }
}

async fn listen(stderr: ChildStderr, tail: Arc<Mutex<VecDeque<u8>>>, journal: Arc<Journal>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    // A line that never ends is told in parts: an agent must not wait for us to read its complaints.
    while let Ok(1..) = (&mut stderr)
        .take(LONGEST)
        .read_until(b'\n', &mut line)
        .await
    {
        let text = String::from_utf8_lossy(&line);
        journal.write::<()>(Entry::Err(text.trim_end_matches(['\r', '\n'])));
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&line);
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(300);

    fn shell(script: &str) -> (Process, Mouth, Heard) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Process::start(command, Path::new("/"), &Arc::default()).unwrap()
    }

    #[tokio::test]
    async fn it_ends_when_its_input_does() {
        let (mut agent, mouth, mut lines) =
            shell("read line; echo \"heard $line\"; cat >/dev/null; exit 3");
        mouth.say("hello".to_owned());
        let line = lines.recv().await.unwrap().unwrap();
        assert_eq!(line.text, "heard hello");
        drop(mouth);
        let exit = agent.end(Grace::of_all(Duration::from_secs(20))).await;
        assert_eq!((exit.code, exit.signal), (Some(3), None));
    }

    #[tokio::test]
    async fn force_reaches_what_it_started() {
        // A child that hears no request, and a parent that has gone already.
        let script =
            "trap '' TERM; (trap '' TERM; echo child; while :; do sleep 1; done) & echo $!; exit 0";
        let (mut agent, _mouth, mut lines) = shell(script);
        let mut child = None;
        for _ in 0..2 {
            let line = lines.recv().await.unwrap().unwrap().text;
            child = child.or(line.parse().ok().and_then(Pid::from_raw));
        }
        let child = child.unwrap();
        assert_eq!(agent.end(Grace::of_all(GRACE)).await.code, Some(0));
        let alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero()));
            stat.is_ok_and(|stat| !stat.contains(") Z "))
        };
        while alive() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn its_last_errors_are_kept() {
        let (mut agent, _mouth, _) =
            shell("i=0; while [ $i -lt 3000 ]; do echo error $i >&2; i=$((i+1)); done");
        agent.end(Grace::of_all(Duration::from_secs(20))).await;
        let tail = agent.last_errors();
        assert!(
            tail.len() <= TAIL && tail.ends_with("error 2999\n"),
            "{tail}"
        );
    }
}
