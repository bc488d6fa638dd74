//! Deciding approvals: one decision each, by somebody else than the one who asked.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};

use crate::{
    approval::{Approval, Claim, Decision, Escalation, Level, Status},
    ids::GrantId,
    key::{Key, Role},
    policy::Verdict,
    ports::{Claimed, Escalated, Resolve, Resolved},
    time::Time,
};

use super::{Gate, GateError, record::approval_row, telemetry};

/// Who decides, as authenticated.
#[derive(Clone, Debug)]
pub struct Decider {
    pub key: Arc<Key>,
}

/// What the decider says.
#[derive(Clone, Debug, Default)]
pub struct Resolution {
    /// What the decider calls itself: kept beside its authenticated name.
    pub label: Option<String>,
    pub reasoning: Option<String>,
    pub confidence: Option<f64>,
    /// Permit these arguments instead of those that were asked about.
    pub arguments: Option<Map<String, Value>>,
}

#[derive(Debug)]
pub enum Resolving {
    Done(Box<Approval>),
    /// Decided before, or expired: this is how it stands.
    Already(Box<Approval>),
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

const NOT_YOUR_TOOL: &str = "this key's tools do not include the tool of this approval";
const NOT_YOUR_LEVEL: &str =
    "this approval is for people; a supervisor's key decides only at level supervisor";
const NOT_YOUR_CHANGE: &str = "only a person changes a call's arguments";
const NOT_YOUR_OWN: &str = "nobody approves their own call";

impl Decider {
    fn is_supervisor(&self) -> bool {
        self.key.role == Role::Supervisor
    }

    /// Why this decider may not touch this approval, whatever it wants to do with it.
    fn barred(&self, approval: &Approval, now: Time) -> Option<&'static str> {
        if *self.key.name == *approval.question.agent_id {
            return Some(NOT_YOUR_OWN);
        }
        if !self.is_supervisor() {
            return None;
        }
        if !self.key.may_see(&approval.question.tool) {
            return Some(NOT_YOUR_TOOL);
        }
        if approval.state.status_at(now) != Status::Pending {
            return None;
        }
        (approval.state.level_at(now) == Level::Human).then_some(NOT_YOUR_LEVEL)
    }
}

impl Gate {
    pub async fn resolve(
        &self,
        id: &str,
        decider: &Decider,
        status: Status,
        resolution: Resolution,
    ) -> Result<Resolving, GateError> {
        let Some(approval) = self.store.approval(id).await? else {
            return Ok(Resolving::NotFound);
        };
        let now = self.now();
        if let Some(why) = decider.barred(&approval, now) {
            return Ok(Resolving::Forbidden(why));
        }
        if approval.state.status_at(now) != Status::Pending {
            return Ok(Resolving::Already(Box::new(approval)));
        }
        if let Some(arguments) = &resolution.arguments {
            if decider.is_supervisor() {
                return Ok(Resolving::Forbidden(NOT_YOUR_CHANGE));
            }
            let changed = approval.question.changed(arguments.clone());
            let ruling = self.policy.load().evaluate(&changed, now);
            if ruling.verdict == Verdict::Deny {
                let (rule, reason) = (ruling.rule, ruling.reason);
                return Ok(Resolving::Denied { rule, reason });
            }
        }
        let decision = Decision {
            label: resolution.label,
            reasoning: resolution.reasoning,
            confidence: resolution.confidence,
            arguments: resolution.arguments,
            ..Decision::new(status, decider.key.identity(), now)
        };
        Ok(
            match self
                .decide_approval(&approval, decision, decider.is_supervisor())
                .await?
            {
                Resolved::Won(approval) => Resolving::Done(approval),
                Resolved::Lost(approval) => Resolving::Already(approval),
                Resolved::NotYours(_) => Resolving::Forbidden(NOT_YOUR_LEVEL),
                Resolved::Held(claim) => Resolving::Held(claim),
                Resolved::GrantSpent | Resolved::NotFound => Resolving::NotFound,
            },
        )
    }

    /// The one place where an approval is decided, whoever does it.
    pub(super) async fn decide_approval(
        &self,
        approval: &Approval,
        decision: Decision,
        only_supervisor_level: bool,
    ) -> Result<Resolved, GateError> {
        let (now, grant): (Time, Option<GrantId>) = (decision.at, decision.grant_id.clone());
        let resolve = Resolve {
            id: approval.question.id.clone(),
            row: approval_row(approval, Some(&decision), now),
            only_supervisor_level,
            permit_until: Some(now.plus(self.settings.load().permit_time)),
            grant,
            decision,
        };
        let status = if resolve.decision.status == Status::Approved {
            "approved"
        } else {
            "denied"
        };
        let resolved = self.store.resolve(resolve).await?;
        if matches!(resolved, Resolved::Won(_)) {
            telemetry::resolved(status, now.since(approval.question.created_at));
            self.waiters.wake(&approval.question.id);
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
            by: decider.key.identity(),
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
            by: decider.key.identity(),
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
