//! A session that stays: the prompts that follow, and a turn that is cancelled.
//!
//! Each prompt has its own id, its own reporter and so its own numbers from 1 on, and its own end. The next one is
//! taken when everything about the one before is delivered, so that a receiver never has two at a time.

use std::sync::Arc;

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{task::JoinHandle, time::Instant};

use super::{CANCELLED, Delivery, Run, deliver, pump::TICK, stop::Stop, wanted::Wanted};
use crate::{
    acp,
    config::Keep,
    inbox::{Followup, Inbox, Unreadable},
    journal::Journal,
    permission::Judge,
    report::{End, Failure, State},
    run::Outcome,
    setup::{Reports, Untold, hear_answers},
};

/// The reason of a prompt whose file is none.
pub(super) const UNREADABLE: &str = "prompt_unreadable";
/// The prompts that wait for a session are told at its end, so many at most.
const MOST_WAITING: usize = 1000;

impl Run {
    /// Waits for the next prompt, and makes it the one that runs. `false`: nobody wrote one for long enough.
    pub(super) async fn next_prompt(&mut self) -> Result<bool, Stop> {
        let Some(keep) = self.config.keep.clone() else {
            return Ok(false);
        };
        let inbox = Inbox::at(&keep.prompts);
        self.turn_over = true;
        self.enter(State::Idle);
        let delivering = self.deliver_reports();
        let since = Instant::now();
        loop {
            match inbox.next(self.number + 1) {
                Some(Err(Unreadable {
                    prompt_id: None,
                    problem,
                })) => self.skip_prompt(&problem),
                Some(_) if !delivering.is_finished() => {}
                Some(next) => {
                    self.leftovers.clear();
                    self.delivery += delivering.await.unwrap_or_default();
                    if self.delivery.trouble().is_some() {
                        self.journal.event(&self.delivery.event(false));
                    }
                    self.begin(next)?;
                    return Ok(true);
                }
                None if since.elapsed() > keep.idle => return Ok(false),
                None => {}
            }
            self.steps().await?;
        }
    }

    /// Whose prompt it is cannot be told, so it cannot be reported.
    fn skip_prompt(&mut self, problem: &str) {
        self.number += 1;
        let number = self.number;
        self.journal.event(&json!({"prompt": {
            "number": number, "state": "failed", "reason": UNREADABLE, "message": problem,
        }}));
        let warning = format!("prompt {number} was skipped, and nobody was told: {problem}");
        self.journal.warning(&warning);
        self.warnings.push(warning);
    }

    /// Takes in what happens until it is time to look again.
    async fn steps(&mut self) -> Result<(), Stop> {
        let until = Instant::now() + TICK;
        while Instant::now() < until {
            self.step().await?;
        }
        Ok(())
    }

    fn deliver_reports(&self) -> JoinHandle<Delivery> {
        let mut untold = self.leftovers.clone();
        untold.push(self.reporter.clone().into());
        let brake = self.stop.clone();
        tokio::spawn(async move { deliver(&untold, &brake).await })
    }

    /// One that cannot be read has an end to be told as well.
    fn begin(&mut self, next: Result<Followup, Unreadable>) -> Result<(), Stop> {
        self.number += 1;
        let (id, prompt, wanted) = match next {
            Ok(followup) => (
                followup.prompt_id.clone(),
                followup.content(),
                Wanted {
                    mode: followup.mode,
                    model: followup.model_id,
                    options: followup.options,
                    problem: None,
                },
            ),
            Err(Unreadable { prompt_id, problem }) => {
                let wanted = Wanted {
                    problem: Some(problem),
                    ..Wanted::default()
                };
                (prompt_id.unwrap_or_default(), None, wanted)
            }
        };
        let failed = |error: crate::report::Error| Stop::Failed {
            code: "cannot_report",
            message: error.to_string(),
            data: Value::Null,
        };
        self.reporter = self.reports.of(&id, 0).map_err(failed)?;
        if let Judge::Callback(callbacks) = &*self.judge {
            hear_answers(callbacks, &self.reporter);
        }
        if let Some(session) = &self.session {
            self.reporter.session(session);
        }
        self.acts.prompt(&id, self.reporter.clone());
        self.config.identity.prompt_id = id;
        self.config.prompt = prompt;
        self.wanted = wanted;
        self.answer = crate::answer::Answer::default();
        self.usage = None;
        self.heard_at = Instant::now();
        self.cancelling = None;
        self.turn_over = false;
        self.prompt_open = true;
        Ok(())
    }

    pub(super) fn prompt_begins(&mut self) {
        self.meter.prompt_begins();
        self.journal.event(&json!({"prompt": {
            "promptId": self.config.identity.prompt_id, "number": self.number, "state": "running",
        }}));
    }

