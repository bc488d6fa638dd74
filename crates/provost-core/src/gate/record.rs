//! From what was decided to the record of it.

use std::{borrow::Cow, sync::Arc, time::Duration};

use crate::{
    approval::{Approval, Decision, Status},
    call::{Call, Digest, Executor},
    door::Door,
    grant::effective,
    heavy::{self, Lane},
    ids::{GrantId, TraceId},
    policy::Ruling,
    time::{Time, format_duration},
    trace::{Answer, DecisionRecord, TraceRow, estimate_tokens, policy_text, raw_params},
};

/// A call on its way through the gate, and what its record needs.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) call: Arc<Call>,
    pub(super) digest: Digest,
    /// About how long the call is.
    pub(super) length: usize,
    pub(super) trace_id: TraceId,
    pub(super) door: Door,
    pub(super) arrived_at: Time,
}

impl Subject {
    /// Does what is computed of the arguments, when it is this agent's turn if they are long.
    pub(super) async fn work<T>(&self, work: impl FnOnce() -> T) -> T {
        heavy::run(Lane::Agent(&self.call.agent), self.length, work).await
    }

    /// The same call under a trace of its own.
    pub(super) fn again(&self, now: Time) -> Self {
        Self {
            trace_id: TraceId::at(now),
            ..self.clone()
        }
    }

    /// Stands for the agent's act, whichever session it is done in, and whatever the agent says of it where that
    /// takes no effect.
    pub(super) fn act(&self, executor: Executor) -> u64 {
        let effect = effective(&self.call.tool, executor, &self.call.params);
        if self.call.session.is_none() && matches!(effect, Cow::Borrowed(_)) {
            return self.digest.short();
        }
        let act = Call {
            agent: self.call.agent.clone(),
            session: None,
            tool: self.call.tool.clone(),
            params: effect.into_owned(),
        };
        act.digest().short()
    }

    /// The record of an answer that needed no approval.
    pub(super) fn decision(
        &self,
        answer: Answer,
        ruling: &Ruling,
        reason: Arc<str>,
        grant: Option<GrantId>,
        now: Time,
    ) -> TraceRow {
        let call = &self.call;
        let policy = if answer.is_before_policy() {
            answer.as_str().into()
        } else {
            policy_text(ruling.verdict)
        };
        let forwarded = answer == Answer::Allow && self.door.forwards();
        let params = raw_params(&call.params);
        DecisionRecord {
            trace_id: self.trace_id.clone(),
            session_id: call.session.clone(),
            agent_id: call.agent.clone(),
            tool: call.tool.clone(),
            estimated_input_tokens: estimate_tokens(params.get().len()),
            params,
            policy,
            policy_rule: ruling.rule.clone(),
            verdict: answer,
            reason: Some(reason),
            status_code: (!forwarded).then(|| answer.status_code()),
            timestamp: now,
            changed_params: None,
            digest: self.digest,
            door: self.door,
            latency_ms: now.since(self.arrived_at).as_millis() as u64,
            grant_id: grant,
            approval_id: None,
            approval_status: None,
            approved_by: None,
            approver_label: None,
            approval_ms: None,
            supervisor_reasoning: None,
            supervisor_confidence: None,
            escalated_by: None,
            escalation_reasoning: None,
        }
        .row()
    }
}

/// The record of an approval's end: decided, or out of time (`decision` is `None`).
pub(super) fn approval_row(
    approval: &Approval,
    decision: Option<&Decision>,
    now: Time,
) -> TraceRow {
    let (question, escalation) = (&approval.question, approval.state.escalation.as_ref());
    let answer = match decision.map(|decision| decision.status) {
        Some(Status::Approved) => Answer::Allow,
        Some(_) => Answer::Deny,
        None => Answer::Expired,
    };
    let waited = now.since(question.created_at);
    let forwarded = answer == Answer::Allow && question.door.forwards();
    let params = raw_params(&question.params);
    DecisionRecord {
        trace_id: question.trace_id.clone(),
        session_id: question.session_id.clone(),
        agent_id: question.agent_id.clone(),
        tool: question.tool.clone(),
        estimated_input_tokens: estimate_tokens(params.get().len()),
        params,
        policy: policy_text(question.policy),
        policy_rule: question.policy_rule.clone(),
        verdict: answer,
        reason: Some(answer_reason(decision, waited).into()),
        status_code: (!forwarded).then(|| answer.status_code()),
        timestamp: now,
        changed_params: decision
            .and_then(|decision| decision.arguments.as_ref())
            .map(raw_params),
        digest: question.digest,
        door: question.door,
        latency_ms: waited.as_millis() as u64,
        grant_id: decision.and_then(|decision| decision.grant_id.clone()),
        approval_id: Some(question.id.clone()),
        approval_status: Some(decision.map_or(Status::Expired, |decision| decision.status)),
        approved_by: decision.map(|decision| decision.by.clone()),
        approver_label: decision.and_then(|decision| decision.label.clone()),
        approval_ms: Some(waited.as_millis() as u64),
        supervisor_reasoning: decision.and_then(|decision| decision.reasoning.clone()),
        supervisor_confidence: decision.and_then(|decision| decision.confidence),
        escalated_by: escalation.map(|escalation| escalation.by.clone()),
        escalation_reasoning: escalation.and_then(|escalation| escalation.reasoning.clone()),
    }
    .row()
}

/// What the agent is told about an approval's end.
pub(super) fn answer_reason(decision: Option<&Decision>, waited: Duration) -> String {
    let Some(decision) = decision else {
        return format!("nobody decided within {}", format_duration(waited));
    };
    let verb = if decision.status == Status::Approved {
        "approved"
    } else {
        "denied"
    };
    match &decision.reasoning {
        Some(reasoning) => format!("{verb} by {}: {reasoning}", decision.by),
        None => format!("{verb} by {}", decision.by),
    }
}
