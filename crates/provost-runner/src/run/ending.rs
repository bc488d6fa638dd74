//! How a run ends, and what is told of it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::{LINGER, Run};
use crate::{
    acp::{self, RpcError},
    meter::{Breach, Spent},
    process::Exit,
    report::{Drained, End, Reporter, State},
};

/// Why the agent is not driven any further.
#[derive(Debug)]
pub enum Stop {
    /// It answered the prompt.
    Complete {
        reason: String,
        usage: Option<Value>,
    },
    Breach(Breach),
    /// Somebody said so: who and why.
    Told(String),
    /// Whoever receives the reports does not know us.
    Unauthorized,
    /// It closed its output.
    Exited,
    Refused {
        method: &'static str,
        error: RpcError,
    },
    Failed {
        code: &'static str,
        message: String,
        data: Value,
    },
}

#[derive(Debug)]
pub struct Ended {
    pub outcome: Outcome,
    pub spent: Spent,
    pub drained: Drained,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Complete { stop_reason: String },
    Failed { code: String, message: String },
    Unauthorized,
}

/// What a failure is called, and told as.
struct Failure {
    code: &'static str,
    message: String,
    data: Value,
}

impl Stop {
    pub(super) fn protocol(what: &str, problem: impl Into<String>) -> Self {
        Self::Failed {
            code: "protocol_error",
            message: format!("{what}: {}", problem.into()),
            data: Value::Null,
        }
    }

    fn failure(&self) -> Option<Failure> {
        let failure = |code, message: String, data| Failure {
            code,
            message,
            data,
        };
        Some(match self {
            Self::Complete { .. } | Self::Unauthorized => return None,
            Self::Breach(breach) => failure(
                "limit_exceeded",
                breach.to_string(),
                json!({"limit": breach.limit, "allowed": breach.allowed, "used": breach.used}),
            ),
            Self::Told(by) => failure("stopped", by.clone(), Value::Null),
            Self::Exited => failure(
                "agent_exited",
                "the agent ended before it answered".to_owned(),
                Value::Null,
            ),
            Self::Refused { method, error } => failure(
                "agent_error",
                format!("the agent refused `{method}`: {error}"),
                json!(error),
            ),
            Self::Failed {
                code,
                message,
                data,
            } => failure(code, message.clone(), data.clone()),
        })
    }
}

impl Ended {
    pub fn describe(&self) -> Value {
        match &self.outcome {
            Outcome::Complete { stop_reason } => json!({"state": "done", "stopReason": stop_reason}),
            Outcome::Failed { code, message } => {
                json!({"state": "failed", "code": code, "message": message})
            }
            Outcome::Unauthorized => json!({"state": "failed", "code": "unauthorized"}),
        }
    }
}

impl Run {
    /// Ends the agent, and tells how it went.
    pub(super) async fn finish(&mut self, stop: Stop) -> Outcome {
        self.journal.event(&json!({"stop": format!("{stop:?}")}));
        let grace = self.grace();
        match stop {
            Stop::Complete { reason, usage } => {
                self.linger(LINGER).await;
                self.drop_questions();
                let state = if reason == "cancelled" {
                    State::Cancelled
                } else {
                    State::Done
                };
                self.enter(state);
                let end = End::Complete {
                    stop_reason: reason.clone(),
                    usage,
                };
                self.reporter.end(end).await;
                self.end_process(grace).await;
                Outcome::Complete {
                    stop_reason: reason,
                }
            }
            Stop::Unauthorized => {
                self.cancel_prompt(grace).await;
                self.end_process(grace).await;
                Outcome::Unauthorized
            }
            stop => {
                let told = matches!(stop, Stop::Told(_));
                self.cancel_prompt(grace).await;
                let (exit, errors) = self.end_process(grace).await;
                self.enter(if told { State::Cancelled } else { State::Failed });
                let Some(failure) = stop.failure() else {
                    return Outcome::Unauthorized;
                };
                tell(&self.reporter, failure, exit, errors).await
            }
        }
    }

    /// Takes in what still comes.
    async fn linger(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Ok(Ok(_)) = timeout_at(until, self.step()).await {}
    }

    /// Has the agent stop by itself, if it will: it is told that its turn is over, and so are its questions.
    async fn cancel_prompt(&mut self, grace: Duration) {
        if !self.prompting {
            return;
        }
        let session = self.session.clone();
        self.say(acp::notification(
            "session/cancel",
            json!({ "sessionId": session }),
        ));
        self.drop_questions();
        let prompt = self.requests;
        let until = Instant::now() + grace;
        while let Ok(Some(line)) = timeout_at(until, self.heard.recv()).await {
            // What it may spend is past: only the answer counts.
            match self.hear(line) {
                Ok(Some((id, _))) if id == prompt => break,
                _ => self.drop_questions(),
            }
        }
        self.prompting = false;
    }

    /// Ends the process, and tells what it said last. What it writes meanwhile is taken in: it may be
    /// waiting to get rid of it.
    async fn end_process(&mut self, grace: Duration) -> (Exit, String) {
        self.workspace.end().await;
        self.mouth = None;
        let Some(mut process) = self.process.take() else {
            return <(Exit, String)>::default();
        };
        let exit = {
            let mut ending = std::pin::pin!(process.end(grace));
            loop {
                tokio::select! {
                    exit = &mut ending => break exit,
                    Some(line) = self.heard.recv() => drop(self.hear(line)),
                }
            }
        };
        while let Ok(line) = self.heard.try_recv() {
            drop(self.hear(line));
        }
        self.drop_questions();
        (exit, process.last_errors())
    }
}

pub(super) async fn failed_to_start(reporter: &Reporter, stop: &Stop) -> Outcome {
    reporter.state(State::Failed);
    match stop.failure() {
        Some(failure) => tell(reporter, failure, Exit::default(), String::new()).await,
        None => Outcome::Unauthorized,
    }
}

async fn tell(reporter: &Reporter, failure: Failure, exit: Exit, stderr: String) -> Outcome {
    let Failure {
        code,
        message,
        data,
    } = failure;
    reporter
        .end(End::Failed {
            code: code.to_owned(),
            message: message.clone(),
            data,
            exit_code: exit.code,
            signal: exit.signal,
            stderr_tail: stderr,
        })
        .await;
    Outcome::Failed {
        code: code.to_owned(),
        message,
    }
}
