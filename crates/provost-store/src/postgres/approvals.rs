//! Approvals as they change. A row is locked as it is read, so what is decided on it holds until the
//! commit, whichever replicas race; the writes name the state they expect all the same.

use provost_core::{
    approval::{Approval, Claim, Escalation, State, Status},
    event::{About, Event},
    ids::ApprovalId,
    ports::{
        Claimed, Escalated, IdempotencyKey, NewApproval, Opened, Resolve, Resolved, Taken,
        approval_event,
    },
    time::Time,
    trace::TraceRow,
};

use super::{batch::Batch, control, deliveries, fault::Fault, records, rows};
use crate::{
    codec::{self, APPROVAL_COLUMNS, BETWEEN_UPDATES, Garbled, StateColumns},
    transition::{self, Claiming, Resolution, Taking},
};

pub(super) async fn open(batch: &mut Batch, new: &NewApproval, now: Time) -> Result<Opened, Fault> {
    if new.version != batch.version() {
        return Ok(Opened::Stale);
    }
    if let Some(mut open) = find_open(batch, new, now).await? {
        if !keep_key(batch, new, &open).await? {
            return Ok(Opened::KeyTaken);
        }
        if let Some(after) = transition::ask_again(&open, &new.question) {
            change(batch, &mut open, after).await?;
            deliveries::update(batch, &open, now.plus(BETWEEN_UPDATES)).await?;
        }
        return Ok(Opened::Approval(Box::new(open)));
    }
    if let Some(most) = new.most_pending
        && pending_of_kind(batch, new, most, now).await? >= i64::from(most)
    {
        return Ok(Opened::Crowded);
    }
    if is_spent(batch, new).await? {
        return Ok(Opened::TotalSpent);
    }
    let mut approval = Approval {
        question: new.question.clone(),
        state: new.state.clone(),
    };
    if let Some(record) = new.grant_record() {
        if let Some(refused) = records::record(batch, &record).await?.into() {
            return Ok(refused);
        }
    } else if !keep_key(batch, new, &approval).await? {
        return Ok(Opened::KeyTaken);
    }
    approval.question.denied_before = denied_before(batch, new).await?;
    insert(batch, &approval).await?;
    deliveries::plan(batch, &approval, &new.plans).await?;
    tell(
        batch,
        approval.question.created_at,
        &approval,
        Event::ApprovalCreated,
        None,
    )?;
    Ok(Opened::Approval(Box::new(approval)))
}

pub(super) async fn resolve(batch: &mut Batch, resolve: &Resolve) -> Result<Resolved, Fault> {
    let Some(mut approval) = find(batch, &resolve.id).await? else {
        return Ok(Resolved::NotFound);
    };
    Ok(match transition::resolve(&approval, resolve) {
        Resolution::Lost => Resolved::Lost(Box::new(approval)),
        Resolution::NotYours => Resolved::NotYours(Box::new(approval)),
        Resolution::Held(claim) => Resolved::Held(claim),
        Resolution::Counted(after) => {
            let by = Some(resolve.decision.by.clone());
            change(batch, &mut approval, *after).await?;
            deliveries::update(batch, &approval, resolve.decision.at).await?;
            if let Some(vote) = &resolve.vote {
                batch.append(vote);
            }
            tell(
                batch,
                resolve.decision.at,
                &approval,
                Event::ApprovalCounted,
                by,
            )?;
            Resolved::Counted(Box::new(approval))
        }
        Resolution::Won(after) => {
            if let Some(grant) = &resolve.grant {
                if !batch.grants().permits(grant, resolve.decision.at) {
                    return Ok(Resolved::GrantSpent);
                }
                batch.grants().take_use(grant);
            }
            change(batch, &mut approval, *after).await?;
            batch.append(&resolve.row);
            if let Some(new) = &resolve.new_grant {
                control::add_grant(batch, &new.0, &new.1).await?;
            }
            deliveries::end(batch, &approval, resolve.decision.at).await?;
            let decision = &resolve.decision;
            let by = Some(decision.by.clone());
            tell(batch, decision.at, &approval, Event::ApprovalResolved, by)?;
            Resolved::Won(Box::new(approval))
        }
    })
}

pub(super) async fn expire(
    batch: &mut Batch,
    id: &ApprovalId,
    now: Time,
    row: &TraceRow,
) -> Result<bool, Fault> {
    let Some(mut approval) = find(batch, id).await? else {
        return Ok(false);
    };
    let Some(after) = transition::expire(&approval.state, now) else {
        return Ok(false);
    };
    change(batch, &mut approval, after).await?;
    batch.append(row);
    deliveries::end(batch, &approval, now).await?;
    tell(batch, now, &approval, Event::ApprovalResolved, None)?;
    Ok(true)
}

