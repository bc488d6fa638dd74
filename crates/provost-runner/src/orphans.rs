//! Processes of the agent's that left its group, as daemons do. When their parents end they become children of
//! the runner, which ends them with the run.

use std::{
    fs, io,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};

/// A process that cannot be killed by then waits for a disk: it is left to the system.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// From now on orphans come to this process.
pub fn adopt() {
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tracing::warn!(%error, "what leaves the agent's group of processes will outlive the run");
    }
}

/// Ends every child of this process, and what comes to it by that. For a process that has no others to keep.
pub async fn end() {
    let began = Instant::now();
    while let Ok(children) = children()
        && !children.is_empty()
    {
        for child in children {
            // It may have ended meanwhile; then it only waits for us to take note.
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
        if began.elapsed() > PATIENCE {
            tracing::warn!("something that the agent started cannot be ended");
            return;
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn children() -> io::Result<Vec<Pid>> {
    let mut found = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        // A thread may end while we look.
        let listed = fs::read_to_string(thread?.path().join("children")).unwrap_or_default();
        let ids = listed.split_ascii_whitespace();
        found.extend(ids.filter_map(|id| id.parse().ok().and_then(Pid::from_raw)));
    }
    Ok(found)
}
