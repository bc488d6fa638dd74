//! Running a permitted call: the decision is on disk, then the backend is asked, then the outcome is
//! recorded. Once begun, it goes on to the end even if the caller hangs up: an outcome is never lost to
//! a closed connection.

use std::{sync::Arc, time::Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    call::Call,
    ids::{ApprovalId, GrantId, TraceId},
    ports::{Backend, ForwardError, Forwarded, IdempotencyKey, Record, Recorded, Taken},
    time::Time,
    trace::{OutcomeKind, OutcomeRecord, TraceRow, estimate_tokens},
};

use super::{Gate, GateError, Permit, telemetry, to_the_end::ToTheEnd};

/// A call that was permitted and executed: what the caller is told, now or when it repeats the request.
#[derive(Debug, Serialize, Deserialize)]
pub struct Executed {
    pub trace_id: TraceId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// The grant that permitted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<GrantId>,
    pub policy: Arc<str>,
    pub latency_ms: u64,
    pub end: End,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The backend answered.
    Answered {
        status_code: u16,
        result: Box<RawValue>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Permitted; the caller executes it.
    Permitted {
        rule: Arc<str>,
        reason: Arc<str>,
        /// A person changed the call's arguments to these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Map<String, Value>>,
    },
    /// The arguments do not fit the tool: nothing was executed.
    BadArguments(String),
    /// The backend could not be reached, or broke its limits.
    Failed(String),
}

/// Longer results are not kept for repeated requests.
const LONGEST_KEPT: usize = 1 << 20;

/// What makes a permit valid: a fresh record, or the taking of an approval.
pub(super) enum Commit {
    Record(Box<Record>),
    Take {
        id: ApprovalId,
        version: u64,
        key: Option<IdempotencyKey>,
    },
}

impl Commit {
    /// For a caller who executes the call itself: a repeated request finds the permission again.
    fn answered_by(mut self, permit: &Permit) -> Self {
        let key = match &mut self {
            Self::Record(record) => &mut record.key,
            Self::Take { key, .. } => key,
        };
        if let Some(key) = key {
            key.answer = Some(Executed::permitted(permit).kept());
        }
        self
    }
}

pub(super) enum Settled {
    Permitted(Permit),
    Ran(Box<Executed>),
    /// Stops, grants or keys changed since: the same may be tried under the newer ones.
    Stale,
    Again,
    KeyTaken,
    TotalSpent,
}

impl Gate {
    pub(super) async fn settle(
        self: &Arc<Self>,
        commit: Commit,
        permit: Permit,
        backend: Option<Arc<dyn Backend>>,
    ) -> Result<Settled, GateError> {
        let Some(backend) = backend else {
            return Ok(match self.commit(commit.answered_by(&permit)).await? {
                Committed::Yes => Settled::Permitted(permit),
                Committed::Stale => Settled::Stale,
                Committed::Again => Settled::Again,
                Committed::KeyTaken => Settled::KeyTaken,
                Committed::TotalSpent => Settled::TotalSpent,
            });
        };
        let gate = self.clone();
        let run = async move { gate.settle_and_run(commit, permit, backend).await };
        ToTheEnd::new(self.running.track_future(run)).await
    }

    async fn settle_and_run(
        self: Arc<Self>,
        commit: Commit,
        permit: Permit,
        backend: Arc<dyn Backend>,
    ) -> Result<Settled, GateError> {
        Ok(match self.commit(commit).await? {
            Committed::Yes => Settled::Ran(Box::new(self.forward(permit, backend).await)),
            Committed::Stale => Settled::Stale,
            Committed::Again => Settled::Again,
            Committed::KeyTaken => Settled::KeyTaken,
            Committed::TotalSpent => Settled::TotalSpent,
        })
    }

    async fn commit(&self, commit: Commit) -> Result<Committed, GateError> {
        Ok(match commit {
            Commit::Record(record) => match self.store.record(*record).await? {
                Recorded::Done => Committed::Yes,
                Recorded::Stale => Committed::Stale,
                Recorded::GrantSpent => Committed::Again,
                Recorded::KeyTaken => Committed::KeyTaken,
                Recorded::TotalSpent => Committed::TotalSpent,
            },
            Commit::Take { id, version, key } => {
                match self.store.take(&id, self.now(), version, key).await? {
                    Taken::Yes => Committed::Yes,
                    Taken::Stale => Committed::Stale,
                    Taken::No => Committed::Again,
                    Taken::KeyTaken => Committed::KeyTaken,
                }
            }
        })
    }