pub(super) async fn take(
    batch: &mut Batch,
    id: &ApprovalId,
    now: Time,
    version: u64,
    key: Option<&IdempotencyKey>,
) -> Result<Taken, Fault> {
    let Some(mut approval) = find(batch, id).await? else {
        return Ok(Taken::No);
    };
    let after = match transition::take(&approval.state, now, version == batch.version()) {
        Taking::No => return Ok(Taken::No),
        Taking::Stale => return Ok(Taken::Stale),
        Taking::Yes(after) => *after,
    };
    if after.status == Status::Approved {
        if let Some(key) = key
            && !records::keep_key(batch, key, &approval.question.trace_id).await?
        {
            return Ok(Taken::KeyTaken);
        }
        if approval.question.door.forwards() {
            batch.await_outcome(&approval.question.trace_id);
        }
    }
    change(batch, &mut approval, after).await?;
    Ok(Taken::Yes)
}

pub(super) async fn claim(
    batch: &mut Batch,
    id: &ApprovalId,
    claim: &Claim,
    now: Time,
) -> Result<Claimed, Fault> {
    let Some(mut approval) = find(batch, id).await? else {
        return Ok(Claimed::NotFound);
    };
    Ok(match transition::claim(&approval.state, claim, now) {
        Claiming::Lost => Claimed::Lost(Box::new(approval)),
        Claiming::Held(by) => Claimed::Held(by),
        Claiming::Yes(after) => {
            change(batch, &mut approval, *after).await?;
            tell(
                batch,
                now,
                &approval,
                Event::ApprovalClaimed,
                Some(claim.by.clone()),
            )?;
            Claimed::Yes(Box::new(approval))
        }
    })
}

pub(super) async fn escalate(
    batch: &mut Batch,
    id: &ApprovalId,
    escalation: &Escalation,
) -> Result<Escalated, Fault> {
    let Some(mut approval) = find(batch, id).await? else {
        return Ok(Escalated::NotFound);
    };
    let Some(after) = transition::escalate(&approval.state, escalation) else {
        return Ok(Escalated::Lost(Box::new(approval)));
    };
    change(batch, &mut approval, after).await?;
    deliveries::begin(batch, &approval, escalation.at).await?;
    let by = Some(escalation.by.clone());
    tell(
        batch,
        escalation.at,
        &approval,
        Event::ApprovalEscalated,
        by,
    )?;
    Ok(Escalated::Yes(Box::new(approval)))
}

pub(super) async fn promote(batch: &mut Batch, id: &ApprovalId, now: Time) -> Result<bool, Fault> {
    let Some(mut approval) = find(batch, id).await? else {
        return Ok(false);
    };
    let Some(after) = transition::promote(&approval.state, now) else {
        return Ok(false);
    };
    change(batch, &mut approval, after).await?;
    deliveries::begin(batch, &approval, now).await?;
    tell(batch, now, &approval, Event::ApprovalEscalated, None)?;
    Ok(true)
}

async fn find(batch: &Batch, id: &ApprovalId) -> Result<Option<Approval>, Fault> {
    let find = format!("SELECT {APPROVAL_COLUMNS} FROM approvals WHERE id = $1 FOR UPDATE");
    let find = batch.sql().prepare_cached(&find).await?;
    batch
        .sql()
        .query_opt(&find, &[&id.as_str()])
        .await?
        .as_ref()
        .map(rows::approval)
        .transpose()
}

async fn find_open(batch: &Batch, new: &NewApproval, now: Time) -> Result<Option<Approval>, Fault> {
    let find = format!(
        "SELECT {APPROVAL_COLUMNS} FROM approvals WHERE digest = $1 AND answered_at IS NULL \
         ORDER BY place DESC FOR UPDATE"
    );
    let find = batch.sql().prepare_cached(&find).await?;
    for row in batch
        .sql()
        .query(&find, &[&new.question.bound().to_string()])
        .await?
    {
        let approval = rows::approval(&row)?;
        if transition::is_open(&approval.state, now) {
            return Ok(Some(approval));
        }
    }
    Ok(None)
}

/// The request's key stands for this approval, if it was still free.
async fn keep_key(batch: &Batch, new: &NewApproval, approval: &Approval) -> Result<bool, Fault> {
    let question = &approval.question;
    match new.key_for(&question.id) {
        Some(key) => records::keep_key(batch, &key, &question.trace_id).await,
        None => Ok(true),
    }
}

