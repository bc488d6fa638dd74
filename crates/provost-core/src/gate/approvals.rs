//! Deciding approvals: one decision each, by somebody else than the one who asked.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};

use crate::{
    approval::{Approval, Claim, Decision, Escalation, Kind, Question, Status},
    glob::Glob,
    grant::{Breadth, Grant, Remembered},
    heavy::{self, Lane},
    ids::GrantId,
    menu::Code,
    people::Fallback,
    policy::Verdict,
    ports::{Claimed, Escalated, Resolve, Resolved},
    review,
    time::Time,
    trace::TraceRow,
};

use super::{
    Gate, GateError,
    control::note,
    decider::{Decider, NOT_YOUR_LEVEL, NOT_YOUR_TOOL},
    record::approval_row,
    telemetry,
};

/// What the decider says.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// What the decider calls itself: kept beside its authenticated name.
    pub label: Option<String>,
    pub reasoning: Option<String>,
    pub confidence: Option<f64>,
    /// Permit these arguments instead of those that were asked about.
    pub arguments: Option<Map<String, Value>>,
    /// What was chosen from the menu. 2 and 6 make a grant.
    pub code: Option<Code>,
    /// What that grant opens. Only a call's is chosen.
    pub breadth: Breadth,
    /// What stands in the place of a request, as it was written.
    pub replacement: Option<String>,
}

#[derive(Debug)]
pub enum Resolving {
    Done(Box<Approval>),
    /// A yes, and more people are needed.
    Counted(Box<Approval>),
    /// This person's yes was counted before: nothing changed.
    CountedBefore(Box<Approval>),
    /// Decided before, or expired: this is how it stands.
    Already(Box<Approval>),
    /// The choice means nothing for this question: nothing was decided.
    Unfit(Cow<'static, str>),
    /// Another supervisor has claimed it.
    Held(Claim),
    Forbidden(&'static str),
    /// The changed call is one that policy denies: nothing was decided.
    Denied {
        rule: Arc<str>,
        reason: Arc<str>,
    },
    NotFound,
}

impl Resolving {
    /// Why nothing was decided, in words for whoever chose, where the question itself is not the reason.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Unfit(why) => Some(why.to_string()),
            Self::Forbidden(why) => Some((*why).to_owned()),
            Self::Held(claim) => Some(format!("claimed by {}", claim.by)),
            Self::Denied { rule, reason } => Some(format!(
                "policy denies the changed call ({rule}: {reason}); change it otherwise, approve it as it was \
                 asked, or deny it"
            )),
            Self::Done(_)
            | Self::Counted(_)
            | Self::CountedBefore(_)
            | Self::Already(_)
            | Self::NotFound => None,
        }
    }
}

