//! Deciding one call: the walk from the stop switch to a permit, a refusal, or an open question.

use std::{sync::Arc, time::Duration};

use crate::{
    approval::{Approval, Kind},
    call::{Call, Digest, Executor},
    control::Control,
    door::Door,
    grant::Asked,
    ids::{ApprovalId, GrantId, TraceId},
    limits::{Limited, LoopLimit},
    policy::{RateLimit, Ruling, Verdict},
    ports::{Backend, IdempotencyKey, Record},
    time::Time,
    trace::{Answer, policy_text},
};

use super::{
    Executed, Gate, GateError, Permit,
    record::Subject,
    run::{Commit, Settled},
    telemetry,
};

/// How often a decision is made again because stops, grants or keys changed under it.
pub(super) const ATTEMPTS: usize = 16;

/// A folder whose name is longer is no folder of anybody.
const LONGEST_FOLDER: usize = 4096;
const TOO_LONG: &str = "the working folder's name is longer than 4096 bytes";

/// A call at a door.
#[derive(Clone)]
pub struct Ask {
    pub call: Call,
    pub trace_id: TraceId,
    pub door: Door,
    pub wait: Wait,
    pub idempotency_key: Option<String>,
    /// Where the agent works, as it says itself: what the summary of the call takes for its project. It is
    /// no part of the call, and permits nothing: it only narrows what an approval is for.
    pub folder: Option<Box<str>>,
    /// Why the arguments do not fit the tool they are for, where they do not: such a call is refused, and
    /// recorded.
    pub misfit: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    UntilDecided,
    /// Zero does not wait at all.
    AtMost(Duration),
}

#[derive(Debug)]
pub enum Decided {
    Permitted(Permit),
    /// Permitted, and executed: by the backend that [`Gate::walk`] was given.
    Ran(Box<Executed>),
    Refused(Box<Refusal>),
    /// The caller's patience ended before the question was decided. The identical call
    /// collects the answer.
    Waiting(Box<Approval>),
    /// The idempotency key stands for a call that was answered: this is the answer.
    Replayed(Box<Executed>),
    /// The idempotency key stands for another call.
    KeyMismatch,
    /// The idempotency key stands for a call whose outcome is not known yet, or, when it is not running any
    /// more, never will be.
    KeyUnsettled {
        trace_id: TraceId,
        running: bool,
    },
}

impl Decided {
    /// How the call ended, in one word, and whether that is a failure.
    pub fn summary(&self) -> (&'static str, bool) {
        match self {
            Self::Permitted(_) => ("allow", false),
            Self::Ran(executed) => ("allow", executed.failed()),
            Self::Refused(refusal) => (refusal.answer.as_str(), true),
            Self::Waiting(_) => ("waiting", false),
            Self::Replayed(_) => ("replayed", false),
            Self::KeyMismatch | Self::KeyUnsettled { .. } => ("key_conflict", true),
        }
    }
}

/// A no.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub answer: Answer,
    pub trace_id: TraceId,
    pub policy: Arc<str>,
    pub rule: Arc<str>,
    pub reason: Arc<str>,
    pub approval_id: Option<ApprovalId>,
    pub retry_after: Option<Duration>,
}

/// One step of the walk: done, or to be taken again under newer settings.
pub(super) enum Step {
    Done(Decided),
    Again,
    /// The agent's total is spent, as the store counts it: the limits know now.
    Spent,
}

/// What stays the same over all attempts at one call.
pub(super) struct Walk {
    pub(super) subject: Subject,
    pub(super) wait: Wait,
    /// Boxed: few calls have one.
    pub(super) key: Option<Box<IdempotencyKey>>,
    pub(super) backend: Option<Arc<dyn Backend>>,
    pub(super) folder: Option<Box<str>>,
    pub(super) misfit: Option<Box<str>>,
    counted: bool,
    /// A question was opened under the trace id: should another be needed, it gets an id of its own.
    has_asked: bool,
}