/// How many questions of the same agent and kind wait, up to `most`.
async fn pending_of_kind(
    batch: &Batch,
    new: &NewApproval,
    most: u32,
    now: Time,
) -> Result<i64, Fault> {
    let count = "SELECT count(*) FROM (SELECT 1 FROM approvals WHERE status = 'pending' \
         AND agent = $1 AND expires_at > $2 AND (id LIKE 'appr\\_%') = $3 LIMIT $4) AS waiting";
    let count = batch.sql().prepare_cached(count).await?;
    let (agent, most) = (&*new.question.agent_id, i64::from(most));
    let is_request = new.question.id.is_requested();
    let found = batch
        .sql()
        .query_one(&count, &[&agent, &now.millis(), &is_request, &most])
        .await?;
    Ok(found.try_get(0)?)
}

/// Whether the agent has asked all it may. What waits is recorded, and counted, when it ends.
async fn is_spent(batch: &Batch, new: &NewApproval) -> Result<bool, Fault> {
    let Some(max) = new.max_total else {
        return Ok(false);
    };
    let agent = &*new.question.agent_id;
    let ended = records::locked_total(batch, agent).await? + batch.entered(agent);
    let count = "SELECT count(*) FROM approvals WHERE status = 'pending' AND agent = $1";
    let count = batch.sql().prepare_cached(count).await?;
    let found = batch.sql().query_one(&count, &[&agent]).await?;
    Ok(ended + rows::unsigned(&found, 0)? >= max)
}

/// When the same was last denied.
async fn denied_before(batch: &Batch, new: &NewApproval) -> Result<Option<Time>, Fault> {
    let find = "SELECT decision FROM approvals WHERE digest = $1 AND status = 'denied' \
         ORDER BY place DESC LIMIT 1";
    let find = batch.sql().prepare_cached(find).await?;
    let row = batch
        .sql()
        .query_opt(&find, &[&new.question.bound().to_string()])
        .await?;
    let decision: Option<&str> = match &row {
        Some(row) => row.try_get(0)?,
        None => None,
    };
    Ok(codec::decided_at(decision)?)
}

async fn insert(batch: &Batch, approval: &Approval) -> Result<(), Fault> {
    let (question, state) = (&approval.question, StateColumns::of(&approval.state)?);
    batch
        .execute(
            "INSERT INTO approvals (id, trace_id, digest, agent, session, tool, created_at, question, \
             status, level, expires_at, supervisor_until, permit_until, answered_at, claim_by, \
             claim_until, decision, escalation, due_at, asked, votes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
             $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
            &[
                &question.id.as_str(),
                &question.trace_id.as_str(),
                &question.bound().to_string(),
                &&*question.agent_id,
                &question.session_id.as_deref(),
                &&*question.tool,
                &question.created_at.millis(),
                &codec::to_json(question)?,
                &state.status,
                &state.level,
                &state.expires_at,
                &state.supervisor_until,
                &state.permit_until,
                &state.answered_at,
                &state.claim_by,
                &state.claim_until,
                &state.decision,
                &state.escalation,
                &codec::due_at(&approval.state).millis(),
            &state.asked,
            &state.votes,
            ],
        )
        .await?;
    Ok(())
}

/// Writes `after` over the state the approval was found in.
async fn change(batch: &Batch, approval: &mut Approval, after: State) -> Result<(), Fault> {
    let columns = StateColumns::of(&after)?;
    let changed = batch
        .execute(
            "UPDATE approvals SET status = $2, level = $3, permit_until = $4, answered_at = $5, \
             claim_by = $6, claim_until = $7, decision = $8, escalation = $9, due_at = $10, \
             asked = $11, votes = $12 \
             WHERE id = $1 AND status = $13 AND answered_at IS NULL",
            &[
                &approval.question.id.as_str(),
                &columns.status,
                &columns.level,
                &columns.permit_until,
                &columns.answered_at,
                &columns.claim_by,
                &columns.claim_until,
                &columns.decision,
                &columns.escalation,
                &codec::due_at(&after).millis(),
                &columns.asked,
                &columns.votes,
                &codec::status_text(approval.state.status),
            ],
        )
        .await?;
    if changed != 1 {
        return Err(Garbled::new("an approval", "it changed while it was written").into());
    }
    approval.state = after;
    Ok(())
}

fn tell(
    batch: &mut Batch,
    at: Time,
    approval: &Approval,
    make: fn(About) -> Event,
    by: Option<String>,
) -> Result<(), Fault> {
    batch.event(at, &approval_event(approval, make, by))
}
