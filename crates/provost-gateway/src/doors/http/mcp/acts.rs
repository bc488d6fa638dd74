//! An act on its way through the gate, while its client hears that it waits.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use async_trait::async_trait;
use provost_core::{
    approval::Approval,
    call::Call,
    door::Door,
    gate::{Ask, Decided, Executed, GateError, Permit, Refusal, Wait},
    ids::TraceId,
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
};
use rmcp::model::ProgressNotificationParam;
use serde_json::{Map, Value};
use tokio::sync::mpsc::Receiver;

use super::{
    exchange::Exchange,
    progress::Progress,
    session::Question,
    waiting::{self, Choice, Offer},
};
use crate::telemetry::CallSpan;

/// Clients give up on what is silent for a minute, some sooner.
const BETWEEN_SIGNS: Duration = Duration::from_secs(5);

pub(super) struct Act {
    pub(super) call: Call,
    /// `None`: nothing runs it, and its misfit says so.
    pub(super) backend: Option<Arc<dyn Backend>>,
    /// Why its arguments do not fit, where they do not.
    pub(super) misfit: Option<Box<str>>,
    pub(super) progress: Progress,
    /// What the server says of its progress.
    pub(super) heard: Option<Receiver<ProgressNotificationParam>>,
    /// What the user chose when it was asked before.
    pub(super) chosen: Option<Choice>,
}

pub(super) enum Passed {
    Ran {
        executed: Box<Executed>,
        /// What it was run with, where a person changed it.
        changed: Option<Map<String, Value>>,
    },
    Refused(Box<Refusal>),
    /// It stays pending, by the user's choice.
    Left(Box<Approval>),
    /// The user is to be asked whether to wait.
    InputRequired(Box<Approval>),
}

pub(super) async fn pass(exchange: &Exchange, act: Act) -> Result<Passed, GateError> {
    let app = &exchange.app;
    let began_at = app.gate.now();
    let changed = Arc::new(OnceLock::new());
    let backend = act.backend.map(|backend| -> Arc<dyn Backend> {
        let changed = changed.clone();
        Arc::new(Noting { backend, changed })
    });
    let mut ask = Ask {
        call: act.call,
        trace_id: TraceId::at(began_at),
        door: Door::Mcp,
        wait: Wait::AtMost(Duration::ZERO),
        idempotency_key: None,
        folder: None,
        misfit: act.misfit,
    };
    // The caller's trace id, if no call had it yet: a record must never be taken for another's.
    if let Some(given) = &exchange.trace_id
        && app.gate.store().reserve_trace_id(given, began_at).await?
    {
        ask.trace_id = given.clone();
    }
    let mut signs = Signs {
        progress: act.progress,
        heard: act.heard,
        waiting: None,
        question: None,
    };
    let walk = app.gate.walk(ask.clone(), backend.clone());
    let mut decided = signs.attend(exchange, walk).await?;
    if let Some(Decided::Waiting(approval)) = decided {
        signs.question = match waiting::offer(exchange, &approval, act.chosen) {
            Offer::Wait => None,
            Offer::Form(question) => Some(question),
            Offer::InputRequired => return Ok(Passed::InputRequired(approval)),
            Offer::Leave => return Ok(Passed::Left(approval)),
        };
        ask.wait = Wait::UntilDecided;
        let walk = app.gate.walk(ask.clone(), backend);
        signs.waiting = Some(&approval);
        decided = signs.attend(exchange, walk).await?;
        if decided.is_none() {
            return Ok(Passed::Left(approval));
        }
    }
    let decided = decided.ok_or(GateError::Busy)?;
    span(exchange, &ask, began_at, &decided);
    Ok(match decided {
        Decided::Ran(executed) | Decided::Replayed(executed) => Passed::Ran {
            executed,
            changed: changed.get().cloned(),
        },
        Decided::Refused(refusal) => Passed::Refused(refusal),
        Decided::Waiting(approval) => Passed::Left(approval),
        // With a backend or a misfit, and without an idempotency key, there are no others.
        Decided::Permitted(_) | Decided::KeyMismatch | Decided::KeyUnsettled { .. } => {
            return Err(GateError::Busy);
        }
    })
}

/// What is told of an act while it is under way.
struct Signs<'a> {
    progress: Progress,
    heard: Option<Receiver<ProgressNotificationParam>>,
    waiting: Option<&'a Approval>,
    question: Option<Question>,
}

impl Signs<'_> {
    /// `None`: the user would not wait.
    async fn attend(
        &mut self,
        exchange: &Exchange,
        walk: impl Future<Output = Result<Decided, GateError>>,
    ) -> Result<Option<Decided>, GateError> {
        tokio::pin!(walk);
        let mut signs = tokio::time::interval(BETWEEN_SIGNS);
        loop {
            tokio::select! {
                biased;
                decided = &mut walk => {
                    // What was told before the end is told before the answer.
                    while let Some(Ok(said)) = self.heard.as_mut().map(Receiver::try_recv) {
                        self.pass(&said);
                    }
                    if let Some(question) = &self.question {
                        waiting::withdraw(exchange, question);
                    }
                    return decided.map(Some);
                }
                Some(said) = hear(&mut self.heard) => self.pass(&said),
                answered = answer(&mut self.question) => match waiting::chosen(answered.as_ref()) {
                    Choice::Leave => return Ok(None),
                    Choice::Wait => self.question = None,
                },
                _ = signs.tick(), if self.waiting.is_some() => {
                    if let Some(approval) = self.waiting {
                        self.progress.waits(approval);
                    }
                }
            }
        }
    }

    fn pass(&self, said: &ProgressNotificationParam) {
        let (total, message) = (said.total, said.message.as_deref());
        self.progress.passes(said.progress, total, message);
    }
}

/// Never, where there is nothing to hear.
async fn hear(
    heard: &mut Option<Receiver<ProgressNotificationParam>>,
) -> Option<ProgressNotificationParam> {
    match heard {
        Some(heard) => heard.recv().await,
        None => None,
    }
}

/// Never, where nothing was asked.
async fn answer(question: &mut Option<Question>) -> Option<Value> {
    match question {
        Some(question) => (&mut question.answered).await.ok().flatten(),
        None => std::future::pending().await,
    }
}

fn span(exchange: &Exchange, ask: &Ask, began_at: provost_core::time::Time, decided: &Decided) {
    let Some(spans) = &exchange.app.spans else {
        return;
    };
    let (verdict, failed) = decided.summary();
    spans.call(CallSpan {
        trace_id: ask.trace_id.clone(),
        parent: exchange.parent.clone(),
        agent: ask.call.agent.clone(),
        session: ask.call.session.clone(),
        tool: ask.call.tool.clone(),
        began_at,
        ended_at: exchange.app.gate.now(),
        verdict,
        failed,
    });
}

/// Remembers what a person changed in the call it runs.
struct Noting {
    backend: Arc<dyn Backend>,
    changed: Arc<OnceLock<Map<String, Value>>>,
}

#[async_trait]
impl Backend for Noting {
    fn tools(&self) -> Vec<ToolInfo> {
        self.backend.tools()
    }

    fn has(&self, tool: &str) -> bool {
        self.backend.has(tool)
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        if let Some(changed) = permit.changed() {
            // The only call of this backend: nobody was quicker.
            let _ = self.changed.set(changed.clone());
        }
        self.backend.forward(permit).await
    }
}
