//! Asking: an open question, the wait for its answer, and the taking of it.

use std::{sync::Arc, time::Duration};

use crate::{
    approval::{Approval, Decision, Kind, Level, Question, State, Status},
    control::Control,
    grant::ActiveGrant,
    ids::ApprovalId,
    people::Routed,
    policy::{Ruling, Verdict},
    ports::{NewApproval, Opened, Taken},
    review::Review,
    time::Time,
    trace::{Answer, policy_text},
};

use super::{
    Decided, Gate, GateError, Permit, Refusal, Settings, Wait,
    decide::{ATTEMPTS, Step, Walk},
    record::{answer_reason, approval_row},
    run::{Commit, Settled},
    waiters::Slot,
};

/// How far the clocks of replicas may be apart.
const BETWEEN_CLOCKS: Duration = Duration::from_mins(1);
/// People decide when they do: a while, so that nobody asks all the time.
const UNTIL_SOME_ARE_DECIDED: Duration = Duration::from_secs(5);
const WAITING: &str =
    "wait for a decision already; `limits.max_waiting_per_agent` sets how many may";
const LEFT: &str =
    "are left pending without a caller; `approval.max_pending_per_agent` sets how many may be";

impl Gate {
    /// Asks a supervisor or a person, and waits as long as the caller does.
    pub(super) async fn ask(
        self: &Arc<Self>,
        walk: &Walk,
        ruling: &Ruling,
        control: &Control,
        now: Time,
    ) -> Result<Step, GateError> {
        let agent = &walk.subject.call.agent;
        let settings = self.settings.load_full();
        let waits = walk.wait != Wait::AtMost(Duration::ZERO);
        if waits && self.waiters.len() >= settings.max_waiting {
            return Err(GateError::Crowded);
        }
        let most = settings.max_waiting_per_agent;
        let most = if waits { most } else { usize::MAX };
        let Some(mut slot) = self.waiters.slot(agent, most) else {
            return Box::pin(self.crowded(walk, ruling, most, WAITING)).await;
        };
        let of_agent = self.waiters.of_agent(agent);
        let new = || self.question(walk, ruling, control.version, now);
        let mut new = walk.subject.work(new).await;
        let most = settings.max_pending_per_agent;
        if of_agent.left >= most as usize {
            // The store counts what waits for a caller, too.
            let others = of_agent.waiting.saturating_sub(1);
            let waiting = u32::try_from(others).unwrap_or(u32::MAX);
            new.most_pending = Some(most.saturating_add(waiting));
        }
        // Whoever hangs up from here on leaves the question behind, also before its number is known.
        slot.set_asked(true);
        let opened = self.store.open_approval(new, now).await?;
        slot.set_asked(matches!(opened, Opened::Approval(_)));
        let id = match opened {
            Opened::Approval(approval) => {
                let until = approval.state.expires_at;
                self.waiters.asked(walk.bound(), until, now);
                approval.question.id
            }
            Opened::TotalSpent => {
                self.limits.set_total(agent, u64::MAX);
                return Ok(Step::Spent);
            }
            Opened::Crowded => {
                return Box::pin(self.crowded(walk, ruling, most as usize, LEFT)).await;
            }
            Opened::Stale | Opened::KeyTaken | Opened::GrantSpent => return Ok(Step::Again),
        };
        let Some(approval) = self.await_in(slot, walk.wait, &id).await? else {
            return Ok(Step::Again);
        };
        // Boxed: while callers wait, none of this is needed.
        Box::pin(self.answer(walk, approval)).await
    }

    /// Too much of one agent is open already: that is traced as other limits are.
    async fn crowded(
        &self,
        walk: &Walk,
        ruling: &Ruling,
        most: usize,
        of_what: &str,
    ) -> Result<Step, GateError> {
        let reason = format!(
            "{most} calls of agent `{}` {of_what}",
            walk.subject.call.agent
        );
        let after = Some(UNTIL_SOME_ARE_DECIDED);
        let (subject, reason) = (&walk.subject, reason.into());
        self.refuse(subject, Answer::RateLimited, ruling, reason, after)
            .await
    }

