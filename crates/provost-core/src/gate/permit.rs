//! The proof that a call was decided. Only the gate makes one; every backend demands one.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    call::Call,
    ids::{ApprovalId, GrantId, TraceId},
    ports::IdempotencyKey,
};

#[derive(Debug)]
pub struct Permit {
    call: Arc<Call>,
    trace_id: TraceId,
    policy: Arc<str>,
    rule: Arc<str>,
    reason: Arc<str>,
    approval_id: Option<ApprovalId>,
    grant_id: Option<GrantId>,
    changed: bool,
    /// Boxed: few calls have one, and every call carries its permit along.
    key: Option<Box<IdempotencyKey>>,
}

impl Permit {
    pub(super) fn new(
        call: Arc<Call>,
        trace_id: TraceId,
        (policy, rule, reason): (Arc<str>, Arc<str>, Arc<str>),
        approval_id: Option<ApprovalId>,
        key: Option<IdempotencyKey>,
    ) -> Self {
        Self {
            call,
            trace_id,
            policy,
            rule,
            reason,
            approval_id,
            grant_id: None,
            changed: false,
            key: key.map(Box::new),
        }
    }

    pub(super) fn set_changed(&mut self, changed: bool) {
        self.changed = changed;
    }

    pub(super) fn set_grant(&mut self, grant: Option<GrantId>) {
        self.grant_id = grant;
    }

    /// The arguments to execute with, where they are not exactly those of the caller: a person changed them,
    /// or a caller who executes itself repeated its question with numbers that are written in another way.
    pub fn changed(&self) -> Option<&Map<String, Value>> {
        self.changed.then_some(&self.call.params)
    }

    pub fn call(&self) -> &Call {
        &self.call
    }

    pub fn trace_id(&self) -> &TraceId {
        &self.trace_id
    }

    /// The policy's verdict: `allow`, or what an approval or a grant answered.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    pub fn rule(&self) -> &str {
        &self.rule
    }

    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub fn approval_id(&self) -> Option<&ApprovalId> {
        self.approval_id.as_ref()
    }

    /// The grant that answered in the place of an approval.
    pub(super) fn grant_id(&self) -> Option<&GrantId> {
        self.grant_id.as_ref()
    }

    pub(super) fn key(&self) -> Option<&IdempotencyKey> {
        self.key.as_deref()
    }
}
