//! What agents tell beside asking: how a call went that they executed themselves, and what else they do.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    door::Door,
    ids::TraceId,
    ports::StoreError,
    trace::{NoteRecord, OutcomeKind, OutcomeRecord, estimate_tokens},
};

use super::{Gate, GateError};

/// How a call went, in the words of the agent that executed it.
#[derive(Clone, Debug)]
pub struct Told {
    pub error: Option<String>,
    /// Bytes of the result.
    pub size: usize,
    /// 0 where the agent does not tell.
    pub latency_ms: u64,
}

/// What a decision's record says of whom and what it was about.
#[derive(Deserialize)]
struct About {
    agent_id: Arc<str>,
    session_id: Option<Arc<str>>,
    tool: Arc<str>,
    door: Door,
}

impl Gate {
    /// Records how a call of this agent went that was permitted under `trace_id`, and tells whether there is
    /// such a trace. A second telling changes nothing. Only what came through the same door can be told of: the
    /// outcomes of calls that our backends execute are not the agent's to tell.
    pub async fn told(
        &self,
        agent: &str,
        trace_id: &TraceId,
        door: Door,
        told: Told,
    ) -> Result<bool, GateError> {
        let Some(trace) = self.store.trace(trace_id.as_str()).await? else {
            return Ok(false);
        };
        let about: About = serde_json::from_str(&trace.decision)
            .map_err(|error| StoreError::Corrupt(format!("trace {trace_id}: {error}").into()))?;
        if *about.agent_id != *agent || about.door != door {
            return Ok(false);
        }
        if trace.outcome.is_some() {
            return Ok(true);
        }
        let record = OutcomeRecord {
            trace_id: trace_id.clone(),
            session_id: about.session_id,
            agent_id: about.agent_id,
            tool: about.tool,
            outcome: match told.error {
                Some(_) => OutcomeKind::Failed,
                None => OutcomeKind::Done,
            },
            status_code: None,
            latency_ms: told.latency_ms,
            error: told.error,
            size: told.size as u64,
            estimated_output_tokens: estimate_tokens(told.size),
            timestamp: self.now(),
        };
        self.store.record_outcome(record.row(), None).await?;
        Ok(true)
    }

    /// Records something an agent did that is no call.
    pub async fn note(
        &self,
        agent: Arc<str>,
        session: Option<Arc<str>>,
        note: &str,
        detail: Value,
    ) -> Result<(), GateError> {
        let by = format!("agent:{agent}");
        self.note_by(by, Some(agent), session, note, detail).await
    }

    /// Records something that somebody did, who need not be an agent.
    pub async fn note_by(
        &self,
        by: String,
        agent: Option<Arc<str>>,
        session: Option<Arc<str>>,
        note: &str,
        detail: Value,
    ) -> Result<(), GateError> {
        let now = self.now();
        let record = NoteRecord {
            trace_id: TraceId::at(now),
            note: note.to_owned(),
            by,
            agent_id: agent,
            session_id: session,
            detail,
            timestamp: now,
        };
        Ok(self.store.record_note(record.row()).await?)
    }
}