    pub(super) fn question(
        &self,
        walk: &Walk,
        ruling: &Ruling,
        version: u64,
        now: Time,
    ) -> NewApproval {
        let subject = &walk.subject;
        let settings = self.settings.load();
        let level = if ruling.verdict == Verdict::Supervisor {
            Level::Supervisor
        } else {
            Level::Human
        };
        let call = &subject.call;
        let review = Review::of(&call.tool, &call.params, walk.folder.as_deref());
        let question = Question {
            id: ApprovalId::random(),
            kind: Kind::Call,
            agent_id: call.agent.clone(),
            session_id: call.session.clone(),
            tool: call.tool.clone(),
            params: call.params.clone(),
            policy_rule: ruling.rule.clone(),
            policy: ruling.verdict,
            created_at: now,
            digest: subject.digest,
            injection_risk: review.injection.risky(),
            risk_reasons: review.injection.reasons,
            summary: review.summary,
            trace_id: subject.trace_id.clone(),
            door: subject.door,
            executor: walk.executor(),
            works_in: walk.folder.clone(),
            request: None,
            needed: 1,
            denied_before: None,
            hides_secret: false,
        };
        let mut question = question.with_secrets_noted();
        let routed = self.people.load().route(&question, settings.timeout, now);
        question.needed = routed.needed;
        NewApproval {
            question,
            state: pending(level, &routed, &settings, now),
            version,
            plans: routed.plans,
            key: None,
            granted: None,
            most_pending: None,
            max_total: ruling.rate_limit.and_then(|limit| limit.max_total),
        }
    }

    /// The approval once it is settled, or as it is when the caller's patience ends; `None` if it is gone.
    /// Only its id is kept meanwhile: thousands may wait, and each looks again when it is woken.
    pub async fn await_decision(
        &self,
        wait: Wait,
        id: &ApprovalId,
        agent: &Arc<str>,
    ) -> Result<Option<Approval>, GateError> {
        let slot = self.waiters.slot(agent, usize::MAX);
        let slot = slot.ok_or(GateError::Crowded)?;
        self.await_in(slot, wait, id).await
    }

    async fn await_in(
        &self,
        slot: Slot,
        wait: Wait,
        id: &ApprovalId,
    ) -> Result<Option<Approval>, GateError> {
        let waiter = self.waiters.join(id, slot);
        let give_up_at = match wait {
            Wait::UntilDecided => None,
            // A question ends by itself: patience without end is patience until then.
            Wait::AtMost(patience) => tokio::time::Instant::now().checked_add(patience),
        };
        loop {
            let woken = waiter.woken();
            tokio::pin!(woken);
            woken.as_mut().enable();
            let until = {
                // Looked at after the wake-up was armed, so a decision made in between is not missed.
                let Some(approval) = self.store.approval(id.as_str()).await? else {
                    return Ok(None);
                };
                let now = self.now();
                if approval.state.status_at(now) != Status::Pending {
                    waiter.settled();
                    return Ok(Some(approval));
                }
                if self.waiters.is_closed() {
                    return Err(GateError::Closing);
                }
                if give_up_at.is_some_and(|at| at <= tokio::time::Instant::now()) {
                    return Ok(Some(approval));
                }
                let deadline = tokio::time::Instant::now() + approval.state.remaining(now);
                give_up_at.map_or(deadline, |give_up| give_up.min(deadline))
            };
            let _ = tokio::time::timeout_at(until, woken).await;
        }
    }

    async fn answer(self: &Arc<Self>, walk: &Walk, approval: Approval) -> Result<Step, GateError> {
        match approval.state.status_at(self.now()) {
            Status::Approved => self.take_permit(walk, &approval).await,
            Status::Denied => self.take_denial(&approval).await,
            Status::Expired => self.expire(&approval).await,
            Status::Pending => Ok(Step::Done(Decided::Waiting(Box::new(approval)))),
        }
    }

    /// The approval that a call takes before a grant permits it: a person said yes to this very call, and
    /// that yes must not stay behind to permit one more. A grant that is older than such a yes can last has
    /// none to look for, so a call that a grant permits costs no read of the store; unless it permits the call
    /// at some times only, or several people may have to agree, which no grant answers.
    pub(super) async fn left_over(
        &self,
        walk: &Walk,
        active: &ActiveGrant,
        now: Time,
    ) -> Result<Option<Approval>, GateError> {
        let lasts = self.settings.load().permit_time + BETWEEN_CLOCKS;
        let is_steady = !active.reads_clock() && !self.people.load().has_quorum();
        if is_steady && now >= active.grant.created_at.plus(lasts) {
            return Ok(None);
        }
        Ok(self.store.untaken(walk.bound(), now).await?)
    }

    /// Takes the approval, and not a grant that came with it: where stops, grants or keys changed meanwhile,
    /// the same approval is weighed again under them.
    pub(super) async fn take_permit(
        self: &Arc<Self>,
        walk: &Walk,
        approval: &Approval,
    ) -> Result<Step, GateError> {
        for _ in 0..ATTEMPTS {
            match self.try_take(walk, approval).await? {
                Some(step) => return Ok(step),
                None => self.refresh_control().await?,
            }
        }
        Err(GateError::Busy)
    }

