//! A trace: the audit record of a decision and of its outcome, in a chain of hashes.
//!
//! A decision is one record and its outcome a second one; neither is ever edited. What people read is
//! the two joined, [`view::trace_view`].

pub mod chain;
pub mod export;
pub mod kept;
pub mod verify;
pub mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    approval::Status,
    call::Digest,
    door::Door,
    ids::{ApprovalId, GrantId, TraceId},
    json::Object,
    policy::Verdict,
    time::Time,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    Decision,
    Outcome,
    /// Something that is not a call: a stop, a grant, a key, a pruning.
    Note,
}

impl RecordKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Outcome => "outcome",
            Self::Note => "note",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Decision, Self::Outcome, Self::Note]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// One line of the chain as the store keeps it: the body, and the columns it is found by. The columns
/// repeat what the body says; verification compares them.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceRow {
    pub trace_id: TraceId,
    pub kind: RecordKind,
    pub at: Time,
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    /// What was answered: `allow`, `deny`, `rate_limited`, … Empty on notes and outcomes.
    pub verdict: &'static str,
    /// A call was let through to a backend, so an outcome must follow.
    pub forwarded: bool,
    /// JSON of [`DecisionRecord`], [`OutcomeRecord`] or a note.
    pub body: String,
}

/// How a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Allow,
    Deny,
    Expired,
    RateLimited,
    Stopped,
    /// The arguments do not fit the tool: nothing was decided.
    Invalid,
    /// Nobody was asked: the agent did it all the same.
    Unsupervised,
}

impl Answer {
    pub const ALL: [Self; 7] = [
        Self::Allow,
        Self::Deny,
        Self::Expired,
        Self::RateLimited,
        Self::Stopped,
        Self::Invalid,
        Self::Unsupervised,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Expired => "expired",
            Self::RateLimited => "rate_limited",
            Self::Stopped => "stopped",
            Self::Invalid => "invalid",
            Self::Unsupervised => "unsupervised",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == text)
    }

    /// The status an HTTP caller sees when nothing is forwarded.
    pub fn status_code(self) -> u16 {
        match self {
            Self::Allow => 200,
            Self::Deny | Self::Stopped | Self::Unsupervised => 403,
            Self::Expired => 408,
            Self::RateLimited => 429,
            Self::Invalid => 422,
        }
    }

    /// Whether policy was not asked at all.
    pub fn is_before_policy(self) -> bool {
        matches!(
            self,
            Self::RateLimited | Self::Stopped | Self::Invalid | Self::Unsupervised
        )
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecisionRecord {
    pub trace_id: TraceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    pub agent_id: Arc<str>,
    pub tool: Arc<str>,
    /// The arguments as JSON text: written once, copied from then on.
    pub params: Box<RawValue>,
    /// What was permitted instead, where a person changed the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_params: Option<Box<RawValue>>,
    /// The verdict of the policy, or the answer itself where it was not asked.
    pub policy: Arc<str>,
    pub policy_rule: Arc<str>,
    /// How the call was answered in the end.
    pub verdict: Answer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The status answered when nothing is forwarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    pub timestamp: Time,
    pub digest: Digest,
    pub door: Door,
    pub latency_ms: u64,
    pub estimated_input_tokens: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_status: Option<Status>,
    /// The authenticated decider; absent when time ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// What the decider called itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver_label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor_reasoning: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervisor_confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation_reasoning: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// The backend answered; its status says how.
    Done,
    /// The backend could not be reached, or broke its limits.
    Failed,
    /// The gateway died before it learnt what happened.
    Unknown,
}

impl OutcomeKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    pub trace_id: TraceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    pub agent_id: Arc<str>,
    pub tool: Arc<str>,
    pub outcome: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_code: Option<u16>,
    pub latency_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Bytes of the result.
    pub size: u64,
    pub estimated_output_tokens: u64,
    pub timestamp: Time,
}

/// Something decided that is not a call: who stopped, granted, revoked, pruned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoteRecord {
    pub trace_id: TraceId,
    pub note: String,
    pub by: String,
    /// Of what an agent does beside its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub detail: Value,
    pub timestamp: Time,
}

