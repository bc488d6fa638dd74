//! What an idempotency key stands for. The outcome of a call that ran here is a fact: it is told again for as
//! long as it is kept, and nothing runs. A yes to a caller who executes the call itself is told again only while
//! it still holds; after that the key stands for a new decision.

use std::time::Duration;

use crate::{
    approval::Status,
    call::{Call, Executor},
    control::Control,
    ids::GrantId,
    policy::{Ruling, Verdict},
    ports::{IdempotencyKey, KeyedAnswer},
    time::Time,
};

use super::{Decided, End, Executed, Gate, GateError, decide::Walk};

/// How long a yes may be fetched again by a caller who lost the answer.
const REPEATABLE: Duration = Duration::from_mins(1);

impl Gate {
    /// What the key of a call already stands for. `None`: it is free, or stands for a yes that no longer holds
    /// and that the next decision replaces.
    pub(super) async fn keyed(&self, walk: &mut Walk) -> Result<Option<Decided>, GateError> {
        let Some(key) = walk.key.as_deref_mut() else {
            return Ok(None);
        };
        key.replaces = None;
        let Some(found) = self.store.keyed_answer(&key.agent, &key.key).await? else {
            return Ok(None);
        };
        if found.digest != key.digest {
            return Ok(Some(Decided::KeyMismatch));
        }
        if walk.executor() == Executor::Gateway {
            return self.outcome_of(walk.key.as_deref(), found).await.map(Some);
        }
        if let Some(yes) = executed(&found)
            && self.still_holds(walk, &found, &yes).await?
        {
            return Ok(Some(Decided::Replayed(yes)));
        }
        if let Some(key) = walk.key.as_deref_mut() {
            key.replaces = Some(found.trace_id);
        }
        Ok(None)
    }

    /// What became of a call that was let through to a backend under this key.
    async fn outcome_of(
        &self,
        key: Option<&IdempotencyKey>,
        found: KeyedAnswer,
    ) -> Result<Decided, GateError> {
        if let Some(executed) = executed(&found) {
            return Ok(Decided::Replayed(executed));
        }
        let trace = self.store.trace(found.trace_id.as_str()).await?;
        let running = trace.is_some_and(|trace| trace.in_flight);
        if !running && let Some(key) = key {
            // It may have ended between the two looks.
            let later = self.store.keyed_answer(&key.agent, &key.key).await?;
            if let Some(executed) = later.as_ref().and_then(executed) {
                return Ok(Decided::Replayed(executed));
            }
        }
        Ok(Decided::KeyUnsettled {
            trace_id: found.trace_id,
            running,
        })
    }

    /// Whether the same call would still get this yes: it is fresh, it fits its tool, nothing stops the agent,
    /// policy asks for no more than it did, and the grant or approval behind it stands.
    async fn still_holds(
        &self,
        walk: &Walk,
        found: &KeyedAnswer,
        yes: &Executed,
    ) -> Result<bool, GateError> {
        let End::Permitted { arguments, .. } = &yes.end else {
            return Ok(false);
        };
        let now = self.now();
        // The schema of a tool may have changed since.
        if walk.misfit.is_some() || !is_fresh(found.at, now) {
            return Ok(false);
        }
        // The key was read together with the version: a stop that was committed before is not missed, whichever
        // replica made it.
        if self.control().version < found.version {
            self.refresh_control().await?;
        }
        let control = self.control();
        let call = &walk.subject.call;
        if control.stop_for(call).is_some() {
            return Ok(false);
        }
        // A person who changed the call allowed it in the place of what was asked: a deny of either ends it.
        let policy = self.policy.load_full();
        let mut ruling = walk.subject.work(|| policy.evaluate(call, now)).await;
        if ruling.verdict == Verdict::Deny {
            return Ok(false);
        }
        if let Some(arguments) = arguments {
            let changed = || policy.evaluate(&changed(call, arguments), now);
            ruling = walk.subject.work(changed).await;
        }
        let asks = match ruling.verdict {
            Verdict::Deny => return Ok(false),
            Verdict::Allow => return Ok(true),
            asks => asks,
        };
        if !covers(&yes.policy, asks) {
            return Ok(false);
        }
        let needed = || self.people_needed(walk, &ruling, &control, now);
        let needed = walk.subject.work(needed).await;
        if let Some(grant) = &yes.grant_id {
            return Ok(needed <= 1 && is_granted(&control, grant, walk, now));
        }
        self.approval_stands(walk, yes, needed, &control, now).await
    }

