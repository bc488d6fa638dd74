//! Acts that nobody decided: an agent did something without asking. Nothing is left to decide, so people are told,
//! and the record has a trace of it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Gate, GateError, record::Subject};
use crate::{
    approval::{Approval, Decision, Kind, Level, Question, State, Status},
    call::{Call, Digest, Executor},
    door::Door,
    ids::{ApprovalId, TraceId, hex, random_bytes},
    json,
    policy::{Ruling, Verdict},
    ports::{NewApproval, Opened, Record},
    review::Review,
    trace::Answer,
};

/// Who noticed, as the card and the trace have it.
const WATCH: &str = "watch";
const RULE: &str = "nobody decided this";
/// How often it is tried again because stops, grants or keys changed under it.
const ATTEMPTS: usize = 16;

/// What an agent did without asking, in its own words.
#[derive(Clone, Debug)]
pub struct UnsupervisedAct {
    pub agent: Arc<str>,
    pub session: Option<Arc<str>>,
    pub tool: Arc<str>,
    pub params: Map<String, Value>,
    /// Where the agent works.
    pub folder: Option<Box<str>>,
    /// What followed, for people.
    pub followed: Followed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    RunEnded,
    RunWentOn,
}

impl Followed {
    fn words(self) -> &'static str {
        match self {
            Self::RunEnded => "the agent did this without asking, and its run was ended",
            Self::RunWentOn => "the agent did this without asking, and its run goes on",
        }
    }
}

impl Gate {
    /// Records it, and tells everybody who is asked about such acts.
    pub async fn unsupervised(&self, act: UnsupervisedAct) -> Result<Approval, GateError> {
        let call = Arc::new(Call {
            agent: act.agent,
            session: act.session,
            tool: act.tool,
            params: act.params,
        });
        let now = self.now();
        let subject = Subject {
            length: json::bytes(&call.params),
            call,
            // No other call has it: nothing can be taken for a decision about this one.
            digest: Digest::of(&json!({"unsupervised": hex(&random_bytes::<16>())})),
            trace_id: TraceId::at(now),
            door: Door::Acp,
            arrived_at: now,
        };
        for _ in 0..ATTEMPTS {
            let new = self.notice(&subject, act.folder.clone(), act.followed);
            match self.store.open_approval(new, now).await? {
                Opened::Approval(approval) => return Ok(*approval),
                _ => self.refresh_control().await?,
            }
        }
        Err(GateError::Busy)
    }

    fn notice(
        &self,
        subject: &Subject,
        folder: Option<Box<str>>,
        followed: Followed,
    ) -> NewApproval {
        let (call, now) = (&subject.call, subject.arrived_at);
        let review = Review::of(&call.tool, &call.params, folder.as_deref());
        let question = Question {
            id: ApprovalId::random(),
            kind: Kind::Notice,
            agent_id: call.agent.clone(),
            session_id: call.session.clone(),
            tool: call.tool.clone(),
            params: call.params.clone(),
            policy_rule: RULE.into(),
            policy: Verdict::HumanApproval,
            created_at: now,
            digest: subject.digest,
            injection_risk: review.injection.risky(),
            risk_reasons: review.injection.reasons,
            summary: review.summary,
            trace_id: subject.trace_id.clone(),
            door: subject.door,
            executor: Executor::Caller,
            works_in: folder,
            request: None,
            needed: 1,
            denied_before: None,
            hides_secret: false,
        };
        let question = question.with_secrets_noted();
        let decision = Decision::new(Status::Denied, WATCH, now).because(followed.words());
        let mut state = State::pending(Level::Human, now, None);
        state.status = Status::Denied;
        state.answered_at = Some(now);
        state.decision = Some(Box::new(decision));
        let control = self.control();
        let ruling = Ruling {
            rule: RULE.into(),
            ..self.policy.load().evaluate(call, now)
        };
        let reason = followed.words().into();
        let row = subject.decision(Answer::Unsupervised, &ruling, reason, None, now);
        NewApproval {
            plans: self.people.load().tell_everybody(now),
            question,
            state,
            version: control.version,
            key: None,
            granted: Some(Box::new(Record {
                row,
                version: Some(control.version),
                grant: None,
                key: None,
                max_total: None,
            })),
            most_pending: None,
            max_total: None,
        }
    }
}