impl Walk {
    /// As grants look at it.
    pub(super) fn asked(&self) -> Asked<'_> {
        Asked {
            kind: Kind::Call,
            call: &self.subject.call,
            executor: self.executor(),
            works_in: self.folder.as_deref(),
        }
    }

    pub(super) fn executor(&self) -> Executor {
        executor(self.backend.as_ref())
    }

    /// As [`crate::approval::Question::bound`]. Computed where it is needed: most calls are not asked about.
    pub(super) fn bound(&self) -> Digest {
        let digest = self.subject.digest;
        digest.bound_to(self.executor(), self.folder.as_deref())
    }

    fn begin(ask: Ask, backend: Option<Arc<dyn Backend>>, arrived_at: Time) -> Self {
        let (digest, length) = ask.call.digest_and_length();
        let key = ask.idempotency_key.map(|key| {
            let executor = executor(backend.as_ref());
            Box::new(IdempotencyKey {
                agent: ask.call.agent.clone(),
                key,
                // A replayed yes is for these very arguments, since the caller may execute its own.
                digest: ask
                    .call
                    .exact_digest()
                    .bound_to(executor, ask.folder.as_deref()),
                at: arrived_at,
                answer: None,
                replaces: None,
            })
        });
        let (folder, misfit) = place(ask.folder, ask.misfit);
        let subject = Subject {
            call: Arc::new(ask.call),
            digest,
            length,
            trace_id: ask.trace_id,
            door: ask.door,
            arrived_at,
        };
        Self {
            subject,
            wait: ask.wait,
            key,
            backend,
            folder,
            misfit,
            counted: false,
            has_asked: false,
        }
    }

    /// The key as it is kept with a decision that is made now.
    pub(super) fn key(&self, now: Time) -> Option<IdempotencyKey> {
        let key = self.key.as_deref()?;
        Some(IdempotencyKey {
            at: now,
            ..key.clone()
        })
    }
}

impl Gate {
    /// Decides a call for a door that executes nothing itself.
    pub async fn decide(self: &Arc<Self>, ask: Ask) -> Result<Decided, GateError> {
        self.walk(ask, None).await
    }

    /// Decides a call and, if it is permitted and there is a backend, executes it.
    //
    // What is done at once is done before the future is made: all that a future is given stays in it to
    // its end, and ten thousand of them may wait.
    pub fn walk(
        self: &Arc<Self>,
        ask: Ask,
        backend: Option<Arc<dyn Backend>>,
    ) -> impl Future<Output = Result<Decided, GateError>> {
        let mut walk = Walk::begin(ask, backend, self.now());
        async move {
            for _ in 0..ATTEMPTS {
                // Boxed: few calls have a key, and none needs the room while it waits.
                if walk.key.is_some()
                    && let Some(decided) = Box::pin(self.keyed(&mut walk)).await?
                {
                    return Ok(decided);
                }
                match self.step(&mut walk).await? {
                    Step::Done(decided) => {
                        telemetry::decided(&decided, self.now().since(walk.subject.arrived_at));
                        return Ok(decided);
                    }
                    Step::Spent => {
                        walk.counted = false;
                        continue;
                    }
                    Step::Again => {}
                }
                if std::mem::take(&mut walk.has_asked) {
                    walk.subject.trace_id = TraceId::at(self.now());
                }
                self.refresh_control().await?;
            }
            Err(GateError::Busy)
        }
    }

    async fn step(self: &Arc<Self>, walk: &mut Walk) -> Result<Step, GateError> {
        let (now, control) = (self.now(), self.control());
        let call = walk.subject.call.clone();
        let ruling = walk
            .subject
            .work(|| self.policy.load().evaluate(&call, now));
        let ruling = ruling.await;
        if let Some(stop) = control.stop_for(&call) {
            let reason = stop.to_string().into();
            return self
                .refuse(&walk.subject, Answer::Stopped, &ruling, reason, None)
                .await;
        }
        if let Err(limited) = self.enter(walk, &ruling, now).await? {
            let reason = limited.reason.into();
            return self
                .refuse(
                    &walk.subject,
                    Answer::RateLimited,
                    &ruling,
                    reason,
                    limited.retry_after,
                )
                .await;
        }
        if let Some(misfit) = &walk.misfit {
            let reason = (&**misfit).into();
            return self
                .refuse(&walk.subject, Answer::Invalid, &ruling, reason, None)
                .await;
        }
        let grant = match ruling.verdict {
            Verdict::Deny => {
                let reason = ruling.reason.clone();
                return self
                    .refuse(&walk.subject, Answer::Deny, &ruling, reason, None)
                    .await;
            }
            Verdict::Allow => None,
            Verdict::Supervisor | Verdict::HumanApproval => {
                let grant = || {
                    let grant = control.grant_for(&walk.asked(), now);
                    grant.filter(|_| self.people_needed(walk, &ruling, &control, now) <= 1)
                };
                let Some(grant) = walk.subject.work(grant).await else {
                    walk.has_asked = true;
                    // Boxed: most calls are not asked about, and need not carry the room for it.
                    return Box::pin(self.ask(walk, &ruling, &control, now)).await;
                };
                if let Some(approval) = self.left_over(walk, grant, now).await? {
                    return Box::pin(self.take_permit(walk, &approval)).await;
                }
                Some(grant.grant.id.clone())
            }
        };
        let (commit, permit) = permission(walk, &ruling, &control, grant, now);
        let settled = self.settle(commit, permit, walk.backend.clone()).await?;
        Ok(self.conclude(walk, settled))
    }

