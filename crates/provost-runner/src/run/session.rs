//! A session that stays: the prompts that follow, what is set before one, and a turn that is cancelled.
//!
//! Each prompt has its own id, its own reporter and so its own numbers from 1 on, and its own end. The next one is
//! taken when everything about the one before is delivered, so that a receiver never has two at a time.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{task::JoinHandle, time::Instant};

use super::{CANCELLED, Run, deliver, ending::Stop, open::values, pump::TICK};
use crate::{
    acp,
    config::Keep,
    inbox::{Followup, Inbox},
    journal::Journal,
    permission::Judge,
    report::{Drained, End, Failure, Reporter, State},
    run::Outcome,
    setup::{Reports, hear_answers},
};

/// The prompts that wait for a session are told at its end, so many at most.
const MOST_WAITING: usize = 1000;
/// Categories of options that do not change what the agent asks about.
const HARMLESS: [&str; 2] = ["model", "thought_level"];
const NOT_AVAILABLE: &str = "option_not_available";

/// What is set before a prompt.
#[derive(Default)]
pub(super) struct Wanted {
    mode: Option<String>,
    model: Option<String>,
    options: BTreeMap<String, String>,
}

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
            match inbox.prompt(self.number + 1) {
                Ok(Some(_)) if !delivering.is_finished() => {}
                Ok(Some(followup)) => {
                    self.drained += delivering.await.unwrap_or_default();
                    self.reported += self.reporter.counts();
                    self.begin(followup)?;
                    return Ok(true);
                }
                Ok(None) if since.elapsed() > keep.idle => return Ok(false),
                Ok(None) => {}
                Err(error) => {
                    self.number += 1;
                    self.journal.event(&json!({"prompt": {
                        "number": self.number, "state": "failed", "reason": "unreadable", "message": error.to_string(),
                    }}));
                }
            }
            self.steps().await?;
        }
    }

    /// Takes in what happens until it is time to look again.
    async fn steps(&mut self) -> Result<(), Stop> {
        let until = Instant::now() + TICK;
        while Instant::now() < until {
            self.step().await?;
        }
        Ok(())
    }

    fn deliver_reports(&self) -> JoinHandle<Drained> {
        let (reporter, brake) = (self.reporter.clone(), self.stop.clone());
        tokio::spawn(async move { deliver(&reporter, &brake).await })
    }

    fn begin(&mut self, followup: Followup) -> Result<(), Stop> {
        self.number += 1;
        let failed = |error: crate::report::Error| Stop::Failed {
            code: "cannot_report",
            message: error.to_string(),
            data: Value::Null,
        };
        let id = followup.prompt_id.clone();
        self.reporter = self.reports.of(&id, 0).map_err(failed)?;
        if let Judge::Callback(callbacks) = &*self.judge {
            hear_answers(callbacks, &self.reporter);
        }
        if let Some(session) = &self.session {
            self.reporter.session(session);
        }
        self.acts.prompt(&id, self.reporter.clone());
        self.config.identity.prompt_id = id;
        self.config.prompt = followup.content();
        self.wanted = Wanted {
            mode: followup.mode,
            model: followup.model_id,
            options: followup.options,
        };
        self.answer = crate::answer::Answer::default();
        self.usage = None;
        self.heard_at = Instant::now();
        self.cancelling = None;
        self.turn_over = false;
        self.prompt_open = true;
        Ok(())
    }

    pub(super) fn prompt_begins(&self) {
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

    /// Sets what the prompt wants. What may not be set is found before the agent is told anything.
    pub(super) async fn set_wanted(&mut self) -> Result<(), Stop> {
        let taken_back = self.config.keep.as_ref();
        let taken_back =
            taken_back.is_some_and(|keep| Inbox::at(&keep.prompts).is_cancelled(self.number));
        if taken_back {
            return Err(Stop::Complete {
                reason: CANCELLED.to_owned(),
                usage: None,
            });
        }
        let wanted = std::mem::take(&mut self.wanted);
        let mode = wanted.mode.filter(|mode| self.kept.as_ref() != Some(mode));
        if let Some(mode) = &mode {
            self.check_mode(mode)?;
        }
        let mut options = Vec::new();
        for (id, value) in &wanted.options {
            options.push((self.option(id, value)?, value));
        }
        if let Some(mode) = mode {
            self.set_mode(mode).await?;
        }
        if wanted.model.is_some() {
            self.config.model = wanted.model;
            self.model().await?;
        }
        for (option, value) in options {
            self.set_option(&option, value, NOT_AVAILABLE).await?;
        }
        Ok(())
    }

    /// Where nobody may act undecided, only modes in which the agent is known to ask are taken.
    fn check_mode(&self, mode: &str) -> Result<(), Stop> {
        let refused = |message: String| {
            Err(Stop::NotSent {
                code: "mode_not_available",
                message,
                data: json!({ "mode": mode }),
            })
        };
        match (self.supervised.mode, self.supervised.profile) {
            (Some(_), Some(profile)) => match profile.mode(Some(mode)) {
                Ok(_) => Ok(()),
                Err(message) => refused(message),
            },
            _ if self.config.permissions.by.is_strict() => refused(format!(
                "it is not known whether this agent asks in mode `{mode}`, so it stays in the mode that it began in"
            )),
            _ => Ok(()),
        }
    }

    fn option(&self, id: &str, value: &str) -> Result<Value, Stop> {
        let refused = |message: String| Stop::NotSent {
            code: NOT_AVAILABLE,
            message,
            data: json!({"option": id, "value": value}),
        };
        let known = self.opened.get("configOptions").and_then(Value::as_array);
        let known = known.map(Vec::as_slice).unwrap_or_default();
        let name = |option: &Value| option.get("id")?.as_str().map(str::to_owned);
        let Some(option) = known
            .iter()
            .find(|option| name(option).as_deref() == Some(id))
        else {
            let names: Vec<_> = known.iter().filter_map(name).collect();
            return Err(refused(format!(
                "the agent has no option `{id}`: it has {}",
                super::open::names(&names)
            )));
        };
        let category = option.get("category").and_then(Value::as_str);
        let harmless = category.is_some_and(|category| HARMLESS.contains(&category));
        if self.config.permissions.by.is_strict() && !harmless {
            return Err(refused(format!(
                "the option `{id}` may change what the agent asks about: only its model and how much it thinks \
                 can be set, and its `mode`"
            )));
        }
        let values = values(option);
        if !values.iter().any(|known| known == value) {
            return Err(refused(format!(
                "the option `{id}` has no value `{value}`, but {}",
                super::open::names(&values)
            )));
        }
        Ok(option.clone())
    }
}

/// Nobody takes prompts any more: those that wait are told as failed, each by a report of its own.
pub(crate) fn refuse_waiting(
    keep: &Keep,
    reports: &Reports,
    journal: &Arc<Journal>,
    taken: u64,
    outcome: &Outcome,
) -> Vec<Reporter> {
    let inbox = Inbox::at(&keep.prompts);
    if let Err(error) = inbox.close() {
        tracing::error!(%error, "the folder with the session's prompts cannot be closed");
    }
    let mut refused = Vec::new();
    for number in (taken + 1..).take(MOST_WAITING) {
        let Ok(Some(followup)) = inbox.prompt(number) else {
            break;
        };
        let ended = not_begun(&inbox, number, outcome);
        journal.event(&json!({"prompt": {
            "promptId": followup.prompt_id, "number": number, "state": "not_begun",
        }}));
        match reports.of(&followup.prompt_id, 0) {
            Ok(reporter) => {
                reporter.end(end_of(&ended));
                refused.push(reporter);
            }
            Err(error) => tracing::error!(%error, "nobody is told that a prompt was not begun"),
        }
        let event = told(&followup.prompt_id, number, &ended, None);
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