    /// The caller is answered as soon as the backend has answered; the outcome's record follows. Where the
    /// caller may repeat the request, the record comes first, so that the repetition finds it.
    async fn forward(self: Arc<Self>, permit: Permit, backend: Arc<dyn Backend>) -> Executed {
        let began = Instant::now();
        let result = backend.forward(&permit).await;
        let latency = began.elapsed();
        telemetry::forwarded(&result, latency);
        let executed = Executed {
            trace_id: permit.trace_id().clone(),
            approval_id: permit.approval_id().cloned(),
            grant_id: permit.grant_id().cloned(),
            policy: permit.policy().into(),
            latency_ms: latency.as_millis() as u64,
            end: End::of(result),
        };
        let row = executed.outcome(permit.call(), self.now()).row();
        if let Some(key) = permit.key() {
            let kept = (key.clone(), executed.kept());
            self.record_outcome(row, Some(kept)).await;
        } else if let Err(row) = self.store.leave_outcome(row) {
            let gate = self.clone();
            let recording = async move { gate.record_outcome(row, None).await };
            self.running.spawn(recording);
        }
        executed
    }

    /// The call was made, whatever becomes of its record: a failing store is logged, and after a restart
    /// the trace says that the outcome is unknown.
    async fn record_outcome(&self, row: TraceRow, kept: Option<(IdempotencyKey, String)>) {
        let trace_id = row.trace_id.clone();
        if let Err(error) = self.store.record_outcome(row, kept).await {
            tracing::error!(trace.id = %trace_id, %error, "the outcome of a call was not recorded");
        }
    }
}

impl End {
    fn of(result: Result<Forwarded, ForwardError>) -> Self {
        match result {
            Ok(Forwarded {
                status_code,
                result,
                error,
            }) => Self::Answered {
                status_code,
                result,
                error,
            },
            Err(ForwardError::Arguments(error)) => Self::BadArguments(error),
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}

impl Executed {
    fn permitted(permit: &Permit) -> Self {
        Self {
            trace_id: permit.trace_id().clone(),
            approval_id: permit.approval_id().cloned(),
            grant_id: permit.grant_id().cloned(),
            policy: permit.policy().into(),
            latency_ms: 0,
            end: End::Permitted {
                rule: permit.rule().into(),
                reason: permit.reason().into(),
                arguments: permit.changed().cloned(),
            },
        }
    }

    /// Whether the backend failed, or answered that it did.
    pub fn failed(&self) -> bool {
        !matches!(
            &self.end,
            End::Answered { error: None, .. } | End::Permitted { .. }
        )
    }

    fn outcome(&self, call: &Call, now: Time) -> OutcomeRecord {
        let (outcome, status_code, error, size) = match &self.end {
            End::Answered {
                status_code,
                result,
                error,
            } => (
                // An answer that says that the call failed is no success, whoever says it.
                match error {
                    Some(_) => OutcomeKind::Failed,
                    None => OutcomeKind::Done,
                },
                Some(*status_code),
                error.clone(),
                result.get().len(),
            ),
            End::Permitted { .. } => (OutcomeKind::Done, None, None, 0),
            End::BadArguments(error) => (OutcomeKind::Failed, Some(400), Some(error.clone()), 0),
            End::Failed(error) => (OutcomeKind::Failed, Some(502), Some(error.clone()), 0),
        };
        OutcomeRecord {
            trace_id: self.trace_id.clone(),
            session_id: call.session.clone(),
            agent_id: call.agent.clone(),
            tool: call.tool.clone(),
            outcome,
            status_code,
            latency_ms: self.latency_ms,
            error,
            size: size as u64,
            estimated_output_tokens: estimate_tokens(size),
            timestamp: now,
        }
    }

    /// As it is kept under an idempotency key.
    fn kept(&self) -> String {
        let whole = serde_json::to_string(self).unwrap_or_default();
        if whole.len() <= LONGEST_KEPT {
            return whole;
        }
        let status_code = if let End::Answered { status_code, .. } = &self.end {
            *status_code
        } else {
            200
        };
        let error = Some(
            "the call was made, but its result was too large to keep for this repetition"
                .to_owned(),
        );
        let end = End::Answered {
            status_code,
            result: Box::default(),
            error,
        };
        let Self {
            trace_id,
            approval_id,
            grant_id,
            policy,
            latency_ms,
            ..
        } = self;
        let short = Self {
            trace_id: trace_id.clone(),
            approval_id: approval_id.clone(),
            grant_id: grant_id.clone(),
            policy: policy.clone(),
            latency_ms: *latency_ms,
            end,
        };
        serde_json::to_string(&short).unwrap_or_default()
    }
}

enum Committed {
    Yes,
    Stale,
    Again,
    KeyTaken,
    TotalSpent,
}
