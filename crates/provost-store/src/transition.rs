//! What may become of an approval: pure functions of its state, the same for both databases.
//!
//! A store locks the row, asks here, and writes what it is told. Nothing here knows SQL.

use provost_core::{
    approval::{Approval, Claim, Escalation, Level, Question, State, Status, Vote},
    ports::Resolve,
    time::Time,
};

#[derive(Debug, PartialEq)]
pub(crate) enum Resolution {
    Won(Box<State>),
    /// A yes, and more are needed.
    Counted(Box<State>),
    Lost,
    NotYours,
    Held(Claim),
}

#[derive(Debug, PartialEq)]
pub(crate) enum Claiming {
    Yes(Box<State>),
    Held(Claim),
    Lost,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Taking {
    Yes(Box<State>),
    No,
    Stale,
}

/// Whether an identical call is answered by this approval instead of a new one.
pub(crate) fn is_open(state: &State, now: Time) -> bool {
    match state.status {
        Status::Pending => now < state.expires_at,
        Status::Approved | Status::Denied => {
            state.answered_at.is_none() && state.permit_until.is_some_and(|until| now < until)
        }
        Status::Expired => false,
    }
}

/// An identical call was made while this one waits. A call that walks twice is one call.
pub(crate) fn ask_again(approval: &Approval, new: &Question) -> Option<State> {
    let state = &approval.state;
    let same_call = approval.question.trace_id == new.trace_id;
    (state.status == Status::Pending && !same_call).then(|| State {
        asked: state.asked.saturating_add(1),
        ..state.clone()
    })
}

pub(crate) fn resolve(approval: &Approval, resolve: &Resolve) -> Resolution {
    let (state, at) = (&approval.state, resolve.decision.at);
    if state.status_at(at) != Status::Pending {
        return Resolution::Lost;
    }
    if resolve.only_supervisor_level && state.level_at(at) != Level::Supervisor {
        return Resolution::NotYours;
    }
    // A claim binds supervisors among themselves; a person needs none.
    if resolve.only_supervisor_level
        && let Some(held) = state.claim_at(at)
        && held.by != resolve.decision.by
    {
        return Resolution::Held(held.clone());
    }
    if let Some(votes) = votes_after(state, resolve) {
        let more_are_needed = votes.len() < usize::from(resolve.needed);
        let counted = State {
            votes,
            ..state.clone()
        };
        if more_are_needed {
            return Resolution::Counted(Box::new(counted));
        }
        return Resolution::Won(Box::new(decided(approval, counted, resolve)));
    }
    Resolution::Won(Box::new(decided(approval, state.clone(), resolve)))
}

/// Those who have said yes, this one included, where several must: each counts once.
fn votes_after(state: &State, resolve: &Resolve) -> Option<Box<[Vote]>> {
    let decision = &resolve.decision;
    if resolve.needed <= 1 || decision.status != Status::Approved {
        return None;
    }
    let mut votes = state.votes.to_vec();
    if !state.has_approved(decision.person.as_deref(), &decision.by) {
        votes.push(Vote {
            by: decision.by.clone(),
            person: decision.person.clone(),
            reasoning: decision.reasoning.clone(),
            at: decision.at,
        });
    }
    Some(votes.into())
}

/// Who asked a person itself learns the answer by looking: there is no call left to take it.
fn decided(approval: &Approval, before: State, resolve: &Resolve) -> State {
    let asked_by_itself = approval.question.request.is_some();
    State {
        status: resolve.decision.status,
        decision: Some(Box::new(resolve.decision.clone())),
        permit_until: resolve.permit_until,
        answered_at: asked_by_itself.then_some(resolve.decision.at),
        ..before
    }
}

pub(crate) fn expire(state: &State, now: Time) -> Option<State> {
    let over = state.status == Status::Pending && state.status_at(now) == Status::Expired;
    over.then(|| State {
        status: Status::Expired,
        ..state.clone()
    })
}

/// A yes needs its permit to last and the control it was weighed under to be current. A no is handed
/// over whatever happened since.
pub(crate) fn take(state: &State, now: Time, version_is_current: bool) -> Taking {
    if state.status == Status::Pending || state.answered_at.is_some() {
        return Taking::No;
    }
    if state.status == Status::Approved {
        if state.permit_until.is_none_or(|until| now >= until) {
            return Taking::No;
        }
        if !version_is_current {
            return Taking::Stale;
        }
    }
    Taking::Yes(Box::new(State {
        answered_at: Some(now),
        ..state.clone()
    }))
}

pub(crate) fn claim(state: &State, claim: &Claim, now: Time) -> Claiming {
    if !is_for_supervisors(state, now) {
        return Claiming::Lost;
    }
    match state.claim_at(now) {
        Some(held) if held.by != claim.by => Claiming::Held(held.clone()),
        _ => Claiming::Yes(Box::new(State {
            claim: Some(Box::new(claim.clone())),
            ..state.clone()
        })),
    }
}

pub(crate) fn escalate(state: &State, escalation: &Escalation) -> Option<State> {
    is_for_supervisors(state, escalation.at).then(|| State {
        level: Level::Human,
        escalation: Some(Box::new(escalation.clone())),
        claim: None,
        ..state.clone()
    })
}

pub(crate) fn promote(state: &State, now: Time) -> Option<State> {
    let over = state.status_at(now) == Status::Pending
        && state.level == Level::Supervisor
        && state.level_at(now) == Level::Human;
    over.then(|| State {
        level: Level::Human,
        claim: None,
        ..state.clone()
    })
}

fn is_for_supervisors(state: &State, now: Time) -> bool {
    state.status_at(now) == Status::Pending && state.level_at(now) == Level::Supervisor
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: i64) -> Time {
        Time::from_millis(millis)
    }

