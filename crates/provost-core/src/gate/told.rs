//! What agents tell beside asking: how a call went that they executed themselves, and what else they do.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    call::Call,
    ids::TraceId,
    trace::{NoteRecord, OutcomeKind, OutcomeRecord, estimate_tokens},
};

use super::{Gate, GateError};

/// How a call went, in the words of the agent that executed it.
#[derive(Clone, Debug)]
pub struct Told {
    pub error: Option<String>,
    /// Bytes of the result.
    pub size: usize,
}

impl Gate {
    /// Records how a call went that was permitted under `trace_id`, and tells whether there is such a
    /// trace. A second telling changes nothing.
    pub async fn told(
        &self,
        call: &Call,
        trace_id: &TraceId,
        told: Told,
    ) -> Result<bool, GateError> {
        let Some(trace) = self.store.trace(trace_id.as_str()).await? else {
            return Ok(false);
        };
        if trace.outcome.is_some() {
            return Ok(true);
        }
        let record = OutcomeRecord {
            trace_id: trace_id.clone(),
            session_id: call.session.clone(),
            agent_id: call.agent.clone(),
            tool: call.tool.clone(),
            outcome: match told.error {
                Some(_) => OutcomeKind::Failed,
                None => OutcomeKind::Done,
            },
            status_code: None,
            latency_ms: 0,
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
