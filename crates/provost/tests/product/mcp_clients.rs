//! MCP clients of others, told step by step what to do: the official one of Python (`mcp_client.py`, where
//! the steps are listed) and that of `rmcp`, which takes the same steps.

mod rust;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::peers;

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/mcp_client.py");
/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sdk {
    Python,
    Rust,
}

/// Where a client finds its server.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Command(Vec<String>),
    Url { url: String, key: Option<String> },
}

/// A client that does one step after another. It ends with its test.
pub(crate) struct Client {
    sdk: Running,
    answers: Receiver<String>,
}

enum Running {
    Python {
        child: Child,
        stdin: Option<ChildStdin>,
    },
    Rust {
        steps: Option<UnboundedSender<Value>>,
        thread: Option<JoinHandle<()>>,
    },
}

impl Place {
    pub(crate) fn command<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Command(words.into_iter().map(str::to_owned).collect())
    }
}

impl Client {
    /// `mode` is `auto`, `legacy` (with `initialize`), or a version of the protocol.
    pub(crate) fn start(sdk: Sdk, mode: &str, place: &Place) -> Self {
        match sdk {
            Sdk::Python => Self::python(mode, place),
            Sdk::Rust => {
                let (steps, answers, thread) = rust::start(mode.to_owned(), place.clone());
                let (steps, thread) = (Some(steps), Some(thread));
                let sdk = Running::Rust { steps, thread };
                Self { sdk, answers }
            }
        }
    }

    fn python(mode: &str, place: &Place) -> Self {
        let mut command = Command::new(peers::python());
        command.args([PYTHON, "--mode", mode]);
        match place {
            Place::Command(words) => {
                command.arg("--").args(words);
            }
            Place::Url { url, key } => {
                command.args(["--url", url]);
                if let Some(key) = key {
                    command.arg("--header");
                    command.arg(format!("Authorization=Bearer {key}"));
                }
            }
        }
        let mut child = command
            .env("PYTHONPATH", peers::python_path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (told, answers) = mpsc::channel();
        thread::spawn(move || {
            stdout
                .lines()
                .map_while(Result::ok)
                .try_for_each(|line| told.send(line))
        });
        let stdin = child.stdin.take();
        let sdk = Running::Python { child, stdin };
        Self { sdk, answers }
    }

    #[track_caller]
    pub(crate) fn step(&mut self, step: &Value) -> Value {
        let answer = self.try_step(step);
        assert!(answer["failed"].is_null(), "{step}: {answer}");
        answer
    }

    /// `failed` says what went wrong.
    #[track_caller]
    pub(crate) fn try_step(&mut self, step: &Value) -> Value {
        match &mut self.sdk {
            Running::Python { stdin, .. } => {
                writeln!(stdin.as_mut().unwrap(), "{step}").unwrap();
            }
            Running::Rust { steps, .. } => steps.as_ref().unwrap().send(step.clone()).unwrap(),
        }
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer = answer.unwrap_or_else(|error| panic!("no answer to {step}: {error}"));
        serde_json::from_str(&answer).unwrap()
    }

    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.step(&json!({"do": "call", "tool": tool, "arguments": arguments}))
    }

    /// Calls without waiting for the answer.
    #[track_caller]
    pub(crate) fn begin(&mut self, name: &str, tool: &str, arguments: &Value) {
        self.step(&json!({"do": "start", "as": name, "tool": tool, "arguments": arguments}));
    }

    /// The answer of what was begun.
    #[track_caller]
    pub(crate) fn wait(&mut self, name: &str) -> Value {
        self.step(&json!({"do": "wait", "as": name}))
    }

    #[track_caller]
    pub(crate) fn cancel(&mut self, name: &str) {
        let cancelled = self.step(&json!({"do": "cancel", "as": name}));
        assert_eq!(cancelled["cancelled"], true, "{cancelled}");
    }

    /// Closes the client as a program does that ends, and its server with it.
    #[track_caller]
    pub(crate) fn end(mut self) {
        match &mut self.sdk {
            Running::Python { child, stdin } => {
                drop(stdin.take());
                assert!(child.wait().unwrap().success());
            }
            Running::Rust { steps, thread } => {
                drop(steps.take());
                thread.take().unwrap().join().unwrap();
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself. The other kind ends when nobody gives it steps any more.
        if let Running::Python { child, .. } = &mut self.sdk {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