#[derive(Debug)]
pub enum Claiming {
    Done(Box<Approval>),
    Held(Claim),
    Already(Box<Approval>),
    Forbidden(&'static str),
    NotFound,
}

#[derive(Debug)]
pub enum Escalating {
    Done(Box<Approval>),
    Already(Box<Approval>),
    Forbidden(&'static str),
    NotFound,
}

const NOT_YOUR_CHANGE: &str = "only a person changes a call's arguments";
const NOT_YOURS_TO_REMEMBER: &str =
    "a supervisor decides one call at a time; only a person allows more than this call";
const NEEDS_PEOPLE: &str = "this needs more than one person; a supervisor may deny or escalate it";
const NO_SESSION: &str = "the call names no session, so it cannot be allowed for one";
const OTHER_CHANGE: &str =
    "a call is changed by other arguments, and what an agent asks in its own words by other words";
const MASKED: &str = "the changed arguments hold a mask (`[secret: …]`) that stands for no known secret, or the \
                      description of content that was not shown: write the value itself, or leave it as it was \
                      shown";
const NOT_SO_WIDE: &str = "this scope is not offered for this call: it shows a risk, or cannot be read in full, or is no \
     command of a shell; remember exactly these arguments, or allow it once";
const ONLY_ADMINS: &str = "only an admin's key has any command remembered; remember these words of it, or exactly these \
     arguments, or have an admin make a grant";
const NO_CHANGE: &str = "a change needs what it is changed to";
const ONLY_A_TEST: &str = "this is a test question, which opens nothing: answer with 1 or 3";
const ONLY_THIS_CALL: &str =
    "this needs more than one person, who decide about this one call as it is: 1, 3 or 4";
const ARGUMENTS_NOT_TOLD: &str = "the agent does not tell the arguments of this call, so it can be allowed once or \
    denied";

impl Gate {
    pub async fn resolve(
        &self,
        id: &str,
        decider: &Decider,
        status: Status,
        mut resolution: Resolution,
    ) -> Result<Resolving, GateError> {
        let Some(approval) = self.store.approval(id).await? else {
            return Ok(Resolving::NotFound);
        };
        let bytes = approval.question.bytes();
        // Whoever changed a call saw it masked: what runs has the secrets again.
        if let Some(changed) = &resolution.arguments {
            let whole = || review::unmask(changed, &approval.question.params);
            let Some(whole) = heavy::run(Lane::Deciders, bytes, whole).await else {
                return Ok(Resolving::Unfit(MASKED.into()));
            };
            resolution.arguments = Some(whole);
        }
        let now = self.now();
        if let Some(why) = decider.barred(&approval, now) {
            return Ok(Resolving::Forbidden(why));
        }
        if approval.state.status_at(now) != Status::Pending {
            return Ok(Resolving::Already(Box::new(approval)));
        }
        let unfit = || self.unfit(&approval, decider, status, &resolution);
        if let Some(refused) = heavy::run(Lane::Deciders, bytes, unfit).await {
            return Ok(refused);
        }
        let needs_more = approval.question.needed > 1 && status == Status::Approved;
        if needs_more && decider.has_approved(&approval) {
            return Ok(Resolving::CountedBefore(Box::new(approval)));
        }
        let grant = || self.standing(&approval.question, &resolution, decider, now);
        let grant = heavy::run(Lane::Deciders, bytes, grant).await;
        let decision = Decision {
            person: decider.person.clone(),
            label: resolution.label,
            reasoning: resolution.reasoning,
            confidence: resolution.confidence,
            arguments: resolution.arguments,
            code: resolution.code,
            replacement: resolution.replacement,
            via: decider.via.clone(),
            ..Decision::new(status, decider.identity(), now).making(grant.as_ref())
        };
        let resolve = Resolve {
            only_supervisor_level: decider.is_supervisor(),
            needed: approval.question.needed,
            vote: vote_note(&approval, decider, now),
            new_grant: grant.clone().map(|grant| {
                let note = note("grant created", &grant.granted_by, json!(grant), now);
                Box::new((grant, note))
            }),
            ..self.resolution(&approval, decision)
        };
        let resolved = self.settle_approval(&approval, resolve).await?;
        if let (Resolved::Won(_), Some(grant)) = (&resolved, &grant) {
            self.refresh_control().await?;
            self.release(grant).await?;
        }
        Ok(match resolved {
            Resolved::Won(approval) => Resolving::Done(approval),
            Resolved::Counted(approval) => Resolving::Counted(approval),
            Resolved::Lost(approval) => Resolving::Already(approval),
            Resolved::NotYours(_) => Resolving::Forbidden(NOT_YOUR_LEVEL),
            Resolved::Held(claim) => Resolving::Held(claim),
            Resolved::GrantSpent | Resolved::NotFound => Resolving::NotFound,
        })
    }

