//! Processes on this machine: started with what they listen on, measured, and ended with us.

use std::{net::SocketAddr, path::Path, process::Stdio, time::Duration};

use anyhow::Context as _;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{ChildStderr, Command},
};

const START_TIME: Duration = Duration::from_secs(20);

/// A server in a process of its own. It is killed when this is dropped.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    child: tokio::process::Child,
}

impl Server {
    /// Starts a program that tells on stderr that it `listens on http://ADDR`.
    pub(crate) async fn start(program: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start `{}`", program.display()))?;
        let stderr = child.stderr.take().context("stderr is piped")?;
        let mut lines = BufReader::new(stderr).lines();
        let addr = tokio::time::timeout(START_TIME, address(&mut lines))
            .await
            .with_context(|| format!("`{}` did not start in time", program.display()))??;
        // What it says later is not kept, but a full pipe would stop it.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { addr, child })
    }

    /// This program again, in one of its bare roles.
    pub(crate) async fn bare(role: &str, argument: &str) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let arguments = [role, argument];
        let given = if argument.is_empty() { 1 } else { 2 };
        Self::start(&program, arguments.get(..given).unwrap_or_default()).await
    }

    /// Physical memory in use, in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        memory(self.child.id().context("the process has ended")?, "VmRSS:")
    }

    /// Processor time used so far, by all its threads, in its own code and in the kernel for it.
    pub(crate) fn processor_time(&self) -> anyhow::Result<Duration> {
        processor_time(self.child.id().context("the process has ended")?)
    }

    /// Asks it to end in order, and waits until it has.
    pub(crate) async fn end(mut self) -> anyhow::Result<()> {
        if let Some(id) = self.child.id().and_then(|id| Pid::from_raw(id as i32)) {
            kill_process(id, Signal::TERM)?;
        }
        tokio::time::timeout(START_TIME, self.child.wait())
            .await
            .context("a process did not end when asked to")??;
        Ok(())
    }
}

/// What a process used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) processor: Duration,
    pub(crate) peak_memory: u64,
}

pub(crate) fn usage(id: u32) -> anyhow::Result<Usage> {
    Ok(Usage {
        processor: processor_time(id)?,
        peak_memory: memory(id, "VmHWM:")?,
    })
}

fn memory(id: u32, which: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix(which))
        .and_then(|rest| rest.trim().strip_suffix(" kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    Ok(kilobytes.with_context(|| format!("no {which} in the process's status"))? * 1024)
}

fn processor_time(id: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name, in parentheses, may hold anything; user and system time are 12 and 13 after it.
    let (_, fields) = stat.rsplit_once(") ").context("a malformed stat")?;
    let ticks = fields.split(' ').skip(11).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(
        ticks * 1000 / clock_ticks_per_second(),
    ))
}

async fn address(lines: &mut Lines<BufReader<ChildStderr>>) -> anyhow::Result<SocketAddr> {
    let mut told = String::new();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, addr)) = line.split_once("listens on http://") {
            return Ok(addr.trim().parse()?);
        }
        told.push_str(&line);
        told.push('\n');
    }
    anyhow::bail!("it ended and said:\n{told}")
}

/// As many open files as the hard limit allows, here and in every process started from here.
pub(crate) fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
    .unwrap_or(u64::MAX)
}
