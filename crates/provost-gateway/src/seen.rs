//! Which agents were seen: in the record, and waiting for an answer, which is not recorded yet.

use std::collections::BTreeSet;

use provost_core::{
    approval::{Question, Status},
    control::Scope,
    gate::Gate,
    key::Role,
    ports::{ApprovalFilter, StoreError},
    time::Time,
};

/// The newest sessions are looked at, up to so many.
const SESSIONS: usize = 10_000;
/// And so many questions that wait.
const QUESTIONS: usize = 1000;

/// An agent in one of its sessions.
pub(crate) struct Seen {
    pub(crate) agent: String,
    pub(crate) session: Option<String>,
    pub(crate) last_at: Time,
}

pub(crate) async fn seen(gate: &Gate) -> Result<Vec<Seen>, StoreError> {
    let sessions = gate.store().activity(SESSIONS).await?.into_iter();
    let mut seen: Vec<_> = sessions
        .map(|session| Seen {
            agent: session.agent_id,
            session: session.session_id,
            last_at: session.last_at,
        })
        .collect();
    let pending = ApprovalFilter {
        status: Some(Status::Pending),
        limit: QUESTIONS,
        ..ApprovalFilter::default()
    };
    let pending = gate.store().approvals(&pending, gate.now()).await?;
    for row in pending.rows() {
        if let Ok(question) = serde_json::from_slice::<Question>(row.question) {
            seen.push(Seen {
                agent: question.agent_id.to_string(),
                session: question.session_id.as_deref().map(str::to_owned),
                last_at: question.created_at,
            });
        }
    }
    Ok(seen)
}

/// The agents in a scope that were seen, or have a key. `None` for everything: that names no agent.
pub(crate) async fn agents_in(
    gate: &Gate,
    scope: &Scope,
) -> Result<Option<BTreeSet<String>>, StoreError> {
    if *scope == Scope::Everything {
        return Ok(None);
    }
    let seen = seen(gate).await?.into_iter();
    let mut agents: BTreeSet<_> = seen
        .filter(|seen| scope.holds(&seen.agent, seen.session.as_deref()))
        .map(|seen| seen.agent)
        .collect();
    let control = gate.control();
    let keys = control.keys().filter(|key| key.role == Role::Agent);
    agents.extend(
        keys.map(|key| key.name.to_string())
            .filter(|name| scope.holds(name, None)),
    );
    Ok(Some(agents))
}
