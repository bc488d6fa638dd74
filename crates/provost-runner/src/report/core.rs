//! What the reporter knows, behind one lock that is never held over a wait: batch, fold, queue and counts move
//! together, so that a report's number, its snapshot and its place in the line are one step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Counts, End, Event, Observe, Phase, State,
    answers::{Answer, found},
    batch::{Batch, Flush},
    body::{Content, Kind, Whose},
    clock::Clock,
    fold::{Fold, Snapshot},
    outcome::Outcome,
    permissions::Permissions,
    queue::{Entry, Queue},
    rebuild::{Rebuilt, marks},
};
use crate::config::Identity;

pub(super) struct Shared {
    inner: Mutex<Core>,
    /// A batch was opened.
    pub(super) opened: Notify,
    /// A report was queued.
    pub(super) queued: Notify,
    /// A report was settled.
    pub(super) settled: Notify,
    pub(super) unauthorized: CancellationToken,
    /// The terminal report is queued: nothing goes out after it.
    pub(super) ended: CancellationToken,
    pub(super) halt: CancellationToken,
    pub(super) clock: Clock,
    answers: mpsc::UnboundedSender<Answer>,
}

pub(super) struct Core {
    identity: Identity,
    observe: Option<Observe>,
    session: Option<String>,
    state: State,
    batch: Batch,
    fold: Fold,
    pub(super) permissions: Permissions,
    pub(super) warnings: Vec<String>,
    end: Option<End>,
    /// `None`: nobody to report to.
    pub(super) queue: Option<Queue>,
    pub(super) counts: Counts,
}

impl Shared {
    pub(super) fn new(
        core: Core,
        clock: Clock,
        unauthorized: CancellationToken,
        answers: mpsc::UnboundedSender<Answer>,
    ) -> Self {
        Self {
            inner: Mutex::new(core),
            opened: Notify::new(),
            queued: Notify::new(),
            settled: Notify::new(),
            unauthorized,
            ended: CancellationToken::new(),
            halt: CancellationToken::new(),
            clock,
            answers,
        }
    }

    /// A panic elsewhere does not make what is owed less owed.
    pub(super) fn lock(&self) -> MutexGuard<'_, Core> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on the decisions in a receiver's answer.
    pub(super) fn hear(&self, body: &[u8]) {
        for answer in found(body) {
            if self.lock().permissions.is_news(&answer) {
                let _ = self.answers.send(answer);
            }
        }
    }
}

impl Core {
    pub(super) fn new(
        identity: Identity,
        observe: Option<Observe>,
        queue: Option<Queue>,
        last_sequence: u64,
    ) -> Self {
        Self {
            identity,
            observe,
            session: None,
            state: State::Starting,
            batch: Batch::default(),
            fold: Fold::default(),
            permissions: Permissions::default(),
            warnings: Vec::new(),
            end: None,
            queue,
            counts: Counts {
                last_sequence,
                ..Counts::default()
            },
        }
    }

    pub(super) fn session(&mut self, id: &str) {
        // What is pending was said in the session before.
        if self.session.as_deref().is_some_and(|session| session != id) {
            self.flush();
        }
        self.session = Some(id.to_owned());
    }

    pub(super) fn state(&mut self, state: State) {
        self.state = state;
    }

    pub(super) fn notification(&mut self, item: Box<RawValue>, phase: Phase, now: Instant) {
        if self.queue.is_none() || self.end.is_some() {
            self.fold.take(&item);
            return;
        }
        // Before the fold: a report's snapshot ends where its notifications end.
        let before = self.batch.make_room(&item, phase);
        self.update(before);
        self.fold.take(&item);
        let full = self.batch.push(item, phase, now);
        self.update(full);
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.batch.due()
    }

    pub(super) fn flush_due(&mut self, now: Instant) {
        if self.batch.due().is_some_and(|due| due <= now) {
            self.flush();
        }
    }

    pub(super) fn flush(&mut self) {
        let pending = self.batch.take();
        self.update(pending);
    }

    fn update(&mut self, flush: Option<Flush>) {
        if let Some(Flush { items, phase }) = flush {
            self.queue(Content::Update {
                notifications: &items,
                phase,
            });
        }
    }

    /// A report that is not an update: what was said before it goes before it.
    pub(super) fn report(&mut self, content: Content<'_>) {
        if self.end.is_some() {
            return;
        }
        self.flush();
        self.queue(content);
    }

