//! How a run ends, and what is told of it.

use std::{io, time::Duration};

use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::time::{Instant, timeout_at};

use super::{
    CANCELLED, LINGER, Run, UNAUTHORIZED,
    pump::Response,
    stop::{Stop, Why},
};
use crate::{
    acp::{self, Line},
    meter::Spent,
    metering::{self, Why as Unmetered},
    process::{Exit, Grace, QUIET},
    report::{Counts, Drained, End, Failure, Reporter, State},
};

/// JSON-RPC's, for whatever has no other.
pub(super) const SERVER_ERROR: i64 = -32000;
pub(super) const UNSUPERVISED: &str = "unsupervised";
pub(super) const MODE_CHANGED: &str = "mode_changed";
/// The end of a session that was opened again and had no prompt.
const IDLE: &str = "idle";

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

/// A process that has ended.
#[derive(Default)]
struct Gone {
    exit: Exit,
    /// The end of what it said on its error output.
    errors: String,
    /// What was found in what it said last.
    found: Option<Stop>,
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
            Self::Unauthorized => {
                json!({"state": "failed", "reason": "unauthorized", "message": UNAUTHORIZED})
            }
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
            return self.end_answered(outcome).await;
        }
        self.note_stop(&stop);
        let told = matches!(stop, Stop::Told(_));
        self.cancel_prompt(grace).await;
        // Whoever waits for the report does not wait for what the agent has left behind.
        let Gone { exit, errors, .. } = self.end_process(Grace::of_agent(grace)).await;
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

    /// Takes in what the agent says after its answer to the prompt, and looks at what it has begun: nothing that it
    /// did undecided ends well.
    pub(super) async fn hear_out(&mut self, stop: Stop) -> Stop {
        if !matches!(stop, Stop::Complete { .. }) {
            return stop;
        }
        // What it says late is heard; what it asks late is of no turn.
        self.turn_over = true;
        if let Some(found) = self.linger(LINGER).await {
            return found;
        }
        self.give_up_questions().await;
        self.look_at_begun().err().unwrap_or(stop)
    }

    fn look_at_begun(&mut self) -> Result<(), Stop> {
        // It was told to give up what it had begun.
        if self.cancelling.is_some() {
            return Ok(());
        }
        let begun = self.watched().turn_ended();
        let mut found = Ok(());
        for unseen in begun {
            found = found.and(self.unsupervised(&unseen));
        }
        found
    }

    /// Ends an agent whose prompt was answered and told. What is found now can be told by how the run ends.
    async fn end_answered(&mut self, outcome: Outcome) -> Outcome {
        let gone = self.end_process(Grace::of_all(self.grace())).await;
        let found = gone.found.as_ref().and_then(Stop::why);
        found.map_or(outcome, Why::outcome)
    }

    /// Tells how the prompt went. The agent stays.
    pub(super) async fn end_prompt(&mut self, stop: Stop) -> Outcome {
        self.note_stop(&stop);
        let outcome = match stop {
            Stop::Complete { reason, usage } => {
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
            (None | Some(Stop::Told(_)), last) => {
                let last = last.unwrap_or(Outcome::Complete {
                    stop_reason: IDLE.to_owned(),
                });
                let outcome = self.end_answered(last).await;
                self.gateway_told().await;
                outcome
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

    /// Takes in what still comes, until something is found that the answer does not make up for.
    async fn linger(&mut self, time: Duration) -> Option<Stop> {
        let until = Instant::now() + time;
        while Instant::now() < until
            && let Ok(next) = timeout_at(until, self.step()).await
        {
            match next {
                // What it may spend bounds its turn, and that is over.
                Ok(_) | Err(Stop::Breach(_)) => {}
                Err(stop) => return Some(stop).filter(Stop::outweighs_answer),
            }
        }
        None
    }

    /// Has the agent stop by itself, if it will: it is told that its turn is over, and so are its questions.
    async fn cancel_prompt(&mut self, grace: Duration) {
        // One that has gone answers nothing.
        self.prompting &= self.exited.is_none();
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
    async fn end_process(&mut self, grace: Grace) -> Gone {
        self.turn_over = true;
        self.workspace.end().await;
        self.mouth = None;
        let mut gone = Gone::default();
        let Some(mut process) = self.process.take() else {
            return gone;
        };
        gone.exit = {
            let mut ending = std::pin::pin!(process.end(grace));
            loop {
                tokio::select! {
                    exit = &mut ending => break exit,
                    Some(line) = self.heard.recv() => gone.find(self.take_in(line)),
                }
            }
        };
        // What it wrote last is still on its way. Whoever left its group may hold its output for ever.
        let until = Instant::now() + LINGER;
        while let Some(line) = self.hear_until(until.min(Instant::now() + QUIET)).await {
            gone.find(self.take_in(line));
        }
        gone.errors = process.last_errors();
        gone
    }
}

impl Gone {
    /// Keeps the first thing that is found and counts.
    fn find(&mut self, taken: Result<Option<Response>, Stop>) {
        if self.found.is_none() {
            self.found = taken.err().filter(Stop::outweighs_answer);
        }
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
