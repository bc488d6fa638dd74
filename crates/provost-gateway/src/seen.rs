//! Which agents were seen: in the record, and waiting for an answer, which is not recorded yet.

use std::{collections::BTreeSet, sync::Arc};

use provost_core::{
    approval::Status,
    control::Scope,
    gate::Gate,
    key::Role,
    ports::{ApprovalFilter, StoreError},
    time::Time,
};
use serde::Deserialize;

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
    let waiting = waiting(gate, pending).await?.into_iter();
    seen.extend(waiting.map(|asked| Seen {
        agent: asked.agent_id.to_string(),
        session: asked.session_id,
        last_at: asked.created_at,
    }));
    Ok(seen)
}

/// Who asked what is listed, and when, without what they ask.
#[derive(Deserialize)]
pub(crate) struct Asked {
    pub(crate) agent_id: Arc<str>,
    session_id: Option<String>,
    created_at: Time,
}

/// Of as many approvals as the filter says, however long they are.
pub(crate) async fn waiting(
    gate: &Gate,
    mut filter: ApprovalFilter,
) -> Result<Vec<Asked>, StoreError> {
    let (now, mut found) = (gate.now(), Vec::new());
    loop {
        let page = gate.store().approvals(&filter, now).await?;
        let rows = page.rows();
        found.extend(rows.filter_map(|row| serde_json::from_slice(row.question).ok()));
        filter.after = page.next_after();
        filter.limit = filter.limit.saturating_sub(page.len());
        if filter.after.is_none() || filter.limit == 0 {
            return Ok(found);
        }
    }
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