    /// Counts the call against its limits, once. Asking again about an open question does not count.
    async fn enter(
        &self,
        walk: &mut Walk,
        ruling: &Ruling,
        now: Time,
    ) -> Result<Result<(), Limited>, GateError> {
        let asks = matches!(ruling.verdict, Verdict::Supervisor | Verdict::HumanApproval);
        if walk.counted || (asks && self.waiters.was_asked(walk.bound(), now)) {
            return Ok(Ok(()));
        }
        walk.counted = true;
        let repeat = self.settings.load().repeat;
        let act = repeat.map(|limit| (limit, walk.subject.act(walk.executor())));
        let agent = &walk.subject.call.agent;
        self.count(agent, ruling.rate_limit, act, now).await
    }

    /// Counts what was asked against its limits. `act` stands for what must not be repeated.
    pub(super) async fn count(
        &self,
        agent: &Arc<str>,
        rate: Option<RateLimit>,
        act: Option<(LoopLimit, u64)>,
        now: Time,
    ) -> Result<Result<(), Limited>, GateError> {
        let limited_total = rate.is_some_and(|limit| limit.max_total.is_some());
        if limited_total && self.limits.needs_total(agent) {
            self.limits
                .set_total(agent, self.store.total_calls(agent).await?);
        }
        let (repeat, act) = act.unzip();
        let act = act.unwrap_or_default();
        Ok(self.limits.enter(agent, act, rate, repeat, now))
    }

    pub(super) async fn refuse(
        &self,
        subject: &Subject,
        answer: Answer,
        ruling: &Ruling,
        reason: Arc<str>,
        retry_after: Option<Duration>,
    ) -> Result<Step, GateError> {
        let row = subject.decision(answer, ruling, reason.clone(), None, self.now());
        self.store
            .record(Record {
                row,
                version: None,
                grant: None,
                key: None,
                max_total: None,
            })
            .await?;
        let policy = if answer.is_before_policy() {
            answer.as_str().into()
        } else {
            policy_text(ruling.verdict)
        };
        Ok(Step::Done(Decided::Refused(Box::new(Refusal {
            answer,
            trace_id: subject.trace_id.clone(),
            policy,
            rule: ruling.rule.clone(),
            reason,
            approval_id: None,
            retry_after,
        }))))
    }

    pub(super) fn conclude(&self, walk: &Walk, settled: Settled) -> Step {
        match settled {
            Settled::Permitted(permit) => Step::Done(Decided::Permitted(permit)),
            Settled::Ran(ran) => Step::Done(Decided::Ran(ran)),
            // Where another took the key, the next attempt finds what it stands for.
            Settled::Stale | Settled::Again | Settled::KeyTaken => Step::Again,
            Settled::TotalSpent => {
                self.limits.set_total(&walk.subject.call.agent, u64::MAX);
                Step::Spent
            }
        }
    }
}

fn executor(backend: Option<&Arc<dyn Backend>>) -> Executor {
    match backend {
        Some(_) => Executor::Gateway,
        None => Executor::Caller,
    }
}

/// What is too long to be shown is not left out: an approval would then be for any such folder.
fn place(
    folder: Option<Box<str>>,
    misfit: Option<Box<str>>,
) -> (Option<Box<str>>, Option<Box<str>>) {
    match folder {
        Some(folder) if folder.len() > LONGEST_FOLDER => (None, Some(TOO_LONG.into())),
        folder => (folder, misfit),
    }
}

/// Allowed by a rule or by a grant: what is to be recorded first, and what then lets the call through.
fn permission(
    walk: &Walk,
    ruling: &Ruling,
    control: &Control,
    grant: Option<GrantId>,
    now: Time,
) -> (Commit, Permit) {
    let subject = &walk.subject;
    let reason: Arc<str> = match &grant {
        Some(grant) => format!("grant {grant} answers {}", ruling.rule).into(),
        None => ruling.reason.clone(),
    };
    let row = subject.decision(Answer::Allow, ruling, reason.clone(), grant.clone(), now);
    let record = Record {
        row,
        version: Some(control.version),
        grant: grant.clone(),
        key: walk.key(now),
        max_total: ruling.rate_limit.and_then(|limit| limit.max_total),
    };
    let mut permit = Permit::new(
        subject.call.clone(),
        subject.trace_id.clone(),
        (policy_text(ruling.verdict), ruling.rule.clone(), reason),
        None,
        walk.key(now),
    );
    permit.set_grant(grant);
    (Commit::Record(Box::new(record)), permit)
}
