//! A server that is a program: one JSON message a line, on its standard input and output.
//!
//! It runs in a process group of its own, which ends with the connection, however that ends. What it
//! writes to standard error goes to the log.

mod program;

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::ServerJsonRpcMessage,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};

use program::Program;
pub(super) use program::{Ended, Launch, inherited_secrets};

use super::tap::Tap;

/// Messages on their way to a program that does not read.
const QUEUE: usize = 64;
/// Lines of standard output in a row that are no messages, after which it is taken for another program.
const MAX_GARBAGE: usize = 100;

pub(super) struct Stdio {
    program: Program,
    stdout: BufReader<ChildStdout>,
    stdin: Option<mpsc::Sender<Vec<u8>>>,
    /// The line so far. Kept here because reading may be given up and taken up again.
    line: Vec<u8>,
    /// The rest of a line that is too long.
    skipping: bool,
    garbage: usize,
    max_line: usize,
    tap: Arc<Tap>,
}

#[derive(Debug, thiserror::Error)]
#[error("the program does not take messages any more")]
pub(super) struct Gone;

impl Stdio {
    pub(super) fn start(launch: &Launch, tap: Arc<Tap>, max_line: usize) -> Result<Self, String> {
        let (program, stdin, stdout) = Program::start(launch)?;
        Ok(Self {
            program,
            stdout: BufReader::new(stdout),
            stdin: Some(feed(stdin)),
            line: Vec::new(),
            skipping: false,
            garbage: 0,
            max_line,
            tap,
        })
    }

    /// Where to read, later, how it ended.
    pub(super) fn ended(&self) -> Ended {
        self.program.ended()
    }

    /// The next line that is a message. `None` at the end, or when there is no use in reading on.
    async fn next(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let read = self.stdout.fill_buf().await.ok()?;
            if read.is_empty() {
                return None;
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            if !self.skipping {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.stdout.consume(used);
            if self.line.len() > self.max_line {
                self.skipping = true;
            }
            if end.is_none() && !self.skipping {
                continue;
            }
            if self.skipping {
                let head = std::mem::take(&mut self.line);
                self.skipping = end.is_none();
                if !head.is_empty() {
                    // Whom it answers waits for nothing: they are told, or the connection ends.
                    let Some(instead) = self.tap.too_large(&head) else {
                        self.program.blame("it wrote a message that is too long");
                        return None;
                    };
                    return serde_json::from_str(&instead).ok();
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(message) = self.message(&line) {
                self.garbage = 0;
                return Some(message);
            }
            if self.garbage > MAX_GARBAGE {
                self.program
                    .blame("it writes what is not MCP to its standard output");
                return None;
            }
        }
    }

    fn message(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let text = std::str::from_utf8(line).ok().map(str::trim);
        if text.is_some_and(str::is_empty) {
            return None;
        }
        let message = text.and_then(|text| serde_json::from_str(&self.tap.received(text)).ok());
        if message.is_none() {
            self.garbage += 1;
            tracing::debug!(
                mcp.server = self.program.name(),
                bytes = line.len(),
                "not an MCP message"
            );
        }
        message
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = Gone;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        self.tap.sending(&item);
        let stdin = self.stdin.clone();
        async move {
            let mut line = serde_json::to_vec(&item).map_err(|_| Gone)?;
            line.push(b'\n');
            let stdin = stdin.ok_or(Gone)?;
            stdin.send(line).await.map_err(|_| Gone)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.next().await
    }

    async fn close(&mut self) -> Result<(), Gone> {
        self.stdin = None;
        self.program.end().await;
        Ok(())
    }
}

/// Writes in a task of its own, so that a message is never cut in two because its sender gave up.
fn feed(mut stdin: ChildStdin) -> mpsc::Sender<Vec<u8>> {
    let (sender, mut lines) = mpsc::channel::<Vec<u8>>(QUEUE);
    tokio::spawn(async move {
        while let Some(line) = lines.recv().await {
            let written = async {
                stdin.write_all(&line).await?;
                stdin.flush().await
            };
            if written.await.is_err() {
                return;
            }
        }
    });
    sender
}