    /// The one place where a prompt ends in the journal.
    pub(super) fn prompt_ended(&mut self, outcome: Outcome) -> Outcome {
        if std::mem::take(&mut self.prompt_open) {
            let id = &self.config.identity.prompt_id;
            let event = told(id, self.number, &outcome, Some(self.answer.text()));
            let spent = self.meter.spent().describe();
            self.journal
                .event(&json!({"prompt": event, "spent": spent}));
        }
        outcome
    }

    /// Cancels the turn if somebody wants that. The session stays, if the agent ends its turn.
    pub(super) async fn heed_cancel(&mut self) -> Result<(), Stop> {
        if let Some(since) = self.cancelling {
            return self.cancelled_in_time(since);
        }
        let Some(keep) = &self.config.keep else {
            return Ok(());
        };
        if !self.prompting || self.looked.elapsed() < TICK {
            return Ok(());
        }
        self.looked = Instant::now();
        if Inbox::at(&keep.prompts).is_cancelled(self.number) {
            self.cancelling = Some(self.looked);
            self.journal
                .event(&json!({"prompt": {"number": self.number, "state": "cancelling"}}));
            let session = json!({ "sessionId": self.session });
            self.say(acp::notification("session/cancel", session));
            self.turn_over = true;
            self.give_up_questions().await;
            self.watched().turn_cancelled();
        }
        Ok(())
    }

    fn cancelled_in_time(&self, since: Instant) -> Result<(), Stop> {
        if !self.prompting || since.elapsed() < self.grace() {
            return Ok(());
        }
        Err(Stop::Failed {
            code: "cancel_ignored",
            message: "the agent did not end its turn when it was told to, so it is ended"
                .to_owned(),
            data: Value::Null,
        })
    }
}

/// Nobody takes prompts any more: those that wait are told as failed, each by a report of its own.
pub(crate) fn refuse_waiting(
    keep: &Keep,
    reports: &Reports,
    journal: &Arc<Journal>,
    taken: u64,
    outcome: &Outcome,
) -> Vec<Untold> {
    let inbox = Inbox::at(&keep.prompts);
    if let Err(error) = inbox.close() {
        tracing::error!(%error, "the folder with the session's prompts cannot be closed");
    }
    let mut refused = Vec::new();
    for number in (taken + 1..).take(MOST_WAITING) {
        let (id, ended) = match inbox.next(number) {
            None => break,
            Some(Ok(followup)) => (followup.prompt_id, not_begun(&inbox, number, outcome)),
            Some(Err(Unreadable {
                prompt_id: None, ..
            })) => continue,
            Some(Err(Unreadable {
                prompt_id: Some(id),
                problem,
            })) => {
                let reason = UNREADABLE.to_owned();
                let message = problem;
                (id, Outcome::Failed { reason, message })
            }
        };
        journal.event(&json!({"prompt": {"promptId": id, "number": number, "state": "not_begun"}}));
        match reports.queued(&id) {
            Ok(untold) => {
                untold.reporter.end(end_of(&ended));
                refused.push(untold);
            }
            Err(error) => tracing::error!(%error, "nobody is told that a prompt was not begun"),
        }
        let event = told(&id, number, &ended, None);
        journal.event(&json!({ "prompt": event }));
    }
    refused
}

fn not_begun(inbox: &Inbox, number: u64, outcome: &Outcome) -> Outcome {
    if inbox.is_cancelled(number) {
        return Outcome::Complete {
            stop_reason: CANCELLED.to_owned(),
        };
    }
    let why = match outcome {
        Outcome::Failed { message, .. } => format!(": {message}"),
        Outcome::Complete { .. } | Outcome::Unauthorized => String::new(),
    };
    Outcome::Failed {
        reason: "not_begun".to_owned(),
        message: format!("the session ended before this prompt was begun{why}"),
    }
}

fn end_of(outcome: &Outcome) -> End {
    match outcome {
        Outcome::Complete { stop_reason } => End::Complete {
            stop_reason: stop_reason.clone(),
            usage: None,
        },
        Outcome::Failed { reason, message } => {
            let data: Option<Box<RawValue>> = to_raw_value(&json!({ "reason": reason })).ok();
            End::Failed(Failure {
                code: super::ending::SERVER_ERROR,
                message: message.clone(),
                data,
                ..Failure::default()
            })
        }
        Outcome::Unauthorized => End::Failed(Failure::default()),
    }
}

/// How a prompt ended, as the journal has it.
fn told(id: &str, number: u64, outcome: &Outcome, answer: Option<&str>) -> Value {
    let mut told = json!({"promptId": id, "number": number, "answer": answer});
    if let (Value::Object(told), Value::Object(outcome)) = (&mut told, outcome.describe()) {
        told.extend(outcome);
    }
    told
}
