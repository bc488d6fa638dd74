//! Test questions: real ones, to one person on one channel, which decide nothing.
//!
//! They go the way of every question, so that an answer proves the whole way. Nothing else is theirs: no grant
//! answers them or is made by them, no stop or policy touches them, and nobody can take their decision,
//! because no call has their digest.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, json};

use super::{Gate, GateError};
use crate::{
    approval::{Approval, Kind, Level, Question, State},
    call::{Digest, Executor},
    delivery::{Plan, Purpose},
    door::Door,
    ids::{ApprovalId, TraceId, hex, random_bytes},
    people::Address,
    policy::Verdict,
    ports::{NewApproval, Opened},
};

/// Who asks, as the card and the trace have it.
const ASKER: &str = "provost";
const TOOL: &str = "people.test";
const RULE: &str = "a test question";
/// How often it is tried again because stops, grants or keys changed under it.
const ATTEMPTS: usize = 16;

#[derive(Clone, Debug)]
pub struct TestQuestion {
    pub person: Arc<str>,
    pub at: Address,
    /// Who has it asked, as authenticated.
    pub by: String,
    pub expires_in: Duration,
}

impl TestQuestion {
    fn question(&self, now: crate::time::Time) -> Question {
        let mut params = Map::new();
        params.insert("person".into(), json!(self.person));
        params.insert("channel".into(), json!(self.at.channel));
        params.insert("asked_by".into(), json!(self.by));
        Question {
            id: ApprovalId::random(),
            kind: Kind::Test,
            agent_id: ASKER.into(),
            session_id: None,
            tool: TOOL.into(),
            params,
            policy_rule: RULE.into(),
            policy: Verdict::HumanApproval,
            created_at: now,
            digest: Digest::of(&json!({"test": hex(&random_bytes::<16>())})),
            injection_risk: false,
            risk_reasons: Vec::new(),
            summary: None,
            trace_id: TraceId::at(now),
            door: Door::Request,
            executor: Executor::Caller,
            works_in: None,
            request: None,
            needed: 1,
            denied_before: None,
            hides_secret: false,
        }
    }

    fn plan(&self) -> Plan {
        Plan {
            channel: self.at.channel.clone(),
            address: self.at.address.clone(),
            person: Some(self.person.clone()),
            purpose: Purpose::Ask,
            after: Duration::ZERO,
        }
    }
}

impl Gate {
    pub async fn ask_test(&self, test: &TestQuestion) -> Result<Approval, GateError> {
        for _ in 0..ATTEMPTS {
            let now = self.now();
            let new = NewApproval {
                question: test.question(now),
                state: State::pending(Level::Human, now.plus(test.expires_in), None),
                version: self.control().version,
                plans: vec![test.plan()],
                key: None,
                granted: None,
                most_pending: None,
                max_total: None,
            };
            match self.store.open_approval(new, now).await? {
                Opened::Approval(approval) => return Ok(*approval),
                _ => self.refresh_control().await?,
            }
        }
        Err(GateError::Busy)
    }
}