    /// Once: whoever tells of another end is too late.
    pub(super) fn end(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.flush();
        self.state = match &end {
            End::Complete { stop_reason, .. } if stop_reason == "cancelled" => State::Cancelled,
            End::Complete { .. } => State::Done,
            // Somebody stopped it, and said so.
            End::Failed(_) if self.state == State::Cancelled => State::Cancelled,
            End::Failed(_) => State::Failed,
        };
        self.end = Some(end.clone());
        let warnings = std::mem::take(&mut self.warnings);
        self.queue(Content::End {
            end: &end,
            warnings: &warnings,
        });
    }

    fn queue(&mut self, content: Content<'_>) {
        if self.queue.is_none() {
            return;
        }
        let sequence = self.counts.last_sequence + 1;
        let snapshot = self.view(sequence);
        let body = match self.whose().report(sequence, content, &snapshot) {
            Ok(body) => body,
            Err(error) => {
                tracing::error!(%error, "a report could not be written");
                return;
            }
        };
        self.counts.last_sequence = sequence;
        let (kind, notifications) = (content.kind(), content.notifications());
        let rebuild = match content {
            Content::Update { phase, .. } => {
                let (session, missed) = (self.session.as_deref(), self.missed());
                marks(session, phase, missed, &self.permissions, &body)
            }
            _ => None,
        };
        self.tell(&Event::Queued {
            sequence,
            kind,
            notifications,
            state: self.state,
            body: (notifications == 0).then_some(&body),
            rebuild: rebuild.as_deref(),
        });
        self.push(sequence, kind, notifications, body);
    }

    pub(super) fn again(&mut self, report: Rebuilt) {
        self.counts.last_sequence = report.sequence;
        self.push(
            report.sequence,
            report.kind,
            report.notifications,
            report.body,
        );
    }

    fn push(&mut self, sequence: u64, kind: Kind, notifications: usize, body: Bytes) {
        let queue = self.queue.as_mut();
        let dropped = queue.map(|queue| queue.push(sequence, kind, notifications, body));
        for entry in dropped.into_iter().flatten() {
            tracing::warn!(
                report.sequence = entry.sequence,
                "a report was dropped: too much waits"
            );
            self.dropped(&entry);
        }
    }

    /// What came of an attempt. Retries keep their place.
    pub(super) fn outcome(&mut self, entry: &Entry, outcome: Outcome) {
        let (sequence, kind) = (entry.sequence, entry.kind);
        match outcome {
            Outcome::Delivered => {
                self.counts.delivered += 1;
                self.tell(&Event::Delivered { sequence, kind });
            }
            Outcome::Refused(status) => {
                self.counts.refused += 1;
                self.counts.refusal = Some(status.as_u16());
                self.counts.end_refused |= kind.is_end();
                tracing::warn!(report.sequence = sequence, %status, "a report was refused");
                self.tell(&Event::Refused {
                    sequence,
                    kind,
                    status: status.as_u16(),
                });
            }
            Outcome::Again(_) => {
                self.counts.retries += 1;
                return self.tell(&Event::Again { sequence, kind });
            }
            Outcome::Unauthorized => return self.unauthorized(sequence, kind),
        }
        self.settle();
    }

    pub(super) fn unauthorized(&self, sequence: u64, kind: Kind) {
        self.tell(&Event::Unauthorized { sequence, kind });
    }

    /// A report whose file is gone: nothing is left to send.
    pub(super) fn lost(&mut self, entry: &Entry) {
        self.dropped(entry);
        self.settle();
    }

    fn dropped(&mut self, entry: &Entry) {
        self.counts.dropped += 1;
        self.tell(&Event::Dropped {
            sequence: entry.sequence,
            kind: entry.kind,
            notifications: entry.notifications,
        });
    }

    fn settle(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.settle();
        }
    }

    fn whose(&self) -> Whose<'_> {
        Whose {
            identity: &self.identity,
            session: self.session.as_deref(),
        }
    }

    pub(super) fn heartbeat(&self, now: i64) -> serde_json::Result<Bytes> {
        let last = self.counts.last_sequence;
        self.whose()
            .heartbeat(last, self.state, &self.permissions.pending, now)
    }

    fn view(&self, through: u64) -> Snapshot<'_> {
        let end = self.end.as_ref();
        self.fold
            .snapshot(self.state, through, self.missed(), &self.permissions, end)
    }

    /// Reports that the receiver does not have, and will not.
    fn missed(&self) -> u64 {
        self.counts.dropped + self.counts.refused
    }

    pub(super) fn snapshot(&self) -> serde_json::Result<Box<RawValue>> {
        serde_json::value::to_raw_value(&self.view(self.counts.last_sequence))
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            notifications: self.fold.count(),
            waiting: self.queue.as_ref().map_or(0, Queue::len) as u64,
            ..self.counts
        }
    }

    fn tell(&self, event: &Event<'_>) {
        if let Some(observe) = &self.observe {
            observe(event);
        }
    }
}
