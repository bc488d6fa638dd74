//! One thing that happens, and what follows from it.

use std::{io, time::Duration};

use serde_json::{Value, value::RawValue};
use tokio::time::{Instant, sleep_until};

use super::{Run, Seen, ask::Answered, ending::Stop};
use crate::{
    acp::{Line, Message, RpcError},
    process::Mouth,
    report::State,
};

/// Answers that may be on their way at once: an agent that asks more is not heard until some are found.
const MOST_OPEN: usize = 1024;
/// How late a limit of time may be noticed.
const TICK: Duration = Duration::from_millis(250);

/// An answer of the agent: to which request, and what.
pub(super) type Response = (u64, Result<Option<Box<RawValue>>, RpcError>);

impl Run {
    /// Waits for the next thing. Whatever it is can wait itself: nothing is lost if this is dropped.
    pub(super) async fn step(&mut self) -> Result<Option<Response>, Stop> {
        let behind = self.mouth.as_ref().is_some_and(Mouth::is_behind);
        let hearing = self.open.len() < MOST_OPEN && !behind;
        let unauthorized = self.reporter.unauthorized();
        tokio::select! {
            biased;
            by = self.stop.pulled() => Err(Stop::Told(by)),
            () = unauthorized.cancelled() => Err(Stop::Unauthorized),
            Some(answered) = self.tasks.join_next_with_id() => {
                if let Ok((id, answered)) = answered {
                    self.answer(id, answered);
                }
                self.limited()
            }
            line = self.heard.recv(), if hearing => match line {
                Some(line) => self.hear(line),
                None => Err(Stop::Exited),
            },
            () = sleep_until(Instant::now() + TICK) => self.limited(),
        }
    }

    pub(super) fn hear(&mut self, line: io::Result<Line>) -> Result<Option<Response>, Stop> {
        let line = line.map_err(|error| Stop::protocol("output", error.to_string()))?;
        self.heard_at = Instant::now();
        self.meter.output(line.size);
        self.journal.heard(&line.text);
        let response = match Message::parse(&line.text) {
            Message::Notification { method, params } => {
                self.notified(&method, params);
                None
            }
            Message::Request { id, method, params } => {
                self.requested(id, &method, params);
                None
            }
            Message::Response { id, result } => Some((id, result)),
            Message::Noise => None,
        };
        self.limited()?;
        Ok(response)
    }

    fn notified(&mut self, method: &str, params: Option<Box<RawValue>>) {
        match (method, params) {
            ("session/update", Some(params)) => {
                self.meter.update(&params);
                self.notice_mode(&params);
                self.show(|| Seen::Update(params.clone()));
                self.show(|| Seen::Spent(self.meter.spent()));
                self.reporter.notification(params, self.phase);
            }
            ("$/cancel_request", params) => self.cancel_asked(params.as_deref()),
            (method, params) => self.reporter.agent_notification(method, params),
        }
    }

    fn notice_mode(&mut self, params: &RawValue) {
        const KIND: &str = "current_mode_update";
        // Few updates are about the mode: the others are not read for it.
        if !params.get().contains(KIND) {
            return;
        }
        let update: Value = serde_json::from_str(params.get()).unwrap_or_default();
        let text = |name: &str| update.pointer(name).and_then(Value::as_str);
        if text("/update/sessionUpdate") == Some(KIND) {
            self.mode = text("/update/currentModeId").map(str::to_owned);
        }
    }

    fn answer(&mut self, id: tokio::task::Id, answered: Answered) {
        if let Some(open) = self.open.remove(&id) {
            self.settle(&open, answered);
        }
        self.rest();
    }

    /// The state that fits what is being waited for.
    pub(super) fn rest(&mut self) {
        let waiting = self.open.values().any(|open| open.permission.is_some());
        match (self.state, waiting) {
            (State::Running, true) => self.enter(State::WaitingPermission),
            (State::WaitingPermission, false) => {
                // Nobody's silence while it waited was the agent's.
                self.heard_at = Instant::now();
                self.enter(State::Running);
            }
            _ => {}
        }
    }

    fn limited(&self) -> Result<Option<Response>, Stop> {
        // While it waits for us, its silence is ours.
        let idle = if self.open.is_empty() {
            self.heard_at.elapsed()
        } else {
            Duration::ZERO
        };
        match self.meter.breach(self.began.elapsed(), idle) {
            Some(breach) => Err(Stop::Breach(breach)),
            None => Ok(None),
        }
    }
}