    /// Why this decider may not decide in this way.
    fn unfit(
        &self,
        approval: &Approval,
        decider: &Decider,
        status: Status,
        resolution: &Resolution,
    ) -> Option<Resolving> {
        let (question, alone) = (&approval.question, approval.question.needed <= 1);
        if !alone && decider.is_supervisor() && status == Status::Approved {
            return Some(Resolving::Forbidden(NEEDS_PEOPLE));
        }
        if is_remembered(resolution) && decider.is_supervisor() {
            return Some(Resolving::Forbidden(NOT_YOURS_TO_REMEMBER));
        }
        if is_remembered(resolution) && !resolution.breadth.is_for(decider.role) {
            return Some(Resolving::Forbidden(ONLY_ADMINS));
        }
        if is_remembered(resolution) && !decider.may_open(&question.tool) {
            return Some(Resolving::Forbidden(NOT_YOUR_TOOL));
        }
        let opens_more =
            is_remembered(resolution) || matches!(resolution.code, Some(Code::Note | Code::Change));
        if question.kind == Kind::Test && (opens_more || resolution.arguments.is_some()) {
            return Some(Resolving::Unfit(ONLY_A_TEST.into()));
        }
        match resolution.code {
            Some(Code::Session) if question.session_id.is_none() => {
                return Some(Resolving::Unfit(NO_SESSION.into()));
            }
            Some(Code::Session | Code::Change | Code::Always) if !alone => {
                return Some(Resolving::Unfit(ONLY_THIS_CALL.into()));
            }
            Some(Code::Session | Code::Change | Code::Always)
                if review::arguments_not_told(&question.params) =>
            {
                return Some(Resolving::Unfit(ARGUMENTS_NOT_TOLD.into()));
            }
            _ => {}
        }
        let is_call = question.kind == Kind::Call;
        if resolution.breadth != Breadth::Narrow
            && !(is_call && Remembered::of(question, resolution.breadth).is_some())
        {
            return Some(Resolving::Unfit(NOT_SO_WIDE.into()));
        }
        let (arguments, replacement) = (&resolution.arguments, &resolution.replacement);
        if arguments.is_some() && !is_call || replacement.is_some() && is_call {
            return Some(Resolving::Unfit(OTHER_CHANGE.into()));
        }
        if resolution.code == Some(Code::Change) && arguments.is_none() && replacement.is_none() {
            return Some(Resolving::Unfit(NO_CHANGE.into()));
        }
        let arguments = arguments.as_ref()?;
        if !alone {
            return Some(Resolving::Unfit(ONLY_THIS_CALL.into()));
        }
        if decider.is_supervisor() {
            return Some(Resolving::Forbidden(NOT_YOUR_CHANGE));
        }
        let changed = question.changed(arguments.clone());
        let ruling = self.policy.load().evaluate(&changed, self.now());
        (ruling.verdict == Verdict::Deny).then_some(Resolving::Denied {
            rule: ruling.rule,
            reason: ruling.reason,
        })
    }

    /// The grant that a choice from the menu makes, for this agent and this tool alone. What is remembered of
    /// a call lasts no longer than any grant; what an agent asked in its own words opens no tool, and lasts
    /// until it is revoked.
    fn standing(
        &self,
        question: &Question,
        resolution: &Resolution,
        decider: &Decider,
        now: Time,
    ) -> Option<Grant> {
        let session_id = match resolution.code? {
            Code::Session => question.session_id.clone(),
            Code::Always => None,
            _ => return None,
        };
        let is_call = question.kind == Kind::Call;
        let longest = self.settings.load().max_grant;
        Some(Grant {
            id: GrantId::random(),
            agent: Glob::exactly(&question.agent_id),
            tools: Glob::exactly(&question.tool),
            session_id,
            kind: Some(question.kind),
            remembered: if is_call {
                Some(Box::new(Remembered::of(question, resolution.breadth)?))
            } else {
                None
            },
            when: None,
            max_uses: None,
            uses: 0,
            granted_by: decider.identity(),
            created_at: now,
            expires_at: is_call.then(|| now.plus(longest)),
            reasoning: resolution.reasoning.clone(),
            revoked_at: None,
        })
    }

    /// What a route decides when nobody did in its time. `None` when somebody has.
    pub async fn fall_back(
        &self,
        approval: &Approval,
        route: &str,
        fallback: Fallback,
    ) -> Result<Option<Box<Approval>>, GateError> {
        let now = self.now();
        if approval.state.status_at(now) != Status::Pending {
            return Ok(None);
        }
        let by = format!("fallback:{route}");
        let decision = Decision::new(fallback.status(), by, now)
            .because("nobody decided in time, and the route says what then");
        Ok(match self.decide_approval(approval, decision).await? {
            Resolved::Won(approval) => Some(approval),
            _ => None,
        })
    }

