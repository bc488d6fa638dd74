//! One thing that happens, and what follows from it.

use std::{
    io,
    sync::{MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{json, value::RawValue};
use tokio::time::{Instant, sleep_until};

use super::{LINGER, Run, ask::Answered, ending::MODE_CHANGED, stop::Stop};
use crate::{
    acp::{Line, Message, RpcError, SessionUpdate, Update},
    process::{Mouth, Process, QUIET},
    report::{Phase, State},
    unsupervised::{ActWatch, Unseen},
};

/// Answers that may be on their way at once: an agent that asks more is not heard until some are found.
const MOST_OPEN: usize = 1024;
/// How late a limit of time may be noticed.
pub(super) const TICK: Duration = Duration::from_millis(250);

/// An answer of the agent: to which request, and what.
pub(super) type Response = (u64, Result<Option<Box<RawValue>>, RpcError>);

impl Run {
    /// Waits for the next thing. Whatever it is can wait itself: nothing is lost if this is dropped.
    pub(super) async fn step(&mut self) -> Result<Option<Response>, Stop> {
        self.heed_cancel().await?;
        let behind = self.mouth.as_ref().is_some_and(Mouth::is_behind);
        let hearing = self.open.len() < MOST_OPEN && !behind;
        let unauthorized = self.reporter.unauthorized();
        tokio::select! {
            biased;
            by = self.stop.pulled() => Err(Stop::Told(by)),
            () = unauthorized.cancelled() => Err(Stop::Unauthorized),
            Some(answered) = self.tasks.join_next_with_id() => {
                match answered {
                    Ok((id, answered)) => self.answer(id, answered),
                    Err(broken) => self.answer(broken.id(), Answered::Broken),
                }
                self.limited()
            }
            Ok(()) = self.acts_open.changed() => {
                self.rest();
                self.limited()
            }
            line = self.heard.recv(), if hearing => match line {
                Some(line) => self.hear(line),
                None => Err(Stop::Exited),
            },
            Some(()) = exit(self.process.as_mut()), if self.exited.is_none() => {
                self.exited = Some(Instant::now());
                Ok(None)
            }
            () = sleep_until(Instant::now() + if self.exited.is_some() { QUIET } else { TICK }) => {
                // What an agent that is gone wrote is heard by now. A child of it may keep its output open for ever.
                match self.exited {
                    Some(_) => Err(Stop::Exited),
                    None => self.limited(),
                }
            }
        }
    }

    fn hear(&mut self, line: io::Result<Line>) -> Result<Option<Response>, Stop> {
        let response = self.take_in(line)?;
        // Its child may have more and more to say.
        if self.exited.is_some_and(|at| at.elapsed() > LINGER) {
            return Err(Stop::Exited);
        }
        self.limited()?;
        Ok(response)
    }

    /// Whatever was spent already.
    pub(super) fn take_in(&mut self, line: io::Result<Line>) -> Result<Option<Response>, Stop> {
        let line = line.map_err(|error| Stop::protocol("output", error.to_string()))?;
        self.heard_at = Instant::now();
        self.meter.output(line.size);
        self.journal.heard(&line.text);
        match Message::parse(&line.text) {
            Message::Notification { method, params } => {
                self.notified(&method, params)?;
                self.stays()?;
            }
            Message::Request { id, method, params } => self.requested(id, &method, params),
            Message::Response { id, result } => return Ok(Some((id, result))),
            Message::Noise => {}
        }
        Ok(None)
    }

    fn notified(&mut self, method: &str, params: Option<Box<RawValue>>) -> Result<(), Stop> {
        match (method, params) {
            ("session/update", Some(params)) => {
                let unseen = self.told(SessionUpdate::read(&params));
                self.reporter.notification(params, self.phase);
                return unseen.map_or(Ok(()), |unseen| self.unsupervised(&unseen));
            }
            ("$/cancel_request", params) => self.cancel_asked(params.as_deref()),
            (method, params) => self.reporter.agent_notification(method, params),
        }
        Ok(())
    }

    /// Takes in what the agent says, and tells what it did that nobody decided.
    fn told(&mut self, SessionUpdate { session, update }: SessionUpdate) -> Option<Unseen> {
        // Another session's mode is not ours.
        let ours = self.session.is_none() || session == self.session;
        if let (Update::Mode(mode), true) = (&update, ours) {
            self.mode = Some(mode.clone());
        }
        // What an earlier run did is not this one's.
        if self.phase != Phase::Live {
            return None;
        }
        self.meter.update(&update);
        self.answer.note(&update);
        let Update::Tool(tool) = update else {
            return None;
        };
        let unseen = self.watched().update(&tool, Instant::now());
        self.calls.note(tool);
        unseen
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, ActWatch> {
        let watch = self.act_watch.lock();
        watch.unwrap_or_else(PoisonError::into_inner)
    }

    /// In another mode than the one that was wanted, an agent may ask nobody.
    fn stays(&self) -> Result<(), Stop> {
        match (&self.kept, &self.mode) {
            (Some(kept), Some(now)) if kept != now => Err(Stop::Failed {
                code: MODE_CHANGED,
                message: format!("the agent was to stay in mode `{kept}` and went into `{now}`"),
                data: json!({"mode": kept, "current": now}),
            }),
            _ => Ok(()),
        }
    }

    fn answer(&mut self, id: tokio::task::Id, answered: Answered) {
        if let Some(open) = self.open.remove(&id) {
            self.settle(&open, answered);
            // It waited for us until now.
            self.heard_at = Instant::now();
        }
        for path in self.workspace.take_changed() {
            self.meter.changed(&path.to_string_lossy());
            self.watched().wrote(path);
        }
        self.rest();
    }

    /// The state that fits what is being waited for.
    pub(super) fn rest(&mut self) {
        let asked = self.open.values().any(|open| open.permission.is_some());
        let waiting = asked || *self.acts_open.borrow_and_update() > 0;
        match (self.state, waiting) {
            (State::Running, true) => self.enter(State::WaitingPermission),
            (State::WaitingPermission, false) => self.enter(State::Running),
            _ => {}
        }
    }

    fn limited(&mut self) -> Result<Option<Response>, Stop> {
        let asking = !self.open.is_empty() || *self.acts_open.borrow() > 0;
        let overdue = self.watched().overdue(Instant::now(), asking);
        if let Some(unseen) = overdue {
            self.unsupervised(&unseen)?;
        }
        // While it waits for us, or for a prompt, its silence is ours.
        let idle = if self.open.is_empty() && !self.turn_over {
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

/// When the process has ended.
async fn exit(process: Option<&mut Process>) -> Option<()> {
    process?.exited().await;
    Some(())
}