    fn pending() -> State {
        State::pending(Level::Supervisor, at(300), Some(at(60)))
    }

    fn decided(status: Status) -> State {
        State {
            status,
            permit_until: Some(at(500)),
            ..pending()
        }
    }

    #[test]
    fn an_approval_is_open_until_it_is_answered_or_over() {
        let answered = State {
            answered_at: Some(at(1)),
            ..decided(Status::Approved)
        };
        for (state, now, expected) in [
            (pending(), 299, true),
            (pending(), 300, false),
            (decided(Status::Approved), 499, true),
            (decided(Status::Approved), 500, false),
            (decided(Status::Denied), 499, true),
            (decided(Status::Expired), 1, false),
            (answered, 2, false),
        ] {
            assert_eq!(is_open(&state, at(now)), expected, "{state:?} at {now}");
        }
    }

    #[test]
    fn a_yes_is_taken_once_in_time_and_under_current_control() {
        let answered = State {
            answered_at: Some(at(1)),
            ..decided(Status::Approved)
        };
        let unlimited = State {
            permit_until: None,
            ..decided(Status::Approved)
        };
        for (state, now, current, expected) in [
            (decided(Status::Approved), 400, true, "yes"),
            (decided(Status::Approved), 400, false, "stale"),
            (decided(Status::Approved), 500, true, "no"),
            (unlimited, 400, true, "no"),
            (decided(Status::Denied), 900, false, "yes"),
            (pending(), 1, true, "no"),
            (answered, 2, true, "no"),
        ] {
            let taken = match take(&state, at(now), current) {
                Taking::Yes(after) => {
                    assert_eq!(after.answered_at, Some(at(now)));
                    "yes"
                }
                Taking::No => "no",
                Taking::Stale => "stale",
            };
            assert_eq!(taken, expected, "{state:?} at {now}");
        }
    }

    #[test]
    fn a_claim_holds_others_off_while_it_lasts() {
        let mine = |until| Claim {
            by: "a".into(),
            until: at(until),
        };
        let held = State {
            claim: Some(Box::new(mine(20))),
            ..pending()
        };
        let theirs = Claim {
            by: "b".into(),
            until: at(50),
        };
        assert_eq!(claim(&held, &theirs, at(19)), Claiming::Held(mine(20)));
        assert!(matches!(claim(&held, &theirs, at(20)), Claiming::Yes(_)));
        assert!(matches!(claim(&held, &mine(40), at(19)), Claiming::Yes(_)));
        assert_eq!(claim(&pending(), &theirs, at(60)), Claiming::Lost);
    }

    #[test]
    fn time_promotes_and_expires() {
        assert_eq!(promote(&pending(), at(59)), None);
        assert_eq!(
            promote(&pending(), at(60)).map(|s| s.level),
            Some(Level::Human)
        );
        assert_eq!(promote(&pending(), at(300)), None);
        assert_eq!(expire(&pending(), at(299)), None);
        assert_eq!(
            expire(&pending(), at(300)).map(|s| s.status),
            Some(Status::Expired)
        );
        assert_eq!(expire(&decided(Status::Denied), at(300)), None);
    }
}