    /// A decision that needs nobody else.
    pub(super) async fn decide_approval(
        &self,
        approval: &Approval,
        decision: Decision,
    ) -> Result<Resolved, GateError> {
        let resolve = self.resolution(approval, decision);
        self.settle_approval(approval, resolve).await
    }

    fn resolution(&self, approval: &Approval, decision: Decision) -> Resolve {
        let now = decision.at;
        Resolve {
            id: approval.question.id.clone(),
            row: approval_row(approval, Some(&decision), now),
            only_supervisor_level: false,
            permit_until: Some(now.plus(self.settings.load().permit_time)),
            grant: decision.grant_id.clone(),
            needed: 1,
            vote: None,
            new_grant: None,
            decision,
        }
    }

    /// The one place where an approval is decided, whoever does it.
    async fn settle_approval(
        &self,
        approval: &Approval,
        resolve: Resolve,
    ) -> Result<Resolved, GateError> {
        let now = resolve.decision.at;
        let status = if resolve.decision.status == Status::Approved {
            "approved"
        } else {
            "denied"
        };
        let resolved = self.store.resolve(resolve).await?;
        if matches!(resolved, Resolved::Won(_)) {
            telemetry::resolved(status, now.since(approval.question.created_at));
            let question = &approval.question;
            self.waiters.decided(&question.id, &question.agent_id);
        }
        Ok(resolved)
    }

    pub async fn claim(
        &self,
        id: &str,
        decider: &Decider,
        lease: Option<Duration>,
    ) -> Result<Claiming, GateError> {
        let Some(approval) = self.store.approval(id).await? else {
            return Ok(Claiming::NotFound);
        };
        let now = self.now();
        if let Some(why) = decider.barred(&approval, now) {
            return Ok(Claiming::Forbidden(why));
        }
        let longest = self.settings.load().claim_time;
        let until = now.plus(lease.unwrap_or(longest).min(longest));
        let claim = Claim {
            by: decider.identity(),
            until,
        };
        Ok(
            match self.store.claim(&approval.question.id, claim, now).await? {
                Claimed::Yes(approval) => Claiming::Done(approval),
                Claimed::Held(claim) => Claiming::Held(claim),
                Claimed::Lost(approval) => Claiming::Already(approval),
                Claimed::NotFound => Claiming::NotFound,
            },
        )
    }

    pub async fn escalate(
        &self,
        id: &str,
        decider: &Decider,
        resolution: Resolution,
    ) -> Result<Escalating, GateError> {
        let Some(approval) = self.store.approval(id).await? else {
            return Ok(Escalating::NotFound);
        };
        let now = self.now();
        match decider.barred(&approval, now) {
            // It is with people already: that is what was asked for, and it is said below.
            Some(NOT_YOUR_LEVEL) | None => {}
            Some(why) => return Ok(Escalating::Forbidden(why)),
        }
        let escalation = Escalation {
            by: decider.identity(),
            reasoning: resolution.reasoning,
            confidence: resolution.confidence,
            at: now,
        };
        Ok(
            match self
                .store
                .escalate(&approval.question.id, escalation)
                .await?
            {
                Escalated::Yes(approval) => Escalating::Done(approval),
                Escalated::Lost(approval) => Escalating::Already(approval),
                Escalated::NotFound => Escalating::NotFound,
            },
        )
    }
}

/// The record of a yes that does not suffice yet.
fn vote_note(approval: &Approval, decider: &Decider, now: Time) -> Option<Box<TraceRow>> {
    let question = &approval.question;
    if question.needed <= 1 {
        return None;
    }
    let mut detail = json!({"approval_id": question.id, "needed": question.needed});
    if let (Some(detail), Some(person)) = (detail.as_object_mut(), &decider.person) {
        detail.insert("person".into(), json!(person));
    }
    let note = note(
        "approved by one of several",
        &decider.identity(),
        detail,
        now,
    );
    Some(Box::new(note))
}

/// Whether the choice allows more than this once.
fn is_remembered(resolution: &Resolution) -> bool {
    matches!(resolution.code, Some(Code::Session | Code::Always))
}
