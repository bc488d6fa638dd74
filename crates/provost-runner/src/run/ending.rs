//! How a run ends, and what is told of it.

use std::{io, time::Duration};

use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::time::{Instant, timeout_at};

use super::{CANCELLED, LINGER, Run};
use crate::{
    acp::{self, Line, RpcError},
    meter::{Breach, Spent},
    metering::{self, Why as Unmetered},
    process::Exit,
    report::{Counts, Drained, End, Failure, Reporter, State},
};

/// JSON-RPC's, for whatever has no other.
pub(super) const SERVER_ERROR: i64 = -32000;
/// The end of a session that was opened again and had no prompt.
const IDLE: &str = "idle";

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
    /// The prompt was not sent, because of what was to be set before it. The agent was told nothing.
    NotSent {
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

    /// Whether the agent can be given another prompt.
    pub(super) fn leaves_session(&self) -> bool {
        match self {
            Self::Complete { .. } | Self::NotSent { .. } => true,
            Self::Refused { method, .. } => *method == "session/prompt",
            _ => false,
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
            }
            | Self::NotSent {
                code,
                message,
                data,
            } => why(code, message.clone(), data.clone()),
        })
    }
}

impl Why {
    fn outcome(self) -> Outcome {
        Outcome::Failed {
            reason: self.name.to_owned(),
            message: self.message,
        }
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
        let grace = self.grace();
        if let Stop::Complete { .. } = stop {
            let outcome = self.end_prompt(stop).await;
            self.end_process(grace).await;
            return outcome;
        }
        self.note_stop(&stop);
        let told = matches!(stop, Stop::Told(_));
        self.cancel_prompt(grace).await;
        let (exit, errors) = self.end_process(grace).await;
        if let Stop::Breach(breach) = &stop {
            self.warn_of_limits(Some(breach.limit));
        } else if stop.why().is_some() {
            self.warn_of_limits(None);
        }
        let Some(why) = stop.why() else {
            return self.prompt_ended(Outcome::Unauthorized);
        };
        self.enter(if told {
            State::Cancelled
        } else {
            State::Failed
        });
        let outcome = if self.prompt_open {
            tell(&self.reporter, why, exit, errors)
        } else {
            why.outcome()
        };
        self.prompt_ended(outcome)
    }

    /// Tells how the prompt went. The agent stays.
    pub(super) async fn end_prompt(&mut self, stop: Stop) -> Outcome {
        self.note_stop(&stop);
        // What it says late is heard; what it asks late is of no turn.
        self.turn_over = true;
        let outcome = match stop {
            Stop::Complete { reason, usage } => {
                self.linger(LINGER).await;
                self.give_up_questions().await;
                self.warn_of_limits(None);
                self.enter(if reason == CANCELLED {
                    State::Cancelled
                } else {
                    State::Done
                });
                self.reporter.end(End::Complete {
                    stop_reason: reason.clone(),
                    usage,
                });
                Outcome::Complete {
                    stop_reason: reason,
                }
            }
            stop => {
                self.give_up_questions().await;
                self.warn_of_limits(None);
                self.enter(State::Failed);
                match stop.why() {
                    Some(why) => tell(&self.reporter, why, Exit::default(), String::new()),
                    None => Outcome::Unauthorized,
                }
            }
        };
        self.prompt_ended(outcome)
    }

    /// Ends an agent that waits for a prompt: nobody wrote one, or something stopped it. How the last prompt went
    /// is how the run went, unless it was the agent that failed.
    pub(super) async fn leave(&mut self, stop: Option<Stop>, last: Option<Outcome>) -> Outcome {
        match (stop, last) {
            (None | Some(Stop::Told(_)), Some(last)) => {
                self.end_process(self.grace()).await;
                self.gateway_told().await;
                last
            }
            (Some(Stop::Exited), _) => {
                let message = "the agent ended while it waited for the next prompt".to_owned();
                self.finish(Stop::Failed {
                    code: "agent_exited",
                    message,
                    data: Value::Null,
                })
                .await
            }
            (Some(stop), _) => self.finish(stop).await,
            (None, None) => {
                self.end_process(self.grace()).await;
                Outcome::Complete {
                    stop_reason: IDLE.to_owned(),
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
            self.reporter.warn(&warning);
            // Each prompt of a session may find the same.
            if self.warnings.contains(&warning) {
                continue;
            }
            // The others were told at the start.
            if matches!(found.why, Unmetered::Untold | Unmetered::Late(_)) {
                self.journal.warning(&warning);
            }
            self.warnings.push(warning);
        }
    }

    /// For people's eyes.
    fn note_stop(&self, stop: &Stop) {
        self.journal.event(&json!({"stop": format!("{stop:?}")}));
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
        self.turn_over = true;
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
        self.turn_over = true;
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
    let mut data = match why.data.clone() {
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
    why.outcome()
}