impl DecisionRecord {
    /// Whether the call went on to a backend: only then was no status answered here.
    pub fn forwarded(&self) -> bool {
        self.verdict == Answer::Allow && self.status_code.is_none()
    }

    pub fn row(&self) -> TraceRow {
        TraceRow {
            trace_id: self.trace_id.clone(),
            kind: RecordKind::Decision,
            at: self.timestamp,
            agent: self.agent_id.clone(),
            session: self.session_id.clone(),
            tool: self.tool.clone(),
            verdict: self.verdict.as_str(),
            forwarded: self.forwarded(),
            body: self.text(),
        }
    }

    /// As [`Serialize`] has it.
    fn text(&self) -> String {
        let params = self.params.get();
        let object = Object::with_capacity(768 + params.len())
            .text("trace_id", self.trace_id.as_str())
            .text_if("session_id", self.session_id.as_deref())
            .text("agent_id", &self.agent_id)
            .text("tool", &self.tool)
            .json("params", params)
            .value_if("changed_params", self.changed_params.as_ref())
            .text("policy", &self.policy)
            .text("policy_rule", &self.policy_rule)
            .word("verdict", self.verdict.as_str())
            .text_if("reason", self.reason.as_deref());
        let object = match self.status_code {
            Some(status) => object.number("status_code", status.into()),
            None => object,
        };
        let object = object
            .time("timestamp", self.timestamp)
            .word("digest", &self.digest.text())
            .word("door", self.door.as_str())
            .number("latency_ms", self.latency_ms)
            .number("estimated_input_tokens", self.estimated_input_tokens);
        self.write_approval(object).end()
    }

    /// What only those have that were asked about.
    fn write_approval(&self, object: Object) -> Object {
        object
            .value_if("grant_id", self.grant_id.as_ref())
            .value_if("approval_id", self.approval_id.as_ref())
            .value_if("approval_status", self.approval_status.as_ref())
            .value_if("approved_by", self.approved_by.as_ref())
            .value_if("approver_label", self.approver_label.as_ref())
            .value_if("approval_ms", self.approval_ms.as_ref())
            .value_if("supervisor_reasoning", self.supervisor_reasoning.as_ref())
            .value_if("supervisor_confidence", self.supervisor_confidence.as_ref())
            .value_if("escalated_by", self.escalated_by.as_ref())
            .value_if("escalation_reasoning", self.escalation_reasoning.as_ref())
    }
}

impl OutcomeRecord {
    pub fn row(&self) -> TraceRow {
        TraceRow {
            trace_id: self.trace_id.clone(),
            kind: RecordKind::Outcome,
            at: self.timestamp,
            agent: self.agent_id.clone(),
            session: self.session_id.clone(),
            tool: self.tool.clone(),
            verdict: "",
            forwarded: false,
            body: self.text(),
        }
    }

    /// As [`Serialize`] has it.
    fn text(&self) -> String {
        let object = Object::with_capacity(512)
            .text("trace_id", self.trace_id.as_str())
            .text_if("session_id", self.session_id.as_deref())
            .text("agent_id", &self.agent_id)
            .text("tool", &self.tool)
            .word("outcome", self.outcome.as_str());
        let object = match self.status_code {
            Some(status) => object.number("status_code", status.into()),
            None => object,
        };
        object
            .number("latency_ms", self.latency_ms)
            .text_if("error", self.error.as_deref())
            .number("size", self.size)
            .number("estimated_output_tokens", self.estimated_output_tokens)
            .time("timestamp", self.timestamp)
            .end()
    }
}

impl NoteRecord {
    pub fn row(&self) -> TraceRow {
        TraceRow {
            trace_id: self.trace_id.clone(),
            kind: RecordKind::Note,
            at: self.timestamp,
            agent: self.agent_id.clone().unwrap_or_default(),
            session: self.session_id.clone(),
            tool: "".into(),
            verdict: "",
            forwarded: false,
            body: to_json(self),
        }
    }
}