    async fn approval_stands(
        &self,
        walk: &Walk,
        yes: &Executed,
        needed: u8,
        control: &Control,
        now: Time,
    ) -> Result<bool, GateError> {
        let Some(id) = &yes.approval_id else {
            return Ok(false);
        };
        let Some(approval) = self.store.approval(id.as_str()).await? else {
            return Ok(false);
        };
        let decision = approval.state.decision.as_deref();
        let Some(decision) = decision.filter(|decision| decision.status == Status::Approved) else {
            return Ok(false);
        };
        // What a grant released goes with the grant. Whoever revokes the grant that an approval made takes
        // back what they said.
        let released = decision.grant_id.as_ref();
        let made = decision.made_grant.as_ref();
        Ok(needed <= approval.question.needed
            && released.is_none_or(|grant| is_granted(control, grant, walk, now))
            && made.is_none_or(|grant| control.has_grant(grant, now)))
    }

    /// How many people would have to agree to this call.
    pub(super) fn people_needed(
        &self,
        walk: &Walk,
        ruling: &Ruling,
        control: &Control,
        now: Time,
    ) -> u8 {
        if !self.people.load().has_quorum() {
            return 1;
        }
        let question = self.question(walk, ruling, control.version, now).question;
        question.needed
    }
}

fn executed(found: &KeyedAnswer) -> Option<Box<Executed>> {
    serde_json::from_str(found.answer.as_deref()?).ok()
}

/// A clock that was set back by more than the time itself must not prolong it.
fn is_fresh(at: Time, now: Time) -> bool {
    now.since(at) < REPEATABLE && at.since(now) < REPEATABLE
}

/// Whether a yes that was given under one verdict answers another. What a rule allowed has been asked of nobody,
/// and what was for supervisors may not have been seen by a person.
fn covers(given: &str, asked: Verdict) -> bool {
    match Verdict::parse(given) {
        Some(Verdict::HumanApproval) => true,
        Some(Verdict::Supervisor) => asked == Verdict::Supervisor,
        Some(Verdict::Allow | Verdict::Deny) | None => false,
    }
}

/// The use that the yes took counts for its repetitions: a grant may be used up by it.
fn is_granted(control: &Control, id: &GrantId, walk: &Walk, now: Time) -> bool {
    let mut grants = control.grants.iter();
    let found = grants.find(|active| active.grant.id == *id);
    found.is_some_and(|active| active.grant.lasts_at(now) && active.covers(&walk.asked(), now))
}

fn changed(call: &Call, arguments: &serde_json::Map<String, serde_json::Value>) -> Call {
    Call {
        params: arguments.clone(),
        ..call.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p03_a_yes_is_fresh_for_a_minute_by_either_clock() {
        let at = Time::from_millis(1_000_000);
        for (millis, fresh) in [
            (0, true),
            (59_999, true),
            (60_000, false),
            (-59_999, true),
            (-60_000, false),
        ] {
            let now = Time::from_millis(at.millis() + millis);
            assert_eq!(is_fresh(at, now), fresh, "{millis}");
        }
    }

    #[test]
    fn p03_a_yes_answers_no_stricter_rule() {
        for (given, asked, covered) in [
            ("human_approval", Verdict::HumanApproval, true),
            ("human_approval", Verdict::Supervisor, true),
            ("supervisor", Verdict::Supervisor, true),
            ("supervisor", Verdict::HumanApproval, false),
            ("allow", Verdict::Supervisor, false),
            ("allow", Verdict::HumanApproval, false),
            ("", Verdict::Supervisor, false),
        ] {
            assert_eq!(covers(given, asked), covered, "{given} {asked:?}");
        }
    }
}
