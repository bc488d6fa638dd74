//! Asking somebody at a terminal. What was typed before a question was seen is not an answer to it.

use std::io::{self, BufRead as _, IsTerminal as _};

use tokio::sync::mpsc;

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

/// Completes when the process is asked to end.
pub(super) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => signal.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate => {}
    }
}
