//! How a run ends, and what is told of it.

use std::{io, time::Duration};

use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::time::{Instant, timeout_at};

use super::{LINGER, Run};
use crate::{
    acp::{self, Line, RpcError},
    meter::{Breach, Spent},
    metering::{self, Why as Unmetered},
    process::Exit,
    report::{Counts, Drained, End, Failure, Reporter, State},
};

/// JSON-RPC's, for whatever has no other.
const SERVER_ERROR: i64 = -32000;

/// Why the agent is not driven any further.
#[derive(Debug)]
pub enum Stop {
    /// It answered the prompt.
    Complete {
        reason: String,
        /// As the agent wrote it.
        usage: Option<Box<RawValue>>,
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
    pub done: Done,
    /// What was asked, and how it was decided.
    pub decisions: Vec<Value>,
    pub drained: Drained,
    /// How its reports fared.
    pub reported: Counts,
}

/// What the agent did.
#[derive(Debug, Default)]
pub struct Done {
    pub spent: Spent,
    /// The files that it says it changed, in order.
    pub files: Vec<String>,
    /// Its last message.
    pub answer: String,
    pub session: Option<String>,
    /// As the agent wrote it.
    pub usage: Option<Box<RawValue>>,
    /// What did not go as the configuration says.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Complete { stop_reason: String },
    Failed { reason: String, message: String },
    Unauthorized,
}

/// What a failure is called, and told as.
struct Why {
    name: &'static str,
    /// The agent's own, where it gave one.
    code: i64,
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

    fn why(&self) -> Option<Why> {
        let why = |name, message: String, data| Why {
            name,
            code: match self {
                Self::Refused { error, .. } => error.code,
                _ => SERVER_ERROR,
            },
            message,
            data,
        };
        Some(match self {
            Self::Complete { .. } | Self::Unauthorized => return None,
            Self::Breach(breach) => why(
                "limit_exceeded",
                breach.to_string(),
                json!({"limit": breach.limit, "allowed": breach.allowed, "used": breach.used}),
            ),
            Self::Told(by) => why("stopped", by.clone(), Value::Null),
            Self::Exited => why(
                "agent_exited",
                "the agent ended before it answered".to_owned(),
                Value::Null,
            ),
            Self::Refused { method, error } => why(
                "agent_error",
                format!("the agent refused `{method}`: {error}"),
                json!(error),
            ),
            Self::Failed {
                code,
                message,
                data,
            } => why(code, message.clone(), data.clone()),
        })
    }
}

impl Outcome {
    pub fn describe(&self) -> Value {
        match self {
            Self::Complete { stop_reason } => {
                json!({"state": "done", "stopReason": stop_reason})
            }
            Self::Failed { reason, message } => {
                json!({"state": "failed", "reason": reason, "message": message})
            }
            Self::Unauthorized => json!({"state": "failed", "reason": "unauthorized"}),
        }
    }
}

impl Run {
    /// Ends the agent, and tells how it went.
    pub(super) async fn finish(&mut self, stop: Stop) -> Outcome {
        let outcome = self.conclude(stop).await;
        self.gateway_told().await;
        outcome
    }

    async fn conclude(&mut self, stop: Stop) -> Outcome {
        self.journal.event(&json!({"stop": format!("{stop:?}")}));
        let grace = self.grace();
        match stop {
            Stop::Complete { reason, usage } => {
                // What it says late is heard; what it asks late is of no turn.
                self.ending = true;
                self.linger(LINGER).await;
                self.give_up_questions().await;
                self.warn_of_limits(None);
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
                self.reporter.end(end);
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
                let breach = match &stop {
                    Stop::Breach(breach) => Some(breach.limit),
                    _ => None,
                };
                self.warn_of_limits(breach);
                self.enter(if told {
                    State::Cancelled
                } else {
                    State::Failed
                });
                match stop.why() {
                    Some(why) => tell(&self.reporter, why, exit, errors),
                    None => Outcome::Unauthorized,
                }
            }
        }
    }

    /// Tells which limits had no effect, except the one that ended the run.
    fn warn_of_limits(&mut self, breach: Option<&str>) {
        // Without a prompt there was nothing to limit.
        if self.state == State::Starting {
            return;
        }
        let (limits, supervised) = (&self.config.limits, &self.supervised);
        let (metering, title) = (supervised.metering(), supervised.title());
        for found in metering::after(limits, metering, title, &self.meter) {
            if Some(found.limit) == breach {
                continue;
            }
            let warning = found.to_string();
            // The others were told at the start.
            if matches!(found.why, Unmetered::Untold | Unmetered::Late(_)) {
                self.journal.warning(&warning);
            }
            self.reporter.warn(&warning);
            self.warnings.push(warning);
        }
    }

    /// Takes in what still comes.
    async fn linger(&mut self, time: Duration) {
        let until = Instant::now() + time;
        // What it may spend bounds its turn, and that is over.
        while Instant::now() < until
            && let Ok(Ok(_) | Err(Stop::Breach(_))) = timeout_at(until, self.step()).await
        {}
    }

    /// Has the agent stop by itself, if it will: it is told that its turn is over, and so are its questions.
    async fn cancel_prompt(&mut self, grace: Duration) {
        if self.prompting {
            let session = json!({ "sessionId": self.session });
            self.say(acp::notification("session/cancel", session));
        }
        self.ending = true;
        self.give_up_questions().await;
        if !self.prompting {
            return;
        }
        let prompt = self.requests;
        let until = Instant::now() + grace;
        while let Some(line) = self.hear_until(until).await {
            if let Ok(Some((id, _))) = self.take_in(line)
                && id == prompt
            {
                break;
            }
        }
        self.prompting = false;
    }

    /// The time is looked at as well: where there is always a line, a timeout never gets its turn.
    async fn hear_until(&mut self, until: Instant) -> Option<io::Result<Line>> {
        if Instant::now() >= until {
            return None;
        }
        timeout_at(until, self.heard.recv()).await.ok().flatten()
    }

    /// Ends the process, and tells what it said last. What it writes meanwhile is taken in: it may be
    /// waiting to get rid of it.
    async fn end_process(&mut self, grace: Duration) -> (Exit, String) {
        self.ending = true;
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
                    Some(line) = self.heard.recv() => drop(self.take_in(line)),
                }
            }
        };
        // What it wrote last is still on its way. Whoever left its group may hold its output for ever.
        let until = Instant::now() + grace;
        while let Some(line) = self.hear_until(until).await {
            drop(self.take_in(line));
        }
        (exit, process.last_errors())
    }
}

pub(super) fn failed_to_start(reporter: &Reporter, stop: &Stop) -> Outcome {
    reporter.state(State::Failed);
    match stop.why() {
        Some(why) => tell(reporter, why, Exit::default(), String::new()),
        None => Outcome::Unauthorized,
    }
}

/// What failed is named in `data.reason`, beside what is known of it: the code is JSON-RPC's.
fn tell(reporter: &Reporter, why: Why, exit: Exit, stderr: String) -> Outcome {
    let mut data = match why.data {
        Value::Object(data) => data,
        Value::Null => Map::new(),
        other => Map::from_iter([("error".to_owned(), other)]),
    };
    data.insert("reason".to_owned(), why.name.into());
    reporter.end(End::Failed(Failure {
        code: why.code,
        message: why.message.clone(),
        data: to_raw_value(&data).ok(),
        exit_code: exit.code,
        signal: exit.signal,
        stderr_tail: (!stderr.is_empty()).then_some(stderr),
    }));
    Outcome::Failed {
        reason: why.name.to_owned(),
        message: why.message,
    }
}