/// A rough count, as the protocol's ancestor makes it: four bytes a token.
pub fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The arguments as they will stand in a record.
pub fn raw_params(params: &Map<String, Value>) -> Box<RawValue> {
    serde_json::value::to_raw_value(params).unwrap_or_default()
}

fn to_json<T: Serialize>(record: &T) -> String {
    // Maps with string keys and finite numbers: there is nothing in a record that JSON cannot hold.
    let mut text = Vec::with_capacity(1024);
    let written = serde_json::to_writer(&mut text, record).ok();
    written
        .and_then(|()| String::from_utf8(text).ok())
        .unwrap_or_else(|| "{}".to_owned())
}

/// The names of [`Verdict`]s as shared text, so that a record costs no allocation for them.
pub fn policy_text(verdict: Verdict) -> Arc<str> {
    thread_local! {
        static TEXTS: [Arc<str>; 4] = Verdict::ALL.map(|verdict| verdict.as_str().into());
    }
    TEXTS.with(|texts| {
        texts
            .get(verdict as usize)
            .cloned()
            .unwrap_or_else(|| verdict.as_str().into())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn decision(
        text: &str,
        number: u64,
        asked: bool,
        door: Door,
        verdict: Answer,
    ) -> DecisionRecord {
        let params = json!({"path": text, "n": number});
        let some = asked.then(|| text.to_owned());
        let shared: Option<Arc<str>> = some.as_deref().map(Into::into);
        DecisionRecord {
            trace_id: TraceId::from(text),
            session_id: shared.clone(),
            agent_id: text.into(),
            tool: text.into(),
            params: raw_params(params.as_object().unwrap()),
            changed_params: asked.then(|| raw_params(&Map::new())),
            policy: "supervisor".into(),
            policy_rule: text.into(),
            verdict,
            reason: shared,
            status_code: asked.then(|| verdict.status_code()),
            timestamp: Time::from_millis(number as i64 % 4_000_000_000_000),
            digest: Digest::of(&params),
            door,
            latency_ms: number,
            estimated_input_tokens: number / 4,
            grant_id: asked.then(|| GrantId::from(text)),
            approval_id: asked.then(|| ApprovalId::from(text)),
            approval_status: asked.then_some(Status::Approved),
            approved_by: some.clone(),
            approver_label: some.clone(),
            approval_ms: asked.then_some(number),
            supervisor_reasoning: some.clone(),
            supervisor_confidence: asked.then_some(0.5),
            escalated_by: some.clone(),
            escalation_reasoning: some,
        }
    }

    fn outcome(text: &str, number: u64, failed: bool, outcome: OutcomeKind) -> OutcomeRecord {
        OutcomeRecord {
            trace_id: TraceId::from(text),
            session_id: failed.then(|| text.into()),
            agent_id: text.into(),
            tool: text.into(),
            outcome,
            status_code: failed.then_some(502),
            latency_ms: number,
            error: failed.then(|| text.to_owned()),
            size: number,
            estimated_output_tokens: estimate_tokens(number as usize),
            timestamp: Time::from_millis(-(number as i64 % 1000)),
        }
    }

    proptest! {
        #[test]
        fn records_are_written_as_they_are_read(
            text in "\\PC{0,20}|[\\x00-\\x7f]{0,20}",
            number in any::<u64>(),
            flag in any::<bool>(),
            door in prop::sample::select(vec![
                Door::Http, Door::Decide, Door::Hook, Door::Acp, Door::Mcp, Door::Request,
            ]),
            verdict in prop::sample::select(Answer::ALL.to_vec()),
            kind in prop::sample::select(vec![
                OutcomeKind::Done, OutcomeKind::Failed, OutcomeKind::Unknown,
            ]),
        ) {
            let decision = decision(&text, number, flag, door, verdict);
            prop_assert_eq!(decision.text(), serde_json::to_string(&decision).unwrap());
            let outcome = outcome(&text, number, flag, kind);
            prop_assert_eq!(outcome.text(), serde_json::to_string(&outcome).unwrap());
        }
    }
}
