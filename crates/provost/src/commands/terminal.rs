//! Asking somebody at a terminal. What was typed before a question was seen is not an answer to it.

use std::io::{self, BufRead as _, IsTerminal as _};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use crate::output;

/// Lines as they are typed.
pub(super) struct Terminal {
    lines: mpsc::UnboundedReceiver<String>,
}

impl Terminal {
    /// `None`: nobody sits there.
    pub(super) fn open() -> Option<Self> {
        (io::stdin().is_terminal() && io::stdout().is_terminal()).then(Self::listen)
    }

    fn listen() -> Self {
        let (send, lines) = mpsc::unbounded_channel();
        // A thread of its own, because nothing can call it back from reading.
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self { lines }
    }

    /// One whose input has ended.
    #[cfg(test)]
    pub(super) fn closed() -> Self {
        let (_, lines) = mpsc::unbounded_channel();
        Self { lines }
    }

    /// `None`: the input ended.
    pub(super) async fn ask(&mut self, question: &str) -> io::Result<Option<String>> {
        self.clear();
        output::prompt(question)?;
        Ok(self.line().await)
    }

    /// Forgets what was typed so far, with or without its enter.
    pub(super) fn clear(&mut self) {
        // Where it is no terminal there is nothing to forget.
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        while self.lines.try_recv().is_ok() {}
    }

    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await.map(|line| line.trim().to_owned())
    }
}

/// Completes when the process is asked to end, or its terminal is closed.
pub(super) async fn interrupted() {
    let hang_up = async {
        if ignores_hang_up() {
            std::future::pending::<()>().await;
        }
        heard(SignalKind::hangup()).await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = heard(SignalKind::terminate()) => {}
        () = hang_up => {}
    }
}

async fn heard(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

/// Whoever starts it with `nohup` wants it to go on. Where there is no `/proc`, that is not known.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 1)
}