    /// `None` when stops, grants or keys changed under it.
    async fn try_take(
        self: &Arc<Self>,
        walk: &Walk,
        approval: &Approval,
    ) -> Result<Option<Step>, GateError> {
        let (now, control) = (self.now(), self.control());
        if control.stop_for(&walk.subject.call).is_some() {
            return Ok(Some(Step::Again));
        }
        let (question, decision) = (&approval.question, approval.state.decision.as_deref());
        let changed = decision.and_then(|decision| decision.arguments.clone());
        // What was decided is what runs. The retry is bound to the same digest, but may write its numbers
        // in another way (`1.0` for `1`): the arguments that people were shown are the ones to execute.
        let call = Arc::new(match &changed {
            Some(arguments) => question.changed(arguments.clone()),
            None => question.call(),
        });
        let is_other = changed.is_some()
            || (walk.backend.is_none() && !call.is_written_as(&walk.subject.call));
        // Policy may have changed while people thought, and a deny beats an approval: of what was asked, and of what
        // is permitted in its place.
        let policy = self.policy.load_full();
        let ruling = || {
            let ruling = policy.evaluate(&call, now);
            if changed.is_some() && ruling.verdict != Verdict::Deny {
                return policy.evaluate(&walk.subject.call, now);
            }
            ruling
        };
        let ruling = walk.subject.work(ruling).await;
        if ruling.verdict == Verdict::Deny {
            let reason = ruling.reason.clone();
            let refused = walk.subject.again(now);
            let refusal = self.refuse(&refused, Answer::Deny, &ruling, reason, None);
            return Ok(Some(refusal.await?));
        }
        // What a grant released ends with the grant, and so does the yes that made it: the question is asked
        // anew.
        let grant = decision.and_then(Decision::rule);
        if grant.is_some_and(|grant| !control.has_grant(grant, now)) {
            let (store, version) = (&self.store, control.version);
            let taken = store.take(&question.id, now, version, None).await?;
            return Ok((!matches!(taken, Taken::Stale)).then_some(Step::Again));
        }
        let reason = answer_reason(decision, Duration::ZERO);
        let mut permit = Permit::new(
            call,
            question.trace_id.clone(),
            (
                policy_text(question.policy),
                question.policy_rule.clone(),
                reason.into(),
            ),
            Some(question.id.clone()),
            walk.key(now),
        );
        permit.set_changed(is_other);
        self.waiters.forget(question.bound());
        let commit = Commit::Take {
            id: question.id.clone(),
            version: control.version,
            key: walk.key(now),
        };
        match self.settle(commit, permit, walk.backend.clone()).await? {
            Settled::Stale => Ok(None),
            settled => Ok(Some(self.conclude(walk, settled))),
        }
    }

    /// A no needs no taking to be a no: it holds for everybody who waited.
    async fn take_denial(&self, approval: &Approval) -> Result<Step, GateError> {
        let (question, now) = (&approval.question, self.now());
        self.waiters.forget(question.bound());
        self.store
            .take(&question.id, now, self.control().version, None)
            .await?;
        Ok(refusal(approval, Answer::Deny, now))
    }

    async fn expire(&self, approval: &Approval) -> Result<Step, GateError> {
        let (question, now) = (&approval.question, self.now());
        self.waiters.forget(question.bound());
        let row = approval_row(approval, None, now);
        self.store.expire(&question.id, now, row).await?;
        Ok(refusal(approval, Answer::Expired, now))
    }
}

/// What people are given beside the usual time, they are given after the supervisors'.
fn pending(level: Level, routed: &Routed, settings: &Settings, now: Time) -> State {
    if level == Level::Human {
        return State::pending(level, now.plus(routed.timeout), None);
    }
    let supervisors = settings.supervisor_time.min(settings.timeout);
    let open = if routed.timeout == settings.timeout {
        settings.timeout
    } else {
        supervisors + routed.timeout
    };
    State::pending(level, now.plus(open), Some(now.plus(supervisors)))
}

fn refusal(approval: &Approval, answer: Answer, now: Time) -> Step {
    let question = &approval.question;
    let reason = answer_reason(
        approval.state.decision.as_deref(),
        now.since(question.created_at),
    );
    Step::Done(Decided::Refused(Box::new(Refusal {
        answer,
        trace_id: question.trace_id.clone(),
        policy: policy_text(question.policy),
        rule: question.policy_rule.clone(),
        reason: reason.into(),
        approval_id: Some(question.id.clone()),
        retry_after: None,
    })))
}
